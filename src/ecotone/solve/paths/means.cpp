#include "ecotone/solve/paths/means.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/solve/moments/gram_columns.h"

namespace ecotone {
namespace {

/// Rows of `sum` divided by the weights of their groups.
Matrix means_of(const Matrix& sum, const std::vector<Index>& labelled, const Vector& weight) {
  Matrix result(static_cast<Index>(labelled.size()), sum.cols());
  for (std::size_t d = 0; d < labelled.size(); ++d)
    result.row(static_cast<Index>(d)) = sum.row(labelled[d]) / weight[labelled[d]];
  return result;
}

Vector means_of(const Vector& sum, const std::vector<Index>& labelled, const Vector& weight) {
  return means_of(Matrix(sum), labelled, weight).col(0);
}

}  // namespace

GroupMeans::GroupMeans(const Moments& moments, GroupShares shares, Centring centring, std::span<const Index> left_out) {
  const std::vector<Index> labelled = labelled_list(moments);
  const auto groups = static_cast<Index>(labelled.size());
  share = Vector::Zero(groups);
  for (Index d = 0; d < groups; ++d) {
    const double weight = moments.weight[labelled[at(d)]];
    if (!(weight > 0))
      data_error("no_weight", "moments: all rows of domain '{}' have weight 0", moments.groups[at(labelled[at(d)])]);
    if (std::find(left_out.begin(), left_out.end(), d) != left_out.end()) continue;
    in_use.push_back(d);
    share[d] = shares == GroupShares::equal ? 1.0 : weight;
  }
  share /= share.sum();
  xy = means_of(moments.xy, labelled, moments.weight);
  yy = means_of(moments.yy, labelled, moments.weight);
  const Vector y1 = means_of(moments.y1, labelled, moments.weight);
  x1_ = means_of(moments.x1, labelled, moments.weight);
  const Matrix xx = means_of(moments.xx, labelled, moments.weight);
  x2 = xx.transpose() * share;
  if (centring.x || centring.y) {
    y_centre = centring.y ? y1.dot(share) : 0.0;
    centre = centring.x ? Vector(x1_.transpose() * share) : Vector(Vector::Zero(cols()));
    // E[(x-m)(y-c)|d] = E[xy|d] - m E[y|d] - c E[x|d] + m c
    for (Index d = 0; d < groups; ++d) xy.row(d) -= (y1[d] - y_centre) * centre.transpose() + y_centre * x1_.row(d);
    yy.array() += y_centre * y_centre - 2 * y_centre * y1.array();
    // E[(x-m)^2] = E[x^2] - m^2, because m = E[x] over the same groups.
    const Vector raw = x2;
    x2 -= centre.cwiseProduct(centre);
    for (Index j = 0; j < cols(); ++j)
      if (!(x2[j] > constant_part * raw[j])) x2[j] = 0;
  } else {
    x1_.resize(0, 0);
  }
  y2 = yy.dot(share);
}

void GroupMeans::subtract_column(const Matrix& raw, Index j, double factor, Index first, Index last,
                                 Matrix& target) const {
  const Index count = last - first;
  for (Index d = 0; d < groups(); ++d) {
    auto out = target.row(d).segment(first, count);
    out -= factor * raw.row(d).segment(first, count);
    if (centre.size() == 0) continue;
    out += factor * (x1_(d, j) - centre[j]) * centre.segment(first, count).transpose() +
           factor * centre[j] * x1_.row(d).segment(first, count);
  }
}

Vector GroupMeans::mean_column(const Matrix& raw, Index j) const {
  Matrix column = Matrix::Zero(groups(), cols());
  subtract_column(raw, j, -1.0, 0, cols(), column);
  return column.transpose() * share;
}

}  // namespace ecotone
