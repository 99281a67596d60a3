#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// How columns are looked at; the command-line flags have the same names.
struct EffectOptions {
  std::vector<std::string> columns = {};  ///< the only ones to look at; empty: all
  int repeats = 5;                        ///< shuffles of every column in every domain
  int rows = 20'000;                      ///< of a domain, at equal distances; others are not looked at

  static constexpr auto fields() {
    using O = EffectOptions;
    return std::tuple{
        field("columns", &O::columns, "Look at these columns only (default: all)", shown_as("COLUMN,..")),
        field("repeats", &O::repeats, "Shuffles of every column in every domain", between(1, 1000)),
        field("rows", &O::rows, "Most rows of a domain to shuffle, evenly spread", between(2, 100'000'000))};
  }
};

/// What is lost in a domain when a column is shuffled among its rows, over the repeats; empty where the metric is not
/// defined.
struct ShuffleLoss {
  std::optional<double> mean;
  std::optional<double> spread;  ///< standard deviation

  /// Whether the model clearly does better in the domain without the column: more than two standard errors.
  bool hurts(int repeats) const;
};

/// What a model makes of one column of the table.
struct ColumnEffect {
  std::string column;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<ShuffleLoss> importance = {};  ///< by domain; empty without labels
  std::optional<double> mean = {};           ///< of the importance, over the domains where it is defined
  /// Where the curves have a point: numbers (days of a date), or the levels of a text column.
  std::vector<double> values = {};
  std::vector<std::string> levels = {};
  /// Mean score of a domain's rows with the column set to each value in turn: by domain, score and value.
  std::vector<std::vector<std::vector<double>>> curves = {};
  std::vector<std::vector<double>> pooled = {};  ///< the same of all rows, by score and value

  std::size_t points() const { return kind == ColumnKind::categorical ? levels.size() : values.size(); }
};

/// A domain that effects were looked at in.
struct EffectDomain {
  std::string domain;
  Index rows = 0;
  Index scored = 0;                  ///< rows with a label that importance is measured on
  std::optional<double> score = {};  ///< the metric on them, nothing shuffled
};

/// What the splits of a model of trees took off the training loss, by column as the learner sees it.
struct SplitGains {
  std::vector<std::string> domains;  ///< of training
  struct Gain {
    std::string column;
    double all = 0;
    std::vector<double> of_domain = {};  ///< below 0: the splits raised the loss there
  };
  std::vector<Gain> columns;  ///< the largest first
};

/// What a model says about its columns, domain by domain: permutation importance and partial dependence.
struct ColumnEffects {
  std::string pipeline;
  Task task = Task::classify;
  std::string metric;  ///< that gets worse: auroc, accuracy if no domain has two classes, or rmse; empty without labels
  int repeats = 5;
  std::vector<EffectDomain> domains;
  /// What the curves are of: the class whose decision value it is (two classes: the second alone), or the label.
  std::vector<std::string> scores;
  std::vector<ColumnEffect> columns;     ///< by importance, else by how far the pooled curves go, the largest first
  std::optional<SplitGains> gains = {};  ///< of a model of boosted trees
};

/// Of a model on rows whose columns it knows. Curves come from at most 500 rows of a domain, evenly spread, and 33
/// quantiles of a column over all rows (all values if there are fewer). A model that needs the sample of a domain
/// predicts all its rows together (`rows` of them), and for a curve at most a tenth of them is changed, so that the
/// domain remains what it is. Option errors: `unknown_column`, `no_learner`; data errors: `empty_data`, `bad_label` if
/// the labels are not of the model's task, those of prediction and of require_weight.
ColumnEffects column_effects(const Model& model, const Dataset& data, const EffectOptions& options,
                             const Context& context);

/// Two domains whose curves of a column go opposite ways.
struct OppositeCurves {
  std::size_t one = 0, other = 0;  ///< domains; the curve of `one` goes farther than any
  std::size_t score = 0;
};
/// For every column: the rank correlation of the two curves is at most -0.5, and both go at least a tenth as far as the
/// curve of any column in any domain.
std::vector<std::optional<OppositeCurves>> opposite_curves(const ColumnEffects& effects);
/// How far a curve goes: its largest value minus its smallest.
double swing(const std::vector<double>& curve);

}  // namespace ecotone
