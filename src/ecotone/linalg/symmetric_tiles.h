#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The upper triangle of a symmetric matrix in square tiles of 512, each row-major and contiguous; of double or float.
/// Tiles are summed independently: if each tile is given to one task, the bytes of the result do not depend on the
/// number of threads.
template <class Scalar>
class SymmetricTiles {
 public:
  static constexpr Index tile = 512;

  explicit SymmetricTiles(Index size);

  Index size() const { return size_; }
  /// Pairs (I, J), I <= J, of bands of 512 columns.
  Index pairs() const { return static_cast<Index>(start_.size()) - 1; }
  static std::size_t bytes(Index size);

  /// Adds A_I' A_J for tile `pair` of the rows x size matrix A, whose rows are `stride` apart, on the calling thread.
  /// Nothing is kept below the diagonal of the matrix.
  void add_gram(Index pair, const Scalar* a, Index rows, Index stride);
  /// Adds value v to entry (i, j), i <= j.
  void add(Index i, Index j, Scalar v) { values_[place(i, j)] += v; }

  double at(Index i, Index j) const { return static_cast<double>(values_[i <= j ? place(i, j) : place(j, i)]); }
  /// out[i] = entry (i, j) times `factor`, for all i.
  void column(Index j, double factor, double* out) const;

  void merge(const SymmetricTiles& other);
  template <class Archive>
  void archive(Archive& with) {
    with(values_);
  }
  /// All tiles, one after the other.
  std::span<const Scalar> values() const { return values_; }
  std::span<Scalar> values() { return values_; }

 private:
  Index size_;
  Index bands_;
  std::vector<std::size_t> start_;  ///< start of each tile in values_, and the end
  std::vector<Scalar> values_;

  Index width(Index band) const { return band + 1 < bands_ ? tile : size_ - band * tile; }
  /// The number of the pair (I, J) in the order (0,0), (0,1), ..., (1,1), ...
  Index pair_of(Index i, Index j) const { return i * bands_ - i * (i - 1) / 2 + (j - i); }
  std::size_t place(Index i, Index j) const {
    const Index band = j / tile;
    return start_[static_cast<std::size_t>(pair_of(i / tile, band))] +
           static_cast<std::size_t>(i % tile * width(band) + j % tile);
  }
};

extern template class SymmetricTiles<double>;
extern template class SymmetricTiles<float>;

}  // namespace ecotone
