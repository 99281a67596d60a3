#include "ecotone/solve/moments/moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/moments/gram_fill.h"

namespace ecotone {
namespace {

/// The sums that are linear in the number of columns.
struct Sums {
  Vector rows, weight, y1, yy;
  Matrix x1, xy, xx;

  Sums(Index groups, Index cols)
      : rows(Vector::Zero(groups)),
        weight(Vector::Zero(groups)),
        y1(Vector::Zero(groups)),
        yy(Vector::Zero(groups)),
        x1(Matrix::Zero(groups, cols)),
        xy(Matrix::Zero(groups, cols)),
        xx(Matrix::Zero(groups, cols)) {}

  void add_scalars(Index g, double y, double w) {
    rows[g] += 1;
    weight[g] += w;
    y1[g] += w * y;
    yy[g] += w * y * y;
  }

  void merge(const Sums& other) {
    rows += other.rows;
    weight += other.weight;
    y1 += other.y1;
    yy += other.yy;
    x1 += other.x1;
    xy += other.xy;
    xx += other.xx;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(rows, weight, y1, yy, x1, xy, xx);
  }
};

/// The sums with the Gram matrices of the same rows.
struct SumsWithGrams {
  Sums sums;
  GramFill fill;

  void merge(const SumsWithGrams& other) {
    sums.merge(other.sums);
    fill.merge(other.fill);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(sums, fill);
  }
};

/// Whether the Gram matrices are so small that every thread and rank can have its own; depends on the data alone.
bool small_grams(Index groups, Index cols, GramKind kind) {
  constexpr std::size_t most = std::size_t{1} << 20;
  return kind != GramKind::none && moments_bytes(groups, cols, kind) <= most;
}

double label_of(const MomentRows& rows, Index i) { return i < rows.y.size() ? rows.y[i] : 0.0; }

void add_block(Sums& sums, const MomentRows& rows, const RowBlock& block) {
  const Index cols = block.x.cols();
  for (Index i = 0; i < block.x.rows(); ++i) {
    const Index row = block.first + i;
    const Index g = rows.group[at(row)];
    const double w = weight_of(rows, row);
    const double wy = w * label_of(rows, row);
    sums.add_scalars(g, label_of(rows, row), w);
    const double* x = block.x.data() + i * block.x.outerStride();
    double* x1 = sums.x1.row(g).data();
    double* xy = sums.xy.row(g).data();
    double* xx = sums.xx.row(g).data();
    for (Index j = 0; j < cols; ++j) {
      x1[j] += w * x[j];
      xy[j] += wy * x[j];
      xx[j] += w * x[j] * x[j];
    }
  }
}

void add_sparse_rows(Sums& sums, const MomentRows& rows, const Csr& csr, Index first, Index last) {
  for (Index row = first; row < last; ++row) {
    const Index g = rows.group[at(row)];
    const double w = weight_of(rows, row);
    const double y = label_of(rows, row);
    sums.add_scalars(g, y, w);
    for (auto k = at(csr.row_start[at(row)]); k < at(csr.row_start[at(row) + 1]); ++k) {
      const Index j = csr.column[k];
      const double wx = w * csr.value[k];
      sums.x1(g, j) += wx;
      sums.xy(g, j) += wx * y;
      sums.xx(g, j) += wx * csr.value[k];
    }
  }
}

/// Which groups have y; a group with both kinds of rows is rejected.
std::vector<std::uint8_t> labelled_groups(const MomentRows& rows) {
  std::vector<int> kind(rows.group_names.size(), -1);
  for (Index i = 0; i < rows.x.rows(); ++i) {
    int& found = kind[at(rows.group[at(i)])];
    const int here = i < rows.y.size() ? 1 : 0;
    if (found >= 0 && found != here)
      data_error("mixed_domain", "moments: domain '{}' has both rows with a label and rows without",
                 rows.group_names[at(rows.group[at(i)])]);
    found = here;
  }
  std::vector<std::uint8_t> labelled;
  for (const int k : kind) labelled.push_back(k == 1 ? 1 : 0);
  return labelled;
}

void check(const MomentRows& rows) {
  const Index n = rows.x.rows();
  if (static_cast<Index>(rows.group.size()) != n || rows.y.size() > n ||
      (rows.weight.size() != 0 && rows.weight.size() != rows.y.size()))
    internal_error("moments: {} rows, {} groups, {} labels, {} weights", n, rows.group.size(), rows.y.size(),
                   rows.weight.size());
}

/// If the sums are finite, so is every value: the search runs only if they are not.
void require_finite(const Moments& moments, const MomentRows& rows, const Context& context) {
  if (moments.x1.allFinite() && moments.xx.allFinite() && moments.xy.allFinite() && moments.yy.allFinite()) return;
  const NonFinite found = find_non_finite(rows.x, context);
  if (found.row >= 0) {
    const Index row = rows.origin.empty() ? found.row : rows.origin[at(found.row)];
    const bool missing = std::isnan(found.value);
    data_error("non_finite", "moments: column '{}' is {} in row {}; {}", rows.x.name(found.column),
               missing ? "not a number" : "infinite", row + 1, missing ? "add impute before it" : "drop the row");
  }
  data_error("non_finite", "moments: sums of squares overflow; scale the columns or the labels first");
}

Moments moments_of(Sums sums, const MomentRows& rows, std::vector<std::uint8_t> labelled) {
  Moments result;
  result.features = rows.x.names();
  result.groups = rows.group_names;
  result.labelled = std::move(labelled);
  result.rows = std::move(sums.rows);
  result.weight = std::move(sums.weight);
  result.y1 = std::move(sums.y1);
  result.yy = std::move(sums.yy);
  result.x1 = std::move(sums.x1);
  result.xy = std::move(sums.xy);
  result.xx = std::move(sums.xx);
  return result;
}

/// Sums over blocks, shared by ranks if the sums that each of them receives are few beside the values that it need not
/// read.
template <class Acc, class Add>
Acc sum_shared(Index blocks, Acc zero, Index values, const Context& context, Add&& add) {
  const auto received = static_cast<Index>(archived_size(zero) / sizeof(double)) * context.ranks().size();
  return 4 * received <= values ? sum_rows(blocks, context, std::move(zero), add)
                                : sum_blocks(blocks, context, std::move(zero), add);
}

/// The dense route for small Gram matrices: they are summed block by block, as the other sums are.
Sums fill_small(const MomentRows& rows, GramFill& fill, const Sums& zero, const Context& context) {
  const Index values = rows.x.rows() * rows.x.cols();
  SumsWithGrams total =
      sum_shared(rows.x.blocks(), SumsWithGrams{zero, fill}, values, context, [&](SumsWithGrams& acc, Index b) {
        Scratch scratch;
        const RowBlock block = rows.x.block(b, scratch);
        add_block(acc.sums, rows, block);
        acc.fill.begin(b, 1);
        acc.fill.gather(block);
        acc.fill.finish();
      });
  fill = std::move(total.fill);
  return std::move(total.sums);
}

/// The dense route: the blocks of a chunk (`step` of them) are summed and their rows gathered, then the tiles of the
/// Gram matrices grow by the chunk. Ranks share the sums, unless Gram matrices make each gather all rows.
Sums fill_dense(const MomentRows& rows, GramFill& fill, Index step, const Sums& zero, const Context& context) {
  const Index blocks = rows.x.blocks();
  Sums total = zero;
  for (Index first = 0; first < blocks; first += step) {
    context.check_cancelled();
    const Index count = std::min(step, blocks - first);
    fill.begin(first, count);
    const auto add = [&](Sums& sums, Index b) {
      Scratch scratch;
      const RowBlock block = rows.x.block(first + b, scratch);
      add_block(sums, rows, block);
      fill.gather(block);
    };
    const Index values = fill.active() ? 0 : count * rows.x.block_rows() * rows.x.cols();
    total.merge(sum_shared(count, zero, values, context, add));
    fill.finish(context);
  }
  return total;
}

Sums fill_sparse(const MomentRows& rows, const Csr& csr, GramFill& fill, const Sums& zero, const Context& context) {
  const Index values = csr.row_start[at(rows.x.rows())];
  Sums total = sum_shared(rows.x.blocks(), zero, values, context, [&](Sums& sums, Index b) {
    add_sparse_rows(sums, rows, csr, rows.x.first_row(b), rows.x.first_row(b) + rows.x.rows_in(b));
  });
  fill.add_sparse(csr, context);
  return total;
}

/// The sums in the order that they have beside Gram matrices of this kind, which the fill need not hold.
Sums summed(const MomentRows& rows, GramFill& fill, GramKind kind, const Context& context) {
  const Sums zero(static_cast<Index>(rows.group_names.size()), rows.x.cols());
  if (const Csr* csr = rows.x.storage().csr()) return fill_sparse(rows, *csr, fill, zero, context);
  const bool small = small_grams(zero.x1.rows(), zero.x1.cols(), kind);
  if (small && fill.active()) return fill_small(rows, fill, zero, context);
  const bool at_once = small || kind == GramKind::none;
  const Index step = at_once ? std::max<Index>(rows.x.blocks(), 1) : fill.blocks_at_once();
  return fill_dense(rows, fill, step, zero, context);
}

/// The summation tree keeps a few more of the linear sums alive, and of small Gram matrices.
std::size_t partial_bytes(Index groups, Index cols, GramKind kind, const Context& context) {
  const GramKind summed = small_grams(groups, cols, kind) ? kind : GramKind::none;
  return moments_bytes(groups, cols, summed) * (at(context.threads()) + 6);
}

template <class Scalar>
void merge_grams(std::vector<SymmetricTiles<Scalar>>& into, const std::vector<SymmetricTiles<Scalar>>& from,
                 const std::vector<std::size_t>& place) {
  for (std::size_t g = 0; g < from.size(); ++g) {
    if (place[g] < into.size()) {
      into[place[g]].merge(from[g]);
    } else {
      into.push_back(from[g]);
    }
  }
}

void append_rows(Matrix& into, const Matrix& from, const std::vector<std::size_t>& place) {
  const Index old = into.rows();
  Index rows = old;
  for (const std::size_t p : place) rows = std::max(rows, static_cast<Index>(p) + 1);
  into.conservativeResize(rows, Eigen::NoChange);
  into.bottomRows(rows - old).setZero();
  for (std::size_t g = 0; g < place.size(); ++g)
    into.row(static_cast<Index>(place[g])) += from.row(static_cast<Index>(g));
}

void append_rows(Vector& into, const Vector& from, const std::vector<std::size_t>& place) {
  Matrix column = into;
  append_rows(column, Matrix(from), place);
  into = column.col(0);
}

}  // namespace

GramKind Moments::gram_kind() const {
  if (!gram.empty()) return GramKind::double_precision;
  return single_gram.empty() ? GramKind::none : GramKind::single_precision;
}

void Moments::merge(const Moments& other) {
  if (other.features != features)
    data_error("different_moments", "moments: the features differ, so the moments cannot be merged");
  if (other.classes != classes)
    data_error("different_moments", "moments: the label classes differ, so the moments cannot be merged");
  if (other.gram_kind() != gram_kind())
    data_error("different_moments",
               "moments: the kinds of Gram matrices differ; make all moments with the same --gram");
  std::vector<std::size_t> place;
  for (std::size_t g = 0; g < other.groups.size(); ++g) {
    const auto found = std::find(groups.begin(), groups.end(), other.groups[g]);
    place.push_back(static_cast<std::size_t>(found - groups.begin()));
    if (found == groups.end()) {
      groups.push_back(other.groups[g]);
      labelled.push_back(other.labelled[g]);
    } else if (labelled[place.back()] != other.labelled[g]) {
      data_error("different_moments", "moments: domain '{}' has labels in one file and none in another",
                 other.groups[g]);
    }
  }
  append_rows(rows, other.rows, place);
  append_rows(weight, other.weight, place);
  append_rows(y1, other.y1, place);
  append_rows(yy, other.yy, place);
  append_rows(x1, other.x1, place);
  append_rows(xy, other.xy, place);
  append_rows(xx, other.xx, place);
  merge_grams(gram, other.gram, place);
  merge_grams(single_gram, other.single_gram, place);
}

void Moments::gram_column(Index group, Index j, double* out) const {
  const double factor = 1.0 / weight[group];
  if (gram.empty()) {
    single_gram[at(group)].column(j, factor, out);
  } else {
    gram[at(group)].column(j, factor, out);
  }
}

std::size_t moments_bytes(Index groups, Index cols, GramKind kind) {
  const std::size_t linear = at(groups) * at(cols) * 3 * sizeof(double);
  if (kind == GramKind::none) return linear;
  const std::size_t gram =
      kind == GramKind::double_precision ? SymmetricTiles<double>::bytes(cols) : SymmetricTiles<float>::bytes(cols);
  return linear + at(groups) * gram;
}

Moments gather_moments(const MomentRows& rows, GramKind kind, const Context& context) {
  check(rows);
  const auto groups = static_cast<Index>(rows.group_names.size());
  const Index cols = rows.x.cols();
  require_memory(moments_bytes(groups, cols, kind) + partial_bytes(groups, cols, kind, context), "moments",
                 kind == GramKind::none ? "their sums" : "a Gram matrix for every domain",
                 "use fewer columns or domains, or no Gram matrices");
  std::vector<std::uint8_t> labelled = labelled_groups(rows);
  GramFill fill(rows, labelled, kind);
  Moments result = moments_of(summed(rows, fill, kind, context), rows, std::move(labelled));
  require_finite(result, rows, context);
  std::move(fill).give(result);
  return result;
}

void relabel_moments(Moments& moments, const MomentRows& rows, const Context& context) {
  check(rows);
  require_memory(partial_bytes(moments.group_count(), moments.cols(), GramKind::none, context), "moments", "their sums",
                 "use fewer columns or domains");
  GramFill none(rows, moments.labelled, GramKind::none);
  Sums sums = summed(rows, none, moments.gram_kind(), context);
  moments.y1 = std::move(sums.y1);
  moments.yy = std::move(sums.yy);
  moments.xy = std::move(sums.xy);
  require_finite(moments, rows, context);
}

}  // namespace ecotone
