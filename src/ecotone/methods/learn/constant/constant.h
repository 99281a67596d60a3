#pragma once

#include <tuple>

#include "ecotone/methods/method.h"

namespace ecotone {

/// `constant` has no options.
struct ConstantOptions {
  static constexpr auto fields() { return std::tuple{}; }
};

/// The baseline that looks at no feature: class frequencies, or the mean.
class Constant : public Fitted {
 public:
  /// Classification: one probability per class.
  explicit Constant(Vector probability);
  /// Regression.
  explicit Constant(double value);

  static StageResult fit(const TrainView& view, const ConstantOptions& options, const Context& context,
                         FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ConstantOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  Task task_;
  Vector probability_;
  double value_ = 0;
};

}  // namespace ecotone
