#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Products with the Gram matrix of X by its tiles on and below the diagonal, each of which serves the rows of both its
/// sides; the same bytes for any number of threads.
class GramOperator {
 public:
  /// kept: tiles are computed once and stay in memory, 4 n^2 bytes; computed: they are computed anew for every product.
  enum class Tiles { kept, computed };

  /// Rows are copied. Kept tiles are computed at once; their memory is checked.
  GramOperator(const Kernel& kernel, ConstMatrixView x, Tiles tiles, const Context& context);
  /// What kept tiles of n rows take.
  static std::size_t bytes(Index n);

  Index size() const { return source_.rows(); }
  /// K B.
  Matrix multiply(ConstMatrixView b, const Context& context) const;
  /// H K B, H = I - 11'/n: for columns B that sum to 0 it is HKH B.
  Matrix multiply_centred(ConstMatrixView b, const Context& context) const;
  /// The lower triangle of HKH + ridge I (above it nothing is set), for a factorisation; memory checked. `means` are
  /// those of the columns of K.
  Matrix centred_lower(const Vector& means, double ridge, const Context& context) const;

 private:
  KernelTiles source_;
  LowerTiles lower_;
  Matrix kept_;  ///< tile after tile; empty where they are computed

  /// Tile t, kept or computed into the scratch.
  ConstMatrixMap tile(Index t, Matrix& scratch) const;
};

}  // namespace ecotone
