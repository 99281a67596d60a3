#include "ecotone/data/storage/dense_storage.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/memory.h"

namespace ecotone {

RowBlock DenseStorage::block(Index b, Scratch&) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  return {first, ConstMatrixMap(x_.data() + first * cols(), count, cols(), Eigen::OuterStride<>(cols()))};
}

std::shared_ptr<const FeatureStorage> DenseStorage::take(std::span<const Index> rows) const {
  const auto count = static_cast<Index>(rows.size());
  require_memory(rows.size() * static_cast<std::size_t>(cols()) * sizeof(double), "features",
                 "a copy of the chosen rows", "use fewer rows or columns");
  Matrix out(count, cols());
  for (Index i = 0; i < count; ++i) out.row(i) = x_.row(rows[at(i)]);
  return std::make_shared<DenseStorage>(std::move(out));
}

}  // namespace ecotone
