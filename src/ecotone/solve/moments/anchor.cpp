#include "ecotone/solve/moments/anchor.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/solve/moments/moved_moments.h"

namespace ecotone {
namespace {

/// Sums over groups, before they are centred: what a group adds, and what leaving one out takes away.
struct AnchorSums {
  double n = 0;
  double y1 = 0;
  Vector x1;
  Vector xy;
  Matrix xx;
};

AnchorSums anchor_sums(const Moments& moments, Index without) {
  AnchorSums sums{0, 0, Vector::Zero(moments.cols()), Vector::Zero(moments.cols()),
                  Matrix::Zero(moments.cols(), moments.cols())};
  for (Index g = 0; g < moments.group_count(); ++g) {
    if (g == without || !(moments.weight[g] > 0)) continue;
    sums.n += moments.weight[g];
    sums.y1 += moments.y1[g];
    sums.x1 += moments.x1.row(g).transpose();
    sums.xy += moments.xy.row(g).transpose();
    sums.xx += gram_of(moments, g);
  }
  return sums;
}

AnchorFit anchor_without(const Moments& moments, Index without, double gamma, double l2, std::string_view who,
                         const Context& context) {
  const AnchorSums sums = anchor_sums(moments, without);
  const Vector mean = sums.x1 / sums.n;
  const double y_mean = sums.y1 / sums.n;
  // Sxx + (gamma - 1) sum_e n_e m_e m_e' + l2 n I, all divided by n
  Matrix a = sums.xx / sums.n - mean * mean.transpose();
  Vector c = sums.xy / sums.n - mean * y_mean;
  for (Index g = 0; g < moments.group_count(); ++g) {
    const double n = moments.weight[g];
    if (g == without || !(n > 0)) continue;
    const Vector m = moments.x1.row(g).transpose() / n - mean;
    a += (gamma - 1) * n / sums.n * m * m.transpose();
    c += (gamma - 1) * n / sums.n * (moments.y1[g] / n - y_mean) * m;
  }
  a.diagonal().array() += l2;
  constexpr double nothing = 1e-12;  // of a column's variance: what rounding leaves where the others explain it
  const Vector size = (sums.xx.diagonal() / sums.n - mean.cwiseAbs2()).cwiseMax(0.0).array() + l2;
  auto factor = Cholesky::factor(std::move(a), context);
  if (!factor || (factor->lower().diagonal().array().square() <= nothing * size.array()).any())
    data_error("singular",
               "{}: columns depend on each other{}, so the weights are not determined; use a larger l2 than {}", who,
               gamma < 1 ? " or hardly vary within domains" : "", l2);
  AnchorFit fit;
  fit.weights = factor->solve(std::move(c), context);
  fit.offset = y_mean - fit.weights.dot(mean);
  return fit;
}

}  // namespace

AnchorFit anchor_regression(const Moments& moments, double gamma, double l2, std::string_view who,
                            const Context& context) {
  if (moments.gram_kind() != GramKind::double_precision)
    data_error("no_gram", "{}: the moments have no Gram matrices of double precision", who);
  return anchor_without(moments, -1, gamma, l2, who, context);
}

Vector group_squared_errors(const Moments& moments, const AnchorFit& fit) {
  Vector errors = Vector::Constant(moments.group_count(), std::numeric_limits<double>::quiet_NaN());
  for (Index g = 0; g < moments.group_count(); ++g) {
    const double n = moments.weight[g];
    if (!(n > 0)) continue;
    // sum (y - w.x - b)^2
    const Vector x1 = moments.x1.row(g).transpose();
    const Vector xy = moments.xy.row(g).transpose();
    const Vector& w = fit.weights;
    const double sum = moments.yy[g] - 2 * w.dot(xy) - 2 * fit.offset * moments.y1[g] + w.dot(gram_of(moments, g) * w) +
                       2 * fit.offset * w.dot(x1) + n * fit.offset * fit.offset;
    errors[g] = std::max(0.0, sum / n);
  }
  return errors;
}

Vector anchor_left_out_errors(const Moments& moments, const std::vector<double>& gammas, double l2,
                              std::string_view who, const Context& context) {
  Vector errors = Vector::Zero(static_cast<Index>(gammas.size()));
  const auto groups = static_cast<double>((moments.weight.array() > 0).count());
  for (Index g = 0; g < moments.group_count(); ++g) {
    if (!(moments.weight[g] > 0)) continue;
    for (std::size_t k = 0; k < gammas.size(); ++k) {
      const AnchorFit fit = anchor_without(moments, g, gammas[k], l2, who, context);
      errors[static_cast<Index>(k)] += group_squared_errors(moments, fit)[g] / groups;
    }
  }
  return errors;
}

}  // namespace ecotone
