#pragma once

#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/moments.h"

namespace ecotone {

/// The least of (1/n) sum of (y - w.x - b)^2 / 2 + l2 |w|^2 over all rows, from their moments.
struct MomentLeastSquares {
  Vector weights;
  double offset = 0;
  double risk = 0;
  double kkt = 0;  ///< largest entry of the gradient
};
/// `offset`: whether b is fitted, or 0. Data errors `no_gram`, and `singular` if columns depend on each other and l2 is
/// too small to tell them apart.
MomentLeastSquares least_squares_of(const Moments& moments, double l2, bool offset, std::string_view who,
                                    const Context& context);

}  // namespace ecotone
