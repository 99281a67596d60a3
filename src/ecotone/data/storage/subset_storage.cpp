#include "ecotone/data/storage/subset_storage.h"

#include <algorithm>

#include "ecotone/base/memory.h"
#include "ecotone/data/storage/dense_storage.h"

namespace ecotone {

void gather_rows(const FeatureStorage& base, std::span<const Index> wanted, MatrixView out, Scratch& scratch) {
  const Index step = base.block_rows();
  const auto count = static_cast<Index>(wanted.size());
  for (Index i = 0; i < count;) {
    const Index b = wanted[at(i)] / step;
    const RowBlock block = base.block(b, scratch);
    // Consecutive rows of the block are copied at once.
    while (i < count && wanted[at(i)] / step == b) {
      const Index first = wanted[at(i)];
      Index run = 1;
      while (i + run < count && wanted[at(i + run)] == first + run && (first + run) / step == b) ++run;
      out.middleRows(i, run) = block.x.middleRows(first - block.first, run);
      i += run;
    }
  }
}

RowBlock SubsetStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  auto out = scratch.reserve(count, cols());
  gather_rows(*base_, std::span(rows_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), out,
              scratch.nested());
  return {first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(out.outerStride()))};
}

std::shared_ptr<const FeatureStorage> SubsetStorage::take(std::span<const Index> rows) const {
  std::vector<Index> chosen;
  chosen.reserve(rows.size());
  for (const Index row : rows) chosen.push_back(rows_[at(row)]);
  return take_from_file(base_, chosen);
}

bool copied_from_file(Index rows, Index cols) {
  constexpr std::size_t most = std::size_t{16} << 20;
  const std::size_t bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double);
  return bytes <= most && (bytes <= most / 16 || bytes <= available_memory() / 2);
}

std::shared_ptr<const FeatureStorage> take_from_file(std::shared_ptr<const FeatureStorage> base,
                                                     std::span<const Index> rows) {
  bool all = static_cast<Index>(rows.size()) == base->rows();
  for (std::size_t i = 0; all && i < rows.size(); ++i) all = rows[i] == static_cast<Index>(i);
  if (all) return base;
  if (!copied_from_file(static_cast<Index>(rows.size()), base->cols()))
    return std::make_shared<SubsetStorage>(std::move(base), std::vector<Index>(rows.begin(), rows.end()));
  return base->FeatureStorage::take(rows);
}

Features take_rows(const Features& x, std::span<const Index> rows, const Context& context) {
  constexpr Index together = 8192;
  const FeatureStorage& storage = x.storage();
  const auto count = static_cast<Index>(rows.size());
  const std::size_t bytes = rows.size() * static_cast<std::size_t>(x.cols()) * sizeof(double);
  if (!storage.resident() || x.is_sparse() || count < 2 * together || count == x.rows() ||
      bytes > available_memory() / 2)
    return x.take(rows);
  Matrix out(count, x.cols());
  take_pages(out.data(), bytes, context);
  context.parallel((count + together - 1) / together, [&](Index t) {
    const Index first = t * together, height = std::min(together, count - first);
    Scratch scratch;
    gather_rows(storage, rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(height)),
                out.middleRows(first, height), scratch);
  });
  return x.with_storage(std::make_shared<DenseStorage>(std::move(out)));
}

}  // namespace ecotone
