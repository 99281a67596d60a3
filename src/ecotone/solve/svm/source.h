#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// The source of the kernel values of a support vector machine: rows of features, or a given Gram matrix. It keeps its
/// rows in an order that the solver changes, so that the active rows are contiguous.
class SvmSource {
 public:
  virtual ~SvmSource() = default;

  Index rows() const { return diagonal_.size(); }
  /// k(x_i, x_i), in the current order.
  const Vector& diagonal() const { return diagonal_; }
  /// Moves the row at from[k] to k.
  void permute(std::span<const Index> from);
  /// Rows in the form that `values` needs; empty if it needs none.
  virtual Matrix gather(std::span<const Index> rows) const = 0;
  /// out(r, c) = k(x_rows[r], x_(first + c)), on the calling thread; `gathered` are the same rows.
  virtual void values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const = 0;

 protected:
  Vector diagonal_;

 private:
  virtual void permute_rows(std::span<const Index> from) = 0;
};

/// Kernel values of the rows `chosen` of X, relative to a typical row if the kernel allows it: with sum beta = 0 a
/// linear kernel on such rows has the same optimum, and their products lose fewer digits. A far row does not affect the
/// others. With groups the values are k times factor(group of one row, group of the other), and only kernels of
/// distances are centred.
class SvmFeatures : public SvmSource {
 public:
  SvmFeatures(const Kernel& kernel, ConstMatrixView x, std::span<const Index> chosen,
              const SvmGroups* groups = nullptr);

  /// The origin of the rows; zero if the kernel does not allow one.
  const Eigen::RowVectorXd& centre() const { return centre_; }
  Matrix gather(std::span<const Index> rows) const override;
  void values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const override;

 private:
  void permute_rows(std::span<const Index> from) override;
  void kernel_values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const;
  /// rbf values of a row that is far from the centre, from differences.
  void far_values(ConstMatrixView row, double norm, Index first, double* values, Index count) const;

  Kernel kernel_;
  Eigen::RowVectorXd centre_;
  Matrix x_;
  Vector norms_;                     ///< rbf: ||x_i||^2
  std::vector<std::int32_t> group_;  ///< of each row; empty: no groups
  Matrix factor_;
};

/// Values of the rows and columns `chosen` of a Gram matrix, which must outlive it.
class SvmGram : public SvmSource {
 public:
  SvmGram(ConstMatrixView gram, std::span<const Index> chosen);

  Matrix gather(std::span<const Index>) const override { return {}; }
  void values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const override;

 private:
  void permute_rows(std::span<const Index> from) override;

  ConstMatrixMap gram_;
  std::vector<Index> at_;  ///< position of each row in the Gram matrix
};

}  // namespace ecotone
