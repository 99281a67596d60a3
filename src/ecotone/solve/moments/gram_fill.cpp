#include "ecotone/solve/moments/gram_fill.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

constexpr Index chunk_values = Index{1} << 22;  // 32 MB of doubles

/// Adds a chunk to all tiles: each(tasks, add) calls add(0) .. add(tasks - 1).
template <class Scalar, class Each>
void add_chunk(std::vector<SymmetricTiles<Scalar>>& grams, const std::vector<Scalar>& panel, Index stride,
               const std::vector<Index>& start, Each&& each) {
  const Index pairs =
      grams.empty() ? 0 : std::max_element(grams.begin(), grams.end(), [](const auto& a, const auto& b) {
                            return a.pairs() < b.pairs();
                          })->pairs();
  each(static_cast<Index>(grams.size()) * pairs, [&](Index task) {
    const Index g = task / pairs;
    if (task % pairs >= grams[at(g)].pairs()) return;
    grams[at(g)].add_gram(task % pairs, panel.data() + start[at(g)] * stride, start[at(g) + 1] - start[at(g)], stride);
  });
}

template <class Scalar>
void grow(std::vector<Scalar>& panel, std::size_t size) {
  if (panel.size() >= size) return;
  panel.reserve(size);
  prefer_large_pages(panel.data(), size * sizeof(Scalar));
  panel.resize(size);
}

/// Adds w x x' of one row to the entries (i, j), i <= j, with i in [low, high).
template <class Scalar>
void add_row(SymmetricTiles<Scalar>& gram, const Csr& csr, Index row, double w, Index low, Index high) {
  const auto begin = csr.column.begin() + csr.row_start[at(row)];
  const auto end = csr.column.begin() + csr.row_start[at(row) + 1];
  for (auto a = std::lower_bound(begin, end, low); a != end && *a < high; ++a) {
    const double wa = w * csr.value[at(a - csr.column.begin())];
    for (auto b = a; b != end; ++b) gram.add(*a, *b, static_cast<Scalar>(wa * csr.value[at(b - csr.column.begin())]));
  }
}

template <class Scalar>
void add_sparse_rows(std::vector<SymmetricTiles<Scalar>>& grams, const Csr& csr, const MomentRows& rows,
                     const std::vector<std::vector<Index>>& of_group, const Context& context) {
  const Index band = SymmetricTiles<Scalar>::tile;
  const Index bands = (csr.cols + band - 1) / band;
  context.parallel(static_cast<Index>(grams.size()) * bands, [&](Index task) {
    const Index g = task / bands;
    const Index low = task % bands * band;
    for (const Index row : of_group[at(g)]) add_row(grams[at(g)], csr, row, weight_of(rows, row), low, low + band);
  });
}

}  // namespace

GramFill::GramFill(const MomentRows& rows, const std::vector<std::uint8_t>& labelled, GramKind kind)
    : rows_(&rows), kind_(kind), labelled_(labelled) {
  // Consecutive rows must not map to the same cache lines: a stride that is not a power of two.
  stride_ = (rows.x.cols() + 7) / 8 * 8 + 8;
  for (const std::uint8_t has : labelled_) {
    const Index size = has != 0 ? rows.x.cols() : 0;
    if (kind_ == GramKind::double_precision) double_.emplace_back(size);
    if (kind_ == GramKind::single_precision) single_.emplace_back(size);
  }
}

Index GramFill::blocks_at_once() const {
  return std::max<Index>(1, chunk_values / std::max<Index>(1, rows_->x.block_rows() * stride_));
}

void GramFill::begin(Index first, Index count) {
  if (!active()) return;
  first_row_ = rows_->x.first_row(first);
  const Index last = std::min(rows_->x.rows(), rows_->x.first_row(first + count));
  start_.assign(labelled_.size() + 1, 0);
  place_.assign(at(last - first_row_), -1);
  for (Index i = first_row_; i < last; ++i) {
    const auto g = static_cast<std::size_t>(rows_->group[at(i)]);
    if (labelled_[g] != 0) ++start_[g + 1];
  }
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  std::vector<Index> next(start_.begin(), start_.end() - 1);
  for (Index i = first_row_; i < last; ++i) {
    const auto g = static_cast<std::size_t>(rows_->group[at(i)]);
    if (labelled_[g] != 0) place_[at(i - first_row_)] = next[g]++;
  }
  const std::size_t size = at(start_.back() * stride_);
  if (kind_ == GramKind::double_precision) grow(panel_, size);
  if (kind_ == GramKind::single_precision) grow(single_panel_, size);
}

void GramFill::gather(const RowBlock& block) {
  if (!active()) return;
  const Index cols = block.x.cols();
  for (Index i = 0; i < block.x.rows(); ++i) {
    const Index place = place_[at(block.first + i - first_row_)];
    if (place < 0) continue;
    const double* x = block.x.data() + i * block.x.outerStride();
    const double root = std::sqrt(weight_of(*rows_, block.first + i));
    if (kind_ == GramKind::double_precision) {
      double* out = panel_.data() + place * stride_;
      for (Index j = 0; j < cols; ++j) out[j] = root * x[j];
    } else {
      float* out = single_panel_.data() + place * stride_;
      for (Index j = 0; j < cols; ++j) out[j] = static_cast<float>(root * x[j]);
    }
  }
}

void GramFill::finish(const Context& context) {
  const auto each = [&](Index tasks, const auto& add) { context.parallel(tasks, add); };
  add_chunk(double_, panel_, stride_, start_, each);
  add_chunk(single_, single_panel_, stride_, start_, each);
}

void GramFill::finish() {
  const auto each = [](Index tasks, const auto& add) {
    for (Index task = 0; task < tasks; ++task) add(task);
  };
  add_chunk(double_, panel_, stride_, start_, each);
  add_chunk(single_, single_panel_, stride_, start_, each);
}

void GramFill::merge(const GramFill& other) {
  for (std::size_t g = 0; g < double_.size(); ++g) double_[g].merge(other.double_[g]);
  for (std::size_t g = 0; g < single_.size(); ++g) single_[g].merge(other.single_[g]);
}

void GramFill::add_sparse(const Csr& csr, const Context& context) {
  if (!active()) return;
  std::vector<std::vector<Index>> of_group(labelled_.size());
  for (Index i = 0; i < csr.rows; ++i) {
    const auto g = static_cast<std::size_t>(rows_->group[at(i)]);
    if (labelled_[g] != 0) of_group[g].push_back(i);
  }
  if (kind_ == GramKind::double_precision) add_sparse_rows(double_, csr, *rows_, of_group, context);
  if (kind_ == GramKind::single_precision) add_sparse_rows(single_, csr, *rows_, of_group, context);
}

void GramFill::give(Moments& result) && {
  result.gram = std::move(double_);
  result.single_gram = std::move(single_);
}

}  // namespace ecotone
