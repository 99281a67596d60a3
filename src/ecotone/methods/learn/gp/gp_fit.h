#pragma once

#include <span>

#include "ecotone/methods/learn/domain_map.h"
#include "ecotone/methods/learn/gp/gp.h"
#include "ecotone/methods/learn/gp/gp_parameters.h"
#include "ecotone/methods/refits.h"

/// The routes of a fit. Views have numeric labels and positive weights. `refits` are those of the stages before the
/// learner, for fit=cv; null: there are none.
namespace ecotone {

/// A process, and what is reported of its fit.
struct GpFitted {
  GpProcess process;
  GpNotes notes;
  Status status;
};

/// The weights of a view as the engine reads them; empty where there are none.
inline std::span<const double> gp_weights(const TrainView& view) {
  return {view.weight.data(), static_cast<std::size_t>(view.weight.size())};
}

/// Whether there is a width to choose.
inline bool width_is_free(const Kernel& kernel, const GpOptions& options) {
  return shift_invariant(kernel) && options.sigma.is_auto();
}

/// Parameters (sigma among them) by the rule of the options, from all labelled rows of the view. The kernel is that of
/// `learner_kernel`.
GpChoice choose_gp(const TrainView& view, const Refits* refits, const Kernel& kernel, const GpOptions& options,
                   const Context& context);

/// Widths and parameters of the kernel on domains and rows.
struct DistributionalChoice {
  GpChoice choice;
  double sigma1_factor = 1;  ///< of domain_width, where sigma1 is not given
};
DistributionalChoice choose_distributional_gp(const TrainView& view, const Refits* refits, const Kernel& kernel,
                                              const GpOptions& options, const Context& context);

/// One factorisation of the rows' covariance.
GpFitted fit_exact_gp(const TrainView& view, const Refits* refits, const GpOptions& options, const Context& context);

/// The same with the kernel on domains and rows.
GpFitted fit_distributional_gp(const TrainView& view, const Refits* refits, const GpOptions& options,
                               const Context& context);

/// A map of the kernel (distributional: of domains and rows) and sums over the rows, which may lie in a file. The
/// width, and all parameters where fit=cv, are chosen exactly from at most `most_width_rows` rows drawn by the
/// context's seed; amplitude and noise by the likelihood of all rows. Warning `rough_map`.
GpFitted fit_low_rank_gp(const TrainView& view, const Refits* refits, const GpOptions& options, const Context& context);

inline constexpr Index most_width_rows = 2000;
/// The rows of domains as a map sees them. All arguments must outlive it.
GpMapRows domain_map_rows(const DistributionMap& map, const DomainRowsOf& rows, const DomainPlaces& places);

}  // namespace ecotone
