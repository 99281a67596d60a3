#pragma once

#include <memory>
#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/kernels/rbf.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// rbf: exp(-||x - z||^2 / (2 sigma^2)); laplacian: exp(-||x - z||_1 / sigma); linear: x.z; poly: (scale x.z +
/// coef0)^degree.
enum class KernelKind { rbf, laplacian, linear, poly };
std::string_view kernel_name(KernelKind kind);

/// A kernel and its parameters; each kind uses its own.
struct Kernel {
  KernelKind kind = KernelKind::rbf;
  double sigma = 1;  ///< rbf, laplacian: positive
  int degree = 3;    ///< poly: at least 1
  double coef0 = 1;  ///< poly: nonnegative, so that the kernel is positive definite
  double scale = 1;  ///< poly: positive
};

/// Rejects parameters that do not define a kernel: option error `bad_option`.
void check_kernel(const Kernel& kernel);

/// Whether k(x, z) depends on x - z alone; then k(x, x) = 1.
constexpr bool shift_invariant(const Kernel& kernel) {
  return kernel.kind == KernelKind::rbf || kernel.kind == KernelKind::laplacian;
}

/// Blocks of a Gram matrix, at most 256 x 256. Under kernels of distances, equal rows have k = 1 exactly.
class KernelTiles {
 public:
  static constexpr Index side = DistanceTiles::side;

  /// The Gram matrix of X. Copies the rows.
  KernelTiles(const Kernel& kernel, ConstMatrixView x);
  /// k between the rows of X (down) and those of Y (across).
  KernelTiles(const Kernel& kernel, ConstMatrixView x, ConstMatrixView y);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// k(r, c) = k(x_(i + r), y_(j + c)), on the calling thread.
  void tile(Index i, Index j, MatrixView k) const;

 private:
  /// Rows in the form that kernels of products and of absolute differences need.
  struct Points {
    Matrix x;
    Matrix y;        ///< empty: X itself
    Matrix columns;  ///< laplacian: the transpose of Y
  };

  Kernel kernel_;
  Index rows_;
  Index cols_;
  std::shared_ptr<const RbfTiles> rbf_;
  std::shared_ptr<const Points> points_;

  void laplacian_tile(Index i, Index j, MatrixView k) const;
  void product_tile(Index i, Index j, MatrixView k) const;
};

/// The Gram matrix of X, exactly symmetric; memory is checked.
Matrix kernel_gram(const Kernel& kernel, ConstMatrixView x, const Context& context);

/// k between all rows of X (down) and all rows of Y (across); memory is checked.
Matrix kernel_gram(const Kernel& kernel, ConstMatrixView x, ConstMatrixView y, const Context& context);

/// k(x_i, x_i) of every row.
Vector kernel_diagonal(const Kernel& kernel, ConstMatrixView x);

/// The column means of a Gram matrix, needed to centre new rows, and its overall mean.
struct KernelMeans {
  Vector columns;
  double all = 0;
};

/// K <- HKH, H = I - 11'/n, for a symmetric K, on all threads; returns the means of the raw K.
KernelMeans centre_gram(Matrix& k, const Context& context);

}  // namespace ecotone
