#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/choose/row_loss.h"
#include "ecotone/measure/loss_shift.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/trust/replay.h"

/// Why a model does worse in a target: other rows, or another relation of labels to features?
namespace ecotone {

struct ExplainOptions {
  std::string loss = "auto";
  Journal* journal = nullptr;

  static constexpr auto fields() {
    return std::tuple{
        field("loss", &ExplainOptions::loss,
              "Loss that is divided: error, log_loss or brier of classes, squared of numbers; auto: error "
              "or squared",
              shown_as("NAME"))};
  }
};

/// Rows with a common value of a column, among those that both sides have.
struct DisagreeingRegion {
  std::string column;
  std::string words;  ///< "creatinine above 3.2", "sex is F"
  double share = 0;   ///< of the rows that both sides have
  double source = 0;  ///< mean loss there
  double target = 0;
  double difference = 0;
  double error = 0;         ///< of the difference
  double contribution = 0;  ///< to the part of the relation: share times difference
};

/// How much the difference of losses varies with a column.
struct DisagreeingColumn {
  std::string column;
  double spread = 0;   ///< X2 of the regions' differences around their mean
  int freedom = 0;     ///< regions - 1
  double p_value = 1;  ///< adjusted for the number of columns (Holm)
};

/// Which part a target's difference is: rows that the sources have too (rows) or hardly have (new_rows), or another
/// relation of labels to features.
enum class LossPart { rows, new_rows, relation, neither, both };

struct Explanation {
  std::string pipeline;
  std::string target;
  RowLoss loss = RowLoss::error;
  Index source_rows = 0, target_rows = 0;
  Index domains = 0;                        ///< of the source
  std::optional<double> auroc = {};         ///< of a classifier of source against target
  std::optional<LossShift> shift = {};      ///< empty: refused
  std::string error_code = {}, error = {};  ///< why
  bool divisible = true;                    ///< false: source and target are nearly separated, and the parts say little
  std::vector<DisagreeingColumn> columns = {};  ///< the strongest first
  std::vector<DisagreeingRegion> regions = {};  ///< the largest contributions first

  /// Whether the target costs more than the sources, beyond two standard errors.
  bool costs() const;
  /// `neither` unless it costs more. A part is named alone only if it exceeds its noise and is most of the whole.
  LossPart part() const;
  /// What to do about it.
  std::string advice() const;
};

/// One explanation for every target domain of the data, which must have labels. The loss of source rows is that of
/// models without their domain, or, with a single source domain, of models of folds of its rows. Data errors:
/// `no_labels`, `no_target`, and those of fits; option errors: `no_learner`, `unknown_loss`, `bad_option`. What cannot
/// be divided is no error: `error_code` is then `too_few_rows` or `no_overlap`.
std::vector<Explanation> explain_targets(const Dataset& data, const Pipeline& pipeline, const ExplainOptions& options,
                                         const Context& context);

}  // namespace ecotone
