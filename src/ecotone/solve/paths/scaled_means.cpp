#include "ecotone/solve/paths/scaled_means.h"

#include <algorithm>
#include <cmath>

namespace ecotone {
namespace {

constexpr double least_penalty = 1e-6;

}  // namespace

ScaledMeans::ScaledMeans(const Moments& moments, GroupShares shares, std::span<const Index> left_out)
    : means(moments, shares, {.x = true, .y = true}, left_out) {
  const Index p = cols();
  unit = means.x2.cwiseSqrt();
  target = Vector::Zero(p);
  variance = Vector::Zero(p);
  Vector mean = Vector::Zero(p);
  const auto n = static_cast<double>(means.used());
  for (const Index d : means.in_use) {
    target += means.share[d] * means.xy.row(d).transpose();
    mean += means.xy.row(d).transpose() / n;
  }
  if (means.used() > 1) {
    for (const Index d : means.in_use) variance += (means.xy.row(d).transpose() - mean).cwiseAbs2() / (n - 1);
  }
  for (Index j = 0; j < p; ++j) {
    target[j] = constant(j) ? 0.0 : target[j] / unit[j];
    variance[j] = constant(j) ? 0.0 : variance[j] / means.x2[j];
  }
}

Vector ScaledMeans::penalty(double mix) const {
  const auto varying = static_cast<double>((unit.array() > 0).count());
  const double mean = varying > 0 ? variance.sum() / varying : 0.0;
  if (!(mean > 0)) return Vector::Ones(cols());
  return ((1 - mix) + mix / mean * variance.array()).max(least_penalty).matrix();
}

Vector ScaledMeans::column(const Matrix& raw, Index j) const {
  Vector result = means.mean_column(raw, j);
  for (Index i = 0; i < cols(); ++i) result[i] = constant(i) ? 0.0 : result[i] / (unit[i] * unit[j]);
  return result;
}

}  // namespace ecotone
