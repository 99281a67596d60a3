#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "ecotone/methods/learn/learner_kernel.h"
#include "ecotone/methods/learn/svm/support_vectors.h"
#include "ecotone/methods/method.h"
#include "ecotone/solve/svm/dasvm.h"

namespace ecotone {

/// Options of dasvm.
struct DasvmOptions {
  double cost = 1;
  LearnerKernelKind kernel = LearnerKernelKind::automatic;
  AutoNumber sigma{};
  int degree = 3;
  double coef0 = 1;
  double scale = 1;
  int rho = 0;
  int max_rounds = 0;
  double tolerance = 1e-3;
  bool circular = true;

  static constexpr auto fields() {
    using O = DasvmOptions;
    const auto cost = std::tuple{field("C", &O::cost,
                                       "Cost of a row, as C of svm. Over the rounds the cost of source rows (times "
                                       "their weight) falls to a tenth of C, "
                                       "and that of labelled target rows rises from a tenth to C",
                                       above(0.0))};
    const auto others = std::tuple{
        field("rho", &O::rho,
              "Target rows that are labelled, and source rows that are dropped, per class and round; 0: a hundredth of "
              "the source rows, at least 10",
              at_least(0)),
        field("max_rounds", &O::max_rounds,
              "Largest number of rounds; 0: twice as many as it takes to drop all source rows, plus 200", at_least(0)),
        common_field("tolerance", &O::tolerance,
                     "Largest violation of the optimality conditions at which each fit stops", at_least(1e-12)),
        field("circular", &O::circular,
              "Whether to validate by adapting back and to warn when too few source rows get their labels back; costs "
              "a second "
              "adaptation")};
    return std::tuple_cat(cost, learner_kernel_fields<O>(), others);
  }
};

/// A support vector machine adapted from the source rows to the target rows by self-training.
class Dasvm : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const DasvmOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const DasvmOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  Index training_rows() const override { return machine_.rows.rows(); }
  StageState save() const override;

 private:
  /// What `inspect` shows beside the support vectors.
  struct Notes {
    std::string reason;  ///< a name of DasvmStop
    bool on_target = false;
    double kkt = 0;
    std::optional<double> circular_accuracy;
    std::optional<double> circular_balanced;
    Vector added, removed, flipped;  ///< of each round
  };

  SupportVectors machine_;
  Notes notes_;
};

}  // namespace ecotone
