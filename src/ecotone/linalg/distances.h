#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A point amid the rows to use as their origin: the medians of the columns over at most 255 evenly spaced rows. Unlike
/// the mean it does not move when single rows are far away. Values that are not finite are ignored.
Vector typical_row(ConstMatrixView x);

/// Squared distances tile by tile, for callers that do not keep the whole matrix; holds the rows relative to a typical
/// row, and their lengths. The distances are those of squared_distances.
class DistanceTiles {
 public:
  /// Side of the tiles at which products run at full speed.
  static constexpr Index side = 256;

  /// Distances between the rows of X.
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
  std::optional<Centred> y_;  // empty: X itself

  DistanceTiles(ConstMatrixView x, ConstMatrixView y, const Vector& origin);
  const Centred& y() const { return y_ ? *y_ : x_; }
};

/// ||x_i - y_j||^2 for all rows of X and Y, from products of rows relative to a typical row, so that a large common
/// offset costs no digits and far rows cost the others none. Pairs so close that the products would cancel are computed
/// from differences: equal rows have distance exactly 0. Computed by fixed tiles on all threads.
Matrix squared_distances(ConstMatrixView x, ConstMatrixView y, const Context& context);

/// Distances between the rows of X: exactly symmetric, with zero diagonal, at half the cost.
Matrix squared_distances(ConstMatrixView x, const Context& context);

}  // namespace ecotone
