#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/logistic.h"

namespace ecotone {

/// By what the loss is divided: the number of rows, or the sum of their weights.
enum class LogisticNorm { count, sum };

struct LogisticOptions {
  double l2 = 0;
  bool offset = true;
  LogisticNorm norm = LogisticNorm::count;
  int max_iterations = 200;

  static constexpr auto fields() {
    return std::tuple{
        field("l2", &LogisticOptions::l2, "Penalty rho of rho ||w||^2; the offset is not penalised", at_least(0.0)),
        field("offset", &LogisticOptions::offset, "Whether the prediction has an offset"),
        field("norm", &LogisticOptions::norm,
              "The loss is divided by the number of rows or by the sum of their weights", one_of("count", "sum")),
        field("max_iterations", &LogisticOptions::max_iterations, "Newton steps before giving up", at_least(1))};
  }
};

/// Logistic regression for two classes, softmax regression for more, solved to full accuracy.
class Logistic : public Fitted {
 public:
  /// Two classes: one row of weights and one offset. More: one row and one offset per class.
  explicit Logistic(LogisticFit fit);

  static StageResult fit(const TrainView& view, const LogisticOptions& options, const Context& context,
                         FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const LogisticOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  LogisticFit fit_;
  Matrix columns_;  ///< the weights as columns, ready for X W

  bool binary() const { return fit_.weights.rows() == 1; }
};

}  // namespace ecotone
