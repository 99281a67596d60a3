#pragma once

#include <memory>
#include <mutex>

#include "ecotone/kernels/kernel.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// z = B'k(rows, x) - bias: the projection of any row x relative to the training mean. Under the linear kernel the rows
/// are the directions B'X themselves and the coefficients are 1.
struct ComponentMap {
  Kernel kernel;
  Matrix rows;          ///< r x d
  Matrix coefficients;  ///< B, r x components
  Vector bias;          ///< one per component

  Index size() const { return coefficients.cols(); }
  /// z of every row of a block, on the calling thread. The z of a row does not depend on the other rows of the block.
  /// The first call prepares the rows: they and the kernel must not change afterwards.
  void project(ConstMatrixView x, MatrixView z) const;

 private:
  /// The rows in the form that blocks need, made once for all blocks and threads; a copy makes its own.
  class Prepared {
   public:
    Prepared() = default;
    Prepared(const Prepared&) {}
    Prepared(Prepared&&) noexcept {}
    Prepared& operator=(const Prepared&);
    Prepared& operator=(Prepared&&);
    ~Prepared() = default;

    const LandmarkKernel& of(const ComponentMap& map) const;

   private:
    struct Once {
      std::once_flag flag;
      LandmarkKernel kernel;
    };
    std::unique_ptr<Once> once_ = std::make_unique<Once>();
  };
  Prepared prepared_;
};

}  // namespace ecotone
