#include "ecotone/measure/loss_shift.h"

#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

void check_sample(const LossSample& sample, const char* name) {
  if (sample.pi.size() == 0) data_error("empty_data", "explain: there are no rows of the {}", name);
  if (sample.pi.size() != sample.loss.size())
    data_error("shape_mismatch", "explain: {} losses for {} rows of the {}", sample.loss.size(), sample.pi.size(),
               name);
  if (!sample.pi.allFinite() || !sample.loss.allFinite())
    data_error("non_finite", "explain: a loss or a probability of the {} is not finite", name);
}

/// A weighted mean and the square of its standard error.
struct Mean {
  double value = 0;
  double variance = 0;
};

Mean weighted(const Vector& weight, ConstVectorView loss) {
  const double sum = weight.sum();
  const double mean = weight.dot(loss) / sum;
  return {mean, (weight.array() * (loss.array() - mean)).square().sum() / (sum * sum)};
}

/// Standard error of the weighted mean minus the plain one, over the same rows.
double error_of_difference(const Vector& weight, ConstVectorView loss) {
  const auto n = static_cast<double>(loss.size());
  const double mean = loss.mean();
  const double shared = weight.dot(loss) / weight.sum();
  const auto moved = weight.array() / weight.sum() * (loss.array() - shared) - (loss.array() - mean) / n;
  return std::sqrt(moved.square().sum());
}

/// The square of the standard error of a plain mean.
double mean_variance(ConstVectorView loss) {
  const auto n = static_cast<double>(loss.size());
  return (loss.array() - loss.mean()).square().sum() / (n * n);
}

}  // namespace

LossShift loss_shift(const LossSample& source, const LossSample& target) {
  check_sample(source, "source");
  check_sample(target, "target");
  const auto n_s = static_cast<double>(source.pi.size());
  const auto n_t = static_cast<double>(target.pi.size());
  const double a = n_t / (n_s + n_t);
  const auto mixed = [&](ConstVectorView pi) { return (1 - a) * pi.array() + a * (1 - pi.array()); };
  LossShift result;
  result.source_weight = source.pi.array() / mixed(source.pi);
  result.target_weight = (1 - target.pi.array()) / mixed(target.pi);
  result.source_rows = effective_sample_size(result.source_weight);
  result.target_rows = effective_sample_size(result.target_weight);
  if (!(result.source_rows > 0 && result.target_rows > 0))
    data_error("no_overlap", "explain: no row of the source looks like one of the target, so nothing can be divided");
  const Mean in_source = weighted(result.source_weight, source.loss);
  const Mean in_target = weighted(result.target_weight, target.loss);
  result.source = source.loss.mean();
  result.target = target.loss.mean();
  result.shared_source = in_source.value;
  result.shared_target = in_target.value;
  result.y_given_x_error = std::sqrt(in_source.variance + in_target.variance);
  result.x_source_to_shared_error = error_of_difference(result.source_weight, source.loss);
  result.x_shared_to_target_error = error_of_difference(result.target_weight, target.loss);
  result.total_error = std::sqrt(mean_variance(source.loss) + mean_variance(target.loss));
  return result;
}

}  // namespace ecotone
