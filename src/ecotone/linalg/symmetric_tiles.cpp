#include "ecotone/linalg/symmetric_tiles.h"

#include <cblas.h>

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

void syrk(int n, int k, const double* a, int stride, double* c) {
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, 1.0, a, stride, 1.0, c, n);
}
void syrk(int n, int k, const float* a, int stride, float* c) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, 1.0F, a, stride, 1.0F, c, n);
}
void gemm(int m, int n, int k, const double* a, const double* b, int stride, double* c) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1.0, a, stride, b, stride, 1.0, c, n);
}
void gemm(int m, int n, int k, const float* a, const float* b, int stride, float* c) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1.0F, a, stride, b, stride, 1.0F, c, n);
}

}  // namespace

template <class Scalar>
SymmetricTiles<Scalar>::SymmetricTiles(Index size) : size_(size), bands_((size + tile - 1) / tile), start_{0} {
  for (Index i = 0; i < bands_; ++i)
    for (Index j = i; j < bands_; ++j) start_.push_back(start_.back() + static_cast<std::size_t>(width(i) * width(j)));
  values_.reserve(start_.back());
  prefer_large_pages(values_.data(), start_.back() * sizeof(Scalar));
  values_.resize(start_.back());
}

template <class Scalar>
std::size_t SymmetricTiles<Scalar>::bytes(Index size) {
  const auto n = static_cast<std::size_t>(size);
  const std::size_t rest = n % tile;
  const std::size_t whole = n - rest;
  // The bands before the last, of whose off-diagonal part half is kept, then the last band.
  return ((whole * whole + whole * tile) / 2 + n * rest) * sizeof(Scalar);
}

template <class Scalar>
void SymmetricTiles<Scalar>::add_gram(Index pair, const Scalar* a, Index rows, Index stride) {
  if (rows == 0) return;
  prepare_blas();
  Index i = 0;
  while (pair_of(i + 1, i + 1) <= pair && i + 1 < bands_) ++i;
  const Index j = i + pair - pair_of(i, i);
  Scalar* c = values_.data() + start_[static_cast<std::size_t>(pair)];
  const auto ld = static_cast<int>(stride);
  if (i == j) {
    syrk(static_cast<int>(width(i)), static_cast<int>(rows), a + i * tile, ld, c);
  } else {
    gemm(static_cast<int>(width(i)), static_cast<int>(width(j)), static_cast<int>(rows), a + i * tile, a + j * tile, ld,
         c);
  }
}

template <class Scalar>
void SymmetricTiles<Scalar>::column(Index j, double factor, double* out) const {
  const Index band = j / tile;
  for (Index i = 0; i < j; ++i) out[i] = factor * static_cast<double>(values_[place(i, j)]);
  // Row j to the right of the diagonal: contiguous in each tile.
  for (Index other = band; other < bands_; ++other) {
    const Index first = std::max(j, other * tile);
    const Scalar* row = values_.data() + place(j, first);
    const Index last = std::min(size_, (other + 1) * tile);
    for (Index i = first; i < last; ++i) out[i] = factor * static_cast<double>(row[i - first]);
  }
}

template <class Scalar>
void SymmetricTiles<Scalar>::merge(const SymmetricTiles& other) {
  if (other.size_ != size_) internal_error("symmetric tiles: sizes {} and {}", size_, other.size_);
  for (std::size_t k = 0; k < values_.size(); ++k) values_[k] += other.values_[k];
}

template class SymmetricTiles<double>;
template class SymmetricTiles<float>;

}  // namespace ecotone
