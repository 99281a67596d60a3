#include "ecotone/measure/weights.h"

#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

double positive_sum(ConstVectorView weights) {
  const double sum = weights.sum();
  if (!(sum > 0) || !std::isfinite(sum)) internal_error("weights: their sum is {}", sum);
  return sum;
}

/// e^(exponent l), scaled so that the largest is 1.
Vector powered(ConstVectorView log_weights, double exponent) {
  const double top = log_weights.maxCoeff();
  Vector weights(log_weights.size());
  for (Index i = 0; i < weights.size(); ++i) weights[i] = std::exp(exponent * (log_weights[i] - top));
  return weights;
}

}  // namespace

double largest_share(ConstVectorView weights) { return weights.maxCoeff() / positive_sum(weights); }

Vector normalised(ConstVectorView weights) {
  return weights * (static_cast<double>(weights.size()) / positive_sum(weights));
}

Vector clipped(ConstVectorView weights, double limit) {
  const Vector cut = normalised(weights).cwiseMin(limit);
  return normalised(cut);
}

Flattened flatten_to_ess(ConstVectorView log_weights, double ess) {
  if (log_weights.size() == 0 || !log_weights.allFinite()) internal_error("flatten_to_ess: weights are not finite");
  const auto enough = [&](double exponent) { return effective_sample_size(powered(log_weights, exponent)) >= ess; };
  double low = 0;
  double high = 1;
  if (enough(1)) low = 1;
  // The effective sample size falls as the exponent grows: bisect until the ends are neighbouring numbers.
  while (low < 1) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (enough(middle) ? low : high) = middle;
  }
  return {normalised(powered(log_weights, low)), low};
}

}  // namespace ecotone
