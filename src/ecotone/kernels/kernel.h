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

/// A kernel and its parameters; each kind reads its own.
struct Kernel {
  KernelKind kind = KernelKind::rbf;
  double sigma = 1;  ///< rbf, laplacian: positive
  int degree = 3;    ///< poly: at least 1
  double coef0 = 1;  ///< poly: not negative, so that the kernel is positive definite
  double scale = 1;  ///< poly: positive
};

/// Refuses parameters that are no kernel: option error `bad_option`.
void check_kernel(const Kernel& kernel);

/// Whether k(x, z) depends on x - z alone; then k(x, x) = 1.
constexpr bool shift_invariant(const Kernel& kernel) {
  return kernel.kind == KernelKind::rbf || kernel.kind == KernelKind::laplacian;
}

/// Blocks of a Gram matrix, at most 256 a side. Equal rows have k = 1 to the bit under the kernels of distances.
class KernelTiles {
 public:
  static constexpr Index side = DistanceTiles::side;

  /// Of X with itself. Rows are copied.
  KernelTiles(const Kernel& kernel, ConstMatrixView x);
  /// Of the rows of X (down) with those of Y (across).
  KernelTiles(const Kernel& kernel, ConstMatrixView x, ConstMatrixView y);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// k(r, c) = k(x_(i + r), y_(j + c)), on the calling thread.
  void tile(Index i, Index j, MatrixView k) const;

 private:
  /// Rows as the kernels of products and of absolute differences need them.
  struct Points {
    Matrix x;
    Matrix y;        ///< none: X itself
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

/// The Gram matrix of X, symmetric to the bit; memory checked.
Matrix kernel_gram(const Kernel& kernel, ConstMatrixView x, const Context& context);

/// k of all rows of X (down) with all rows of Y (across); memory checked.
Matrix kernel_gram(const Kernel& kernel, ConstMatrixView x, ConstMatrixView y, const Context& context);

/// k(x_i, x_i) of every row.
Vector kernel_diagonal(const Kernel& kernel, ConstMatrixView x);

/// The means of a Gram matrix's columns, which new rows are centred with, and the mean of all of it.
struct KernelMeans {
  Vector columns;
  double all = 0;
};

/// K <- HKH, H = I - 11'/n, of a symmetric K, on all threads; returns the means of the raw K.
KernelMeans centre_gram(Matrix& k, const Context& context);

}  // namespace ecotone
