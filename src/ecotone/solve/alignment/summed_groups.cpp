#include "ecotone/solve/alignment/summed_groups.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/moments/moved_moments.h"

namespace ecotone {
namespace {

constexpr double constant_part = 1e-13;  // of a column's squares: what rounding leaves of a constant one

/// S = sum w x x' - w m m'
GroupMoments group_of(const Moments& moments, Index g, ScatterKind kind) {
  GroupMoments own(moments.cols(), kind);
  own.count = moments.rows[g];
  own.weight = moments.weight[g];
  if (own.count == 0) return own;
  own.mean = moments.x1.row(g).transpose() / own.weight;
  if (kind == ScatterKind::full)
    own.scatter = gram_of(moments, g) - own.weight * own.mean * own.mean.transpose();
  else
    own.scatter.col(0) = moments.xx.row(g).transpose() - own.weight * own.mean.cwiseAbs2();
  for (Index j = 0; j < moments.cols(); ++j) {
    const bool full = kind == ScatterKind::full;
    if ((full ? own.scatter(j, j) : own.scatter(j, 0)) > constant_part * moments.xx(g, j)) continue;
    own.scatter.row(j).setZero();
    if (full) own.scatter.col(j).setZero();
  }
  return own;
}

}  // namespace

std::vector<GroupMoments> summed_groups(const Moments& moments, ScatterKind kind) {
  std::vector<GroupMoments> groups;
  for (Index g = 0; g < moments.group_count(); ++g) groups.push_back(group_of(moments, g, kind));
  return groups;
}

Moments shifted_moments(const Moments& moments, const std::vector<std::string>& names,
                        const std::vector<GroupShift>& shifts, const Context& context) {
  Moments result = moments;
  for (Index g = 0; g < moments.group_count(); ++g) {
    const auto found = std::ranges::find(names, moments.groups[at(g)]);
    if (found == names.end()) internal_error("no shift for group '{}'", moments.groups[at(g)]);
    const GroupShift& shift = shifts[at(found - names.begin())];
    if (shift.keep) continue;
    const double w = moments.weight[g];
    // sum w (x - from) A, then sum w z = w to + that
    const Matrix centred = moments.x1.row(g) - w * shift.from.transpose();
    const Matrix mapped = product(centred, shift.map, context);
    const Matrix with_y = moments.xy.row(g) - moments.y1[g] * shift.from.transpose();
    result.x1.row(g) = mapped.row(0) + w * shift.to.transpose();
    result.xy.row(g) = product(with_y, shift.map, context).row(0) + moments.y1[g] * shift.to.transpose();
    const bool has_gram = !moments.gram.empty() && moments.gram[at(g)].size() > 0;
    if (!has_gram) continue;
    // sum w (x - from)(x - from)' = X'X - from x1' - (x1 - w from) from'
    const Matrix gram =
        gram_of(moments, g) - shift.from * moments.x1.row(g) - centred.row(0).transpose() * shift.from.transpose();
    Matrix z = transpose_product(shift.map, product(gram, shift.map, context), context);
    z += shift.to * result.x1.row(g) + mapped.row(0).transpose() * shift.to.transpose();
    SymmetricTiles<double> tiles(moments.cols());
    for (Index i = 0; i < z.rows(); ++i) {
      for (Index j = i; j < z.cols(); ++j) tiles.add(i, j, (z(i, j) + z(j, i)) / 2);
      result.xx(g, i) = std::max(0.0, z(i, i));
    }
    result.gram[at(g)] = std::move(tiles);
  }
  return result;
}

}  // namespace ecotone
