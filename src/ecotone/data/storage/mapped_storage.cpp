#include "ecotone/data/storage/mapped_storage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ecotone/data/storage/subset_storage.h"

namespace ecotone {

RowBlock MappedStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  const std::byte* bytes = x_.bytes.data() + static_cast<std::size_t>(first * cols()) * sizeof(double);
  if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(double) == 0)
    return {first, ConstMatrixMap(reinterpret_cast<const double*>(bytes), count, cols(), Eigen::OuterStride<>(cols()))};
  // Files written by ecotone are aligned; others need not be.
  auto out = scratch.reserve(count, cols());
  std::memcpy(out.data(), bytes, static_cast<std::size_t>(count * cols()) * sizeof(double));
  return {first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(cols()))};
}

std::shared_ptr<const FeatureStorage> MappedStorage::take(std::span<const Index> rows) const {
  return take_from_file(shared_from_this(), rows);
}

}  // namespace ecotone
