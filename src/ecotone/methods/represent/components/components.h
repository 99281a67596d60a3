#pragma once

#include <memory>
#include <string>
#include <variant>

#include "ecotone/methods/method.h"
#include "ecotone/methods/represent/components/component_options.h"
#include "ecotone/solve/components/component_map.h"
#include "ecotone/solve/components/low_rank.h"

namespace ecotone {

/// The facts about a fit of components that `inspect` shows.
struct ComponentReport {
  std::string route;          ///< cholesky, matvec or low_rank; none: the rows are equal
  Index rows = 0;             ///< that were learned from
  Index domains = 0;          ///< of these rows
  Index sigma_rows = 0;       ///< rows whose median distance is sigma; 0 if sigma was given or the kernel has none
  std::string output_kernel;  ///< of the labels; empty without them
  double output_sigma = 0;    ///< of the output kernel rbf, else 0
  ComponentSpectrum spectrum;
  /// Of the route low_rank.
  std::string map;      ///< how landmarks were chosen
  Index rank = 0;       ///< features of the map
  Index map_rows = 0;   ///< rows that it was made from; 0: it was drawn without rows
  double residual = 0;  ///< what it leaves out of them; see LowRankFit
};

/// How new rows are projected: by the exact routes, or by the low-rank one.
using ComponentProjection = std::variant<ComponentMap, LowRankProjection>;

/// Invariant kernel components (muandet2013): kernel PCA with and without labels (coir), with and without invariance of
/// domain means (udica, dica). Features z1 .. zM are projections.
class Components : public Fitted {
 public:
  Components(ComponentProjection projection, ComponentCentre centre, ComponentReport report);

  static std::shared_ptr<const Fitted> load(const StageState& state, const ComponentStageOptions& options,
                                            const StageInput& input);

  /// Projections of training rows, centred at the training mean regardless of the option centre.
  Features project(const Features& x, const Context& context) const;
  Features transform(const Batch& batch, const Context& context) const override;
  Index output_cols(Index) const override { return report_.spectrum.size(); }
  bool needs_domain_sample() const override { return centre_ == ComponentCentre::batch; }
  Index training_rows() const override;
  StageState save() const override;

 private:
  std::shared_ptr<const ComponentProjection> projection_;  ///< shared with the features that are made on demand
  ComponentCentre centre_;
  ComponentReport report_;
};

/// Which of the four methods a fit is.
struct ComponentKind {
  const char* name;
  bool supervised;
  bool invariant;
};

/// What the solver is asked for.
ComponentOptions solver_options(const ComponentKind& kind, const ComponentStageOptions& options);

/// kpca and udica learn from all rows of the view, labelled or not, coir and dica from the labelled ones.
StageResult fit_components(const ComponentKind& kind, const TrainView& view, const ComponentStageOptions& options,
                           const Context& context);

}  // namespace ecotone
