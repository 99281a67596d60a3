#include "ecotone/measure/fold_choice.h"

#include "ecotone/measure/intervals.h"

namespace ecotone {

Vector loss_bounds(const Matrix& losses, const Vector& constant) {
  double gain = 0;
  // A comparison with NaN, a missing value, is false.
  for (Index f = 0; f < losses.rows(); ++f)
    for (const double loss : losses.row(f))
      if (constant[f] - loss > gain) gain = constant[f] - loss;
  return constant.array() + gain;
}

Matrix bounded_losses(const Matrix& losses, const Vector& constant) {
  const Vector bounds = loss_bounds(losses, constant);
  Matrix result = losses;
  for (Index f = 0; f < result.rows(); ++f) result.row(f) = result.row(f).cwiseMin(bounds[f]);
  return result;
}

Vector paired_errors(const Matrix& losses, Index best) {
  Vector errors(losses.cols());
  for (Index i = 0; i < losses.cols(); ++i) {
    const Vector difference = losses.col(i) - losses.col(best);
    errors[i] = standard_error({difference.data(), at(difference.size())}).value_or(0.0);
  }
  return errors;
}

bool clearly_worse(std::span<const double> differences) {
  const std::optional<double> mean = mean_of(differences);
  return mean && *mean > standard_error(differences).value_or(0.0);
}

Index simplest_within_error(const Matrix& losses, Index best, std::span<const Index> simplest_first) {
  if (losses.rows() < fewest_folds_for_one_se) return best;
  for (const Index candidate : simplest_first) {
    if (candidate == best) break;
    const Vector difference = losses.col(candidate) - losses.col(best);
    if (!clearly_worse({difference.data(), at(difference.size())})) return candidate;
  }
  return best;
}

}  // namespace ecotone
