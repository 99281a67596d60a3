#pragma once

#include <algorithm>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/solve/boost/rows.h"

/// The vectorised loops over rows of exact boosting; sums have a fixed order. Internal to solve/.
namespace ecotone {

/// Arrays are padded to a multiple of this with rows of weight 0.
constexpr Index boost_lanes = 8;
constexpr Index padded(Index rows) { return (rows + boost_lanes - 1) / boost_lanes * boost_lanes; }

/// Weights and margins of one domain in one run, padded.
struct PaddedWeights {
  std::vector<double> weight, margin;

  /// Padding rows have a far margin: never lost, never the least.
  PaddedWeights(const std::vector<double>& first, Index rows) : weight(first), margin(first.size(), 1e300) {
    std::fill(margin.begin(), margin.begin() + rows, 0.0);
  }
  Vector normalised(Index rows) const {
    const Eigen::Map<const Vector> w(weight.data(), rows);
    return w / w.sum();
  }
};

/// Sums of the weights with (x > theta) = (y > 0), and of the others.
void source_masses(const double* x, const double* y, const double* weight, double theta, Index count, double& right,
                   double& wrong);

/// Sums of the weights with |h| <= gamma, and of the others.
void target_masses(const double* x, const double* weight, const Stump& stump, double gamma, Index count, double& inside,
                   double& outside);

/// margin += alpha where the stump is right, -= alpha where it is wrong; weight *= when_right or when_wrong.
struct SourceUpdate {
  double alpha = 0;
  double when_right = 1, when_wrong = 1;
  double gamma = 0;       ///< margins up to this count as a loss
  double normalised = 0;  ///< gamma sum alpha
};
/// Sums after the update; losses are sums of the first weights of the rows.
struct SourceSums {
  double total = 0;                                   ///< of the new weights
  double err = 0, margin = 0, margin_normalised = 0;  ///< margin <= 0, gamma, normalised
  double least = 0;                                   ///< smallest margin
};
SourceSums update_source(const double* x, const double* y, const double* first, const Stump& stump,
                         const SourceUpdate& update, double* weight, double* margin, Index count);

/// margin -= beta |h| inside the band, += beta |h| outside.
struct TargetSums {
  double least = 0;  ///< smallest margin
  double lost = 0;   ///< sum of first weights with margin < 0
};
TargetSums update_target(const double* x, const double* first, const Stump& stump, double gamma, double beta,
                         double* margin, Index count);

/// weight = first exp(least - margin); returns the sum.
double weights_of_margins(const double* first, const double* margin, double least, double* weight, Index count);

}  // namespace ecotone
