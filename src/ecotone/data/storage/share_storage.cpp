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
  keeps_foreign_ = fits_in_memory(2 * at(rows() - count) * at(cols()) * sizeof(double));
  foreign_ = std::vector<Foreign>(at(keeps_foreign_ ? blocks : 0));
}

RowBlock ShareStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows(), count = std::min(block_rows(), rows() - first);
  const auto rows_at = [&](const double* x) {
    return RowBlock{first, ConstMatrixMap(x, count, cols(), Eigen::OuterStride<>(cols()))};
  };
  if (b >= own_.first && b < own_.last) return rows_at(x_.data() + (b - own_.first) * block_rows() * cols());
  if (!keeps_foreign_) return file_->block(b, scratch);
  Foreign& foreign = foreign_[at(b)];
  if (foreign.is_kept.load(std::memory_order_acquire)) return rows_at(foreign.x.data());
  const RowBlock read = file_->block(b, scratch);
  if (foreign.reads.fetch_add(1) == 1) {
    foreign.x = read.x;
    foreign.is_kept.store(true, std::memory_order_release);
  }
  return read;
}

std::shared_ptr<const FeatureStorage> ShareStorage::take(std::span<const Index> rows) const {
  return take_from_file(shared_from_this(), rows);
}

}  // namespace ecotone
