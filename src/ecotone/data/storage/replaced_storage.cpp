#include "ecotone/data/storage/replaced_storage.h"

#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"

namespace ecotone {

ReplacedStorage::ReplacedStorage(std::shared_ptr<const FeatureStorage> base, Index first, Matrix values)
    : base_(std::move(base)), first_(first), values_(std::move(values)) {
  if (values_.rows() != rows() || first_ < 0 || first_ + values_.cols() > cols())
    internal_error("features: {} x {} values at column {} of {} x {}", values_.rows(), values_.cols(), first_, rows(),
                   cols());
}

RowBlock ReplacedStorage::block(Index b, Scratch& scratch) const {
  const RowBlock base = base_->block(b, scratch.nested());
  const Index count = base.x.rows();
  auto out = scratch.reserve(count, cols());
  out = base.x;
  out.middleCols(first_, values_.cols()) = values_.middleRows(base.first, count);
  return {base.first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(out.outerStride()))};
}

Features with_values(const Features& x, Index first, Matrix values) {
  return x.with_storage(std::make_shared<ReplacedStorage>(x.shared_storage(), first, std::move(values)));
}

Matrix values_of_columns(const Features& x, Index first, Index count, const Context& context) {
  require_memory(at(x.rows()) * at(count) * sizeof(double), "features", "a copy of some columns",
                 "use fewer rows or columns");
  Matrix values(x.rows(), count);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    values.middleRows(x.first_row(b), x.rows_in(b)) = x.block(b, scratch).x.middleCols(first, count);
  });
  return values;
}

}  // namespace ecotone
