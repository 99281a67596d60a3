#include "ecotone/data/storage/derived_storage.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/data/storage/csr_storage.h"
#include "ecotone/data/storage/subset_storage.h"

namespace ecotone {

RowBlock HeadStorage::block(Index b, Scratch& scratch) const {
  const RowBlock base = base_->block(b, scratch);
  const Index count = std::min(base.x.rows(), rows_ - base.first);
  return {base.first, ConstMatrixMap(base.x.data(), count, cols(), Eigen::OuterStride<>(base.x.outerStride()))};
}

void HeadStorage::multiply(Index b, ConstMatrixView w, MatrixView out) const {
  if (whole(b)) return base_->multiply(b, w, out);
  if (sparse()) return csr_multiply(*base_->csr(), b * block_rows(), w, out);
  FeatureStorage::multiply(b, w, out);
}

void HeadStorage::multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const {
  if (whole(b)) return base_->multiply_transposed(b, v, acc);
  if (sparse()) return csr_multiply_transposed(*base_->csr(), b * block_rows(), v, acc);
  FeatureStorage::multiply_transposed(b, v, acc);
}

const Csr* HeadStorage::csr() const {
  if (!sparse()) return nullptr;
  std::call_once(copied_, [&] { csr_ = csr_head(*base_->csr(), rows_); });
  return &*csr_;
}

RowBlock DerivedStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  auto out = scratch.reserve(count, cols_);
  compute(first, out, scratch.nested());
  return {first, ConstMatrixMap(out.data(), count, cols_, Eigen::OuterStride<>(out.outerStride()))};
}

void DerivedStorage::compute(Index first, MatrixView out, Scratch& scratch) const {
  const Index step = base_->block_rows();
  const Index end = first + out.rows();
  for (Index at = first; at < end;) {
    const RowBlock base = base_->block(at / step, scratch);
    const Index stop = std::min(end, base.first + base.x.rows());
    const double* data = base.x.data() + (at - base.first) * base.x.outerStride();
    map_(ConstMatrixMap(data, stop - at, base.x.cols(), Eigen::OuterStride<>(base.x.outerStride())),
         out.middleRows(at - first, stop - at));
    at = stop;
  }
}

Matrix DerivedStorage::compute_all(const Context& context) const {
  Matrix out(rows(), cols_);
  take_pages(out.data(), static_cast<std::size_t>(out.size()) * sizeof(double), context);
  const Index step = block_rows();
  context.parallel((rows() + step - 1) / step, [&](Index b) {
    Scratch scratch;
    compute(b * step, out.middleRows(b * step, std::min(step, rows() - b * step)), scratch);
  });
  return out;
}

std::shared_ptr<const FeatureStorage> DerivedStorage::take(std::span<const Index> rows) const {
  // Copies rows of whichever is narrower, unless they are many that lie in a file.
  const bool few = !base_->in_file() || copied_from_file(static_cast<Index>(rows.size()), cols_);
  if (cols_ < base_->cols() && !base_->sparse() && few) return FeatureStorage::take(rows);
  return std::make_shared<DerivedStorage>(base_->take(rows), cols_, map_);
}

}  // namespace ecotone
