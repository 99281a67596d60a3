#include "ecotone/data/storage/share_storage.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/data/storage/subset_storage.h"

namespace ecotone {

ShareStorage::ShareStorage(std::shared_ptr<const FeatureStorage> file, const Context& context)
    : file_(std::move(file)) {
  const Index step = block_rows(), blocks = (rows() + step - 1) / step;
  own_ = blocks_of_rank(blocks, context.ranks().rank(), context.ranks().size());
  const Index count = std::min(rows(), own_.last * step) - own_.first * step;
  require_memory(at(count) * at(cols()) * sizeof(double), "rows of this rank",
                 fmt::format("{} rows x {} features", count, cols()), "use more ranks, or an .eco file");
  x_.resize(count, cols());
  context.parallel(own_.last - own_.first, [&](Index i) {
    Scratch scratch;
    const RowBlock read = file_->block(own_.first + i, scratch);
    x_.middleRows(i * step, read.x.rows()) = read.x;
  });
}

RowBlock ShareStorage::block(Index b, Scratch& scratch) const {
  if (b < own_.first || b >= own_.last) return file_->block(b, scratch);
  const Index first = b * block_rows(), count = std::min(block_rows(), rows() - first);
  const double* begin = x_.data() + (b - own_.first) * block_rows() * cols();
  return {first, ConstMatrixMap(begin, count, cols(), Eigen::OuterStride<>(cols()))};
}

std::shared_ptr<const FeatureStorage> ShareStorage::take(std::span<const Index> rows) const {
  return take_from_file(shared_from_this(), rows);
}

}  // namespace ecotone
