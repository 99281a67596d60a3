#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// Where a support vector machine takes kernel values from: rows of features, or a Gram matrix that is given. It keeps
/// its rows in an order that the solver changes, so that those still worked on lie together.
class SvmSource {
 public:
  virtual ~SvmSource() = default;

  Index rows() const { return diagonal_.size(); }
  /// k(x_i, x_i), in the present order.
  const Vector& diagonal() const { return diagonal_; }
  /// What stood at from[k] stands at k from now on.
  void permute(std::span<const Index> from);
  /// Rows in the form that `values` needs; empty where it needs none.
  virtual Matrix gather(std::span<const Index> rows) const = 0;
  /// out(r, c) = k(x_rows[r], x_(first + c)), on the calling thread; `gathered` are the same rows.
  virtual void values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const = 0;

 protected:
  Vector diagonal_;

 private:
  virtual void permute_rows(std::span<const Index> from) = 0;
};

/// Of the rows `chosen` of X, seen from a typical one where the kernel allows it: with sum beta = 0 a linear kernel of
/// such rows has the same optimum, and their products lose fewer digits. A row far away costs the others none. With
/// groups the values are k times factor(group of one row, group of the other), and only kernels of distances are
/// centred.
class SvmFeatures : public SvmSource {
 public:
  SvmFeatures(const Kernel& kernel, ConstMatrixView x, std::span<const Index> chosen,
              const SvmGroups* groups = nullptr);

  /// What the rows were centred at; zero where the kernel does not allow it.
  const Eigen::RowVectorXd& centre() const { return centre_; }
  Matrix gather(std::span<const Index> rows) const override;
  void values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const override;

 private:
  void permute_rows(std::span<const Index> from) override;
  void kernel_values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const;
  /// rbf of a row that is far from the centre, from differences.
  void far_values(ConstMatrixView row, double norm, Index first, double* values, Index count) const;

  Kernel kernel_;
  Eigen::RowVectorXd centre_;
  Matrix x_;
  Vector norms_;                     ///< rbf: ||x_i||^2
  std::vector<std::int32_t> group_;  ///< of each row; empty: no groups
  Matrix factor_;
};

/// Of the rows and columns `chosen` of a Gram matrix, which must outlive it.
class SvmGram : public SvmSource {
 public:
  SvmGram(ConstMatrixView gram, std::span<const Index> chosen);

  Matrix gather(std::span<const Index>) const override { return {}; }
  void values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const override;

 private:
  void permute_rows(std::span<const Index> from) override;

  ConstMatrixMap gram_;
  std::vector<Index> at_;  ///< where a row stands in the Gram matrix
};

}  // namespace ecotone
