#pragma once

#include <tuple>

#include "ecotone/methods/method.h"
#include "ecotone/methods/sums/sums_route.h"

namespace ecotone {

/// `scale` has no options.
struct ScaleOptions {
  static constexpr auto fields() { return std::tuple{}; }
};

/// Columns with mean 0 and standard deviation 1 over the labelled source rows: z = (x - mean) / scale.
/// Columns of sparse features are divided but not centred, so they stay sparse.
class Scale : public Fitted {
 public:
  Scale(Vector mean, Vector scale);

  static StageResult fit(const TrainView& view, const ScaleOptions& options, const Context& context, FitCache& cache);
  static SumsResult fit_on_sums(const RowSums& sums, const ScaleOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ScaleOptions& options,
                                            const StageInput& input);

  Features transform(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  Vector mean_;  ///< all 0 when fitted on sparse features
  Vector scale_;
};

}  // namespace ecotone
