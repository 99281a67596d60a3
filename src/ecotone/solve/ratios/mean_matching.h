#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

/// Kernel mean matching: weights of source rows whose weighted kernel mean is nearest to that of the target.
namespace ecotone {

/// 0 <= w_i <= most mass_i, low <= sum w <= high.
struct WeightBox {
  double most = 10;
  double low = 0;
  double high = 0;
  Vector mass = {};  ///< empty: all 1
};

/// The nearest point of the box: clip(v - t, 0, most mass), t exactly at what the violated sum asks for.
Vector nearest_in_box(const Vector& v, const WeightBox& box);
/// The smallest gradient's s over the box.
double least_over_box(const Vector& gradient, const WeightBox& box);

struct MeanMatching {
  Vector weights;
  double objective = 0;  ///< w'Kw / 2 - kappa'w
  double gap = 0;        ///< the minimum is at most this much lower
  int iterations = 0;
  bool converged = false;
  double sigma = 0;     ///< of the kernel; of mean_matching, as what follows
  Index rank = 0;       ///< of its map
  double residual = 0;  ///< share of the kernel's trace that the map leaves out
};

/// Minimum of |G'w|^2 / 2 - kappa'w over the box, G n x r, to a gap of `tolerance` times the objective: by Newton's
/// method in r variables, with weights held near their masses ever more weakly.
MeanMatching match_means(const Matrix& g, const Vector& kappa, const WeightBox& box, double tolerance, int most_steps,
                         const Context& context);

struct MeanMatchingOptions {
  std::optional<double> sigma = {};  ///< none: the median distance
  double most = 10;                  ///< B: largest weight, in masses of its row
  double slack = 0;                  ///< eps: the sum of the weights is within n (1 +- eps)
  Index rank = 200;                  ///< of the kernel map
  double tolerance = 1e-6;
  int steps = 20000;
  Vector mass = {};  ///< what each source row counts, of mean 1; empty: all 1
  const char* who = "weight.kmm";
};

/// Weights of the first `sources` rows of x towards the others, by a map of landmarks among all rows. A row's weight
/// includes its mass: the ratio is weight / mass. Data errors:
/// `empty_data`, `non_finite`, `not_enough_memory`. Option error `bad_option` if no weights are in the box.
MeanMatching mean_matching(const Features& x, Index sources, const MeanMatchingOptions& options,
                           const Context& context);

}  // namespace ecotone
