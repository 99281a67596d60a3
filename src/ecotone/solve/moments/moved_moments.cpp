#include "ecotone/solve/moments/moved_moments.h"

#include <algorithm>
#include <utility>

#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

/// All that does not depend on the columns.
Moments without_columns(const Moments& moments, std::vector<std::string> names) {
  Moments result;
  result.features = std::move(names);
  result.groups = moments.groups;
  result.classes = moments.classes;
  result.labelled = moments.labelled;
  result.rows = moments.rows;
  result.weight = moments.weight;
  result.y1 = moments.y1;
  result.yy = moments.yy;
  return result;
}

/// Fills the Gram matrix of every group that has one: entry(group, i, j) for i <= j.
template <class Entry>
void fill_grams(Moments& result, const Moments& moments, const Context& context, const Entry& entry) {
  const Index cols = result.cols();
  for (const SymmetricTiles<double>& gram : moments.gram) result.gram.emplace_back(gram.size() == 0 ? 0 : cols);
  context.parallel(static_cast<Index>(result.gram.size()), [&](Index g) {
    SymmetricTiles<double>& gram = result.gram[at(g)];
    for (Index i = 0; i < gram.size(); ++i)
      for (Index j = i; j < gram.size(); ++j) gram.add(i, j, entry(g, i, j));
  });
}

}  // namespace

Moments moved_moments(const Moments& moments, ConstVectorView centre, ConstVectorView factor, const Context& context) {
  Moments result = without_columns(moments, moments.features);
  const Index groups = moments.group_count(), cols = moments.cols();
  result.x1.resize(groups, cols);
  result.xy.resize(groups, cols);
  result.xx.resize(groups, cols);
  for (Index g = 0; g < groups; ++g)
    for (Index j = 0; j < cols; ++j) {
      const double c = centre[j], f = factor[j], w = moments.weight[g], x1 = moments.x1(g, j);
      result.x1(g, j) = (x1 - w * c) * f;
      result.xy(g, j) = (moments.xy(g, j) - c * moments.y1[g]) * f;
      // sum w (x - c)^2 = sum w x^2 - 2 c sum w x + c^2 sum w
      result.xx(g, j) = std::max(0.0, (moments.xx(g, j) - 2 * c * x1 + w * c * c) * f * f);
    }
  fill_grams(result, moments, context, [&](Index g, Index i, Index j) {
    const double raw = moments.gram[at(g)].at(i, j);
    return (raw - centre[i] * moments.x1(g, j) - moments.x1(g, i) * centre[j] +
            moments.weight[g] * centre[i] * centre[j]) *
           factor[i] * factor[j];
  });
  return result;
}

Moments taken_moments(const Moments& moments, std::span<const Index> columns, std::vector<std::string> names) {
  Moments result = without_columns(moments, std::move(names));
  const Index groups = moments.group_count(), cols = std::ssize(columns);
  const auto taken = [&](const Matrix& from) {
    Matrix to = Matrix::Zero(groups, cols);
    for (Index j = 0; j < cols && groups > 0; ++j)
      if (columns[at(j)] >= 0) to.col(j) = from.col(columns[at(j)]);
    return to;
  };
  result.x1 = taken(moments.x1);
  result.xy = taken(moments.xy);
  result.xx = taken(moments.xx);
  fill_grams(result, moments, Context(Context::Settings{.threads = 1}), [&](Index g, Index i, Index j) {
    const Index from = columns[at(i)], to = columns[at(j)];
    return from < 0 || to < 0 ? 0.0 : moments.gram[at(g)].at(from, to);
  });
  return result;
}

Matrix gram_of(const Moments& moments, Index group) {
  const SymmetricTiles<double>& tiles = moments.gram[at(group)];
  Matrix full(tiles.size(), tiles.size());
  for (Index j = 0; j < tiles.size(); ++j) tiles.column(j, 1.0, full.row(j).data());
  return full;
}

Moments projected_moments(const Moments& moments, const Matrix& b, std::vector<std::string> names,
                          const Context& context) {
  Moments result = without_columns(moments, std::move(names));
  result.x1 = product(moments.x1, b, context);
  result.xy = product(moments.xy, b, context);
  result.xx = Matrix::Zero(moments.group_count(), b.cols());
  for (std::size_t g = 0; g < moments.gram.size(); ++g) {
    const Index group = static_cast<Index>(g);
    const bool has = moments.gram[g].size() > 0;
    SymmetricTiles<double>& own = result.gram.emplace_back(has ? b.cols() : 0);
    if (!has) continue;
    // Z'Z = B' X'X B
    const Matrix z = transpose_product(b, product(gram_of(moments, group), b, context), context);
    for (Index i = 0; i < z.rows(); ++i) {
      for (Index j = i; j < z.cols(); ++j) own.add(i, j, z(i, j));
      result.xx(group, i) = std::max(0.0, z(i, i));
    }
  }
  return result;
}

}  // namespace ecotone
