#include "ecotone/data/storage/domain_storage.h"

#include <algorithm>
#include <utility>

namespace ecotone {

DomainStorage::DomainStorage(std::shared_ptr<const FeatureStorage> base, std::vector<std::int32_t> domain, Index cols,
                             Map map)
    : base_(std::move(base)), domain_(std::move(domain)), cols_(cols), map_(std::move(map)) {}

RowBlock DomainStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  auto out = scratch.reserve(count, cols_);
  // A block here may span several blocks of the base or be part of one.
  const Index step = base_->block_rows();
  for (Index at = first; at < first + count;) {
    const RowBlock base = base_->block(at / step, scratch.nested());
    const Index stop = std::min(first + count, base.first + base.x.rows());
    const Eigen::OuterStride<> stride(base.x.outerStride());
    const ConstMatrixMap x(base.x.data() + (at - base.first) * base.x.outerStride(), stop - at, base.x.cols(), stride);
    map_(x, std::span(domain_).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(stop - at)),
         out.middleRows(at - first, stop - at));
    at = stop;
  }
  return {first, ConstMatrixMap(out.data(), count, cols_, Eigen::OuterStride<>(out.outerStride()))};
}

std::shared_ptr<const FeatureStorage> DomainStorage::take(std::span<const Index> rows) const {
  std::vector<std::int32_t> domain;
  domain.reserve(rows.size());
  for (const Index row : rows) domain.push_back(domain_[at(row)]);
  return std::make_shared<DomainStorage>(base_->take(rows), std::move(domain), cols_, map_);
}

}  // namespace ecotone
