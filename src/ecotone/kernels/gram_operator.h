#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Products with the Gram matrix of X from its tiles on and below the diagonal, each of which serves the rows of both
/// its sides. The bytes of the result do not depend on the number of threads.
class GramOperator {
 public:
  /// kept: tiles are computed once and stay in memory, 4 n^2 bytes; computed: they are recomputed for every product.
  enum class Tiles { kept, computed };

  /// Copies the rows. Kept tiles are computed at once; their memory is checked.
  GramOperator(const Kernel& kernel, ConstMatrixView x, Tiles tiles, const Context& context);
  /// Bytes that the kept tiles of n rows need.
  static std::size_t bytes(Index n);

  Index size() const { return source_.rows(); }
  /// K B.
  Matrix multiply(ConstMatrixView b, const Context& context) const;
  /// H K B, H = I - 11'/n: equals HKH B for columns B that sum to 0.
  Matrix multiply_centred(ConstMatrixView b, const Context& context) const;
  /// The lower triangle of HKH + ridge I (the upper one is not set), for a factorisation; memory is checked. `means`
  /// are those of the columns of K.
  Matrix centred_lower(const Vector& means, double ridge, const Context& context) const;

 private:
  KernelTiles source_;
  LowerTiles lower_;
  Matrix kept_;  ///< tile after tile; empty if they are recomputed

  /// Tile t, kept or computed into the scratch.
  ConstMatrixMap tile(Index t, Matrix& scratch) const;
};

}  // namespace ecotone
