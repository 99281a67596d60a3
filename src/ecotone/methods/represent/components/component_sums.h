#pragma once

#include "ecotone/methods/represent/components/components.h"
#include "ecotone/methods/sums/sums_route.h"

/// Components from sums of random Fourier features, which are drawn before any row is seen.
namespace ecotone {

/// Option error `needs_rows` unless the options ask for such features.
void require_drawn_features(const ComponentKind& kind, const ComponentStageOptions& options);
/// The features of these rows.
Features drawn_features(const ComponentStageOptions& options, const Features& x, const Context& context);
/// From sums of these features. Labels that are numbers need output_kernel=linear (option error `needs_rows`).
SumsResult fit_components_on_sums(const ComponentKind& kind, const RowSums& sums, const ComponentStageOptions& options,
                                  const Context& context);

}  // namespace ecotone
