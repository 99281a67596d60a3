#include "ecotone/solve/moments/least_squares.h"

#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/solve/moments/moved_moments.h"

namespace ecotone {

MomentLeastSquares least_squares_of(const Moments& moments, double l2, bool offset, std::string_view who,
                                    const Context& context) {
  if (moments.gram_kind() != GramKind::double_precision)
    data_error("no_gram", "{}: the moments have no Gram matrices of double precision", who);
  const double n = moments.weight.sum();
  const Vector mean = offset ? Vector(moments.x1.colwise().sum().transpose() / n) : Vector::Zero(moments.cols());
  const double y_mean = offset ? moments.y1.sum() / n : 0;
  // S = E xx' - m m', c = E xy - m E y, of all rows
  Matrix s = -mean * mean.transpose();
  for (Index g = 0; g < moments.group_count(); ++g)
    if (moments.gram[at(g)].size() > 0) s += gram_of(moments, g) / n;
  const Vector c = moments.xy.colwise().sum().transpose() / n - mean * y_mean;
  constexpr double nothing = 1e-12;  // of a column's variance: what rounding leaves where the others explain it
  Matrix a = s;
  a.diagonal().array() += 2 * l2;
  const Vector variance = a.diagonal();
  auto factor = Cholesky::factor(std::move(a), context);
  if (!factor || (factor->lower().diagonal().array().square() <= nothing * variance.array()).any())
    data_error("singular",
               "{}: columns depend on each other, so the weights are not determined; use a larger l2 than {}", who, l2);
  MomentLeastSquares fit;
  fit.weights = factor->solve(c, context);
  fit.offset = y_mean - fit.weights.dot(mean);
  const Vector gradient = s * fit.weights - c + 2 * l2 * fit.weights;
  fit.kkt = gradient.size() > 0 ? gradient.cwiseAbs().maxCoeff() : 0;
  const double y2 = moments.yy.sum() / n - y_mean * y_mean;
  fit.risk = (y2 - 2 * fit.weights.dot(c) + fit.weights.dot(s * fit.weights)) / 2 + l2 * fit.weights.squaredNorm();
  return fit;
}

}  // namespace ecotone
