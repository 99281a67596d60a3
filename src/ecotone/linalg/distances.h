#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A place amid the rows to see them from: medians of the columns over at most 255 rows, evenly spaced. Unlike the mean
/// it stays where it is when single rows move far away. Values that are not finite are passed over.
Vector typical_row(ConstMatrixView x);

/// Squared distances tile by tile, for those who do not keep the whole matrix: the rows seen from a typical one and
/// their lengths. Distances are as those of squared_distances.
class DistanceTiles {
 public:
  /// Side of the tiles that keep products busy.
  static constexpr Index side = 256;

  /// Of X with itself.
  explicit DistanceTiles(ConstMatrixView x);
  DistanceTiles(ConstMatrixView x, ConstMatrixView y);

  Index rows() const { return x_.rows.rows(); }
  Index cols() const { return y().rows.rows(); }
  /// d(r, c) = ||x_(i + r) - y_(j + c)||^2, on the calling thread.
  void tile(Index i, Index j, MatrixView d) const;

 private:
  struct Centred {
    Centred(ConstMatrixView x, const Vector& origin);
    Matrix rows;
    Vector norms;
  };
  Centred x_;
  std::optional<Centred> y_;  // none: X itself

  DistanceTiles(ConstMatrixView x, ConstMatrixView y, const Vector& origin);
  const Centred& y() const { return y_ ? *y_ : x_; }
};

/// ||x_i - y_j||^2 for all rows of X and Y, through products of rows seen from a typical one, so that a large common
/// offset costs no digits and far rows cost the others none. Pairs so near that the products would cancel are computed
/// from differences: equal rows have distance exactly 0. By fixed tiles on all threads.
Matrix squared_distances(ConstMatrixView x, ConstMatrixView y, const Context& context);

/// Of X with itself: symmetric to the bit, zero diagonal, half the work.
Matrix squared_distances(ConstMatrixView x, const Context& context);

}  // namespace ecotone
