#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "ecotone/kernels/distribution_kernel.h"
#include "ecotone/kernels/distribution_map.h"
#include "ecotone/methods/learn/gp/gp_options.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/refits.h"
#include "ecotone/solve/gp/gp.h"
#include "ecotone/solve/gp/low_rank.h"

namespace ecotone {

/// A process that keeps its rows.
struct ExactGp {
  Kernel kernel;
  Matrix x;                                   ///< without `domains`: the rows
  std::optional<DistributionKernel> domains;  ///< distributional: rows and the samples of their domains
  GpFit fit;
};

/// A process that keeps a map.
struct LowRankGp {
  Kernel kernel;
  LowRankMap map;                          ///< without `domains`: of DistributionMap::kernel_of_rows(kernel)
  std::optional<DistributionMap> domains;  ///< distributional: of domains and rows
  GpLowRankFit fit;
};

using GpProcess = std::variant<ExactGp, LowRankGp>;

/// What `inspect` shows beside the process.
struct GpNotes {
  Index rows = 0;
  Index evaluations = 0;  ///< of the likelihood, or points of the grid
  bool at_bound = false;
  double residual = 0;  ///< low rank: share of the kernel's trace that the map leaves out
};

/// Gaussian process regression: predictions with the variance of each.
class Gp : public Fitted {
 public:
  Gp(GpProcess process, bool variance, const GpNotes& notes);

  static StageResult fit(const TrainView& view, const GpOptions& options, const Context& context, FitCache& cache);
  /// The same with the stages before it refitted in the folds of fit=cv; null: there are none.
  static StageResult fit_refitting(const TrainView& view, const Refits* refits, const GpOptions& options,
                                   const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const GpOptions& options, const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override;
  Index training_rows() const override;
  StageState save() const override;

 private:
  GpProcess process_;
  bool variance_;
  GpNotes notes_;
};

}  // namespace ecotone
