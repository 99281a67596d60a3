#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/matrix.h"

/// The Gaussian kernel k(x, y) = exp(-||x - y||^2 / (2 sigma^2)). sigma must be positive and finite (option error
/// `bad_option`). k of equal rows is exactly 1; distances beyond 37 sigma give 3e-308 instead of a smaller value.
namespace ecotone {

/// The Gram matrix of X, exactly symmetric; memory is checked.
Matrix rbf_gram(ConstMatrixView x, double sigma, const Context& context);

/// k between all rows of X (down) and all rows of Y (across); memory is checked.
Matrix rbf_gram(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context);

/// The Gram matrix tile by tile, for callers that only sum over it.
class RbfTiles {
 public:
  static constexpr Index side = DistanceTiles::side;

  RbfTiles(ConstMatrixView x, double sigma);
  RbfTiles(ConstMatrixView x, ConstMatrixView y, double sigma);

  Index rows() const { return distances_.rows(); }
  Index cols() const { return distances_.cols(); }
  /// k(r, c) = k(x_(i + r), y_(j + c)), on the calling thread.
  void tile(Index i, Index j, MatrixView k) const;

 private:
  DistanceTiles distances_;
  double scale_;  // 1 / (2 sigma^2)
};

/// The tiles on and below the diagonal of a symmetric matrix of n rows, numbered row by row.
class LowerTiles {
 public:
  explicit LowerTiles(Index n) : n_(n), across_((n + RbfTiles::side - 1) / RbfTiles::side) {}

  Index count() const { return across_ * (across_ + 1) / 2; }
  struct Tile {
    Index i, j;        ///< first row and first column, j <= i
    Index rows, cols;  ///< size of the tile
    bool diagonal() const { return i == j; }
  };
  Tile at(Index t) const;

 private:
  Index n_;
  Index across_;
};

}  // namespace ecotone
