#include "arrays.h"

#include <algorithm>

namespace ecotone::python {

RowBlock ArrayStorage::block(Index b, Scratch&) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  return {first, ConstMatrixMap(array_.data() + first * cols(), count, cols(), Eigen::OuterStride<>(cols()))};
}

}  // namespace ecotone::python
