#pragma once

#include <memory>
#include <span>

#include "ecotone/data/features.h"

namespace ecotone {

/// Features in memory as compressed sparse rows. Blocks are made dense on demand; products are sparse.
class CsrStorage final : public FeatureStorage {
 public:
  /// Checks the sizes of the arrays, that rows do not overlap, and that columns ascend and are in range.
  explicit CsrStorage(Csr x);

  Index rows() const override { return x_.rows; }
  Index cols() const override { return x_.cols; }
  RowBlock block(Index b, Scratch& scratch) const override;
  void multiply(Index b, ConstMatrixView w, MatrixView out) const override;
  void multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  const Csr* csr() const override { return &x_; }
  bool resident() const override { return true; }

 private:
  Csr x_;
};

/// out = X W for rows [first, first + out.rows()).
void csr_multiply(const Csr& x, Index first, ConstMatrixView w, MatrixView out);
/// acc += X' V for rows [first, first + v.rows()).
void csr_multiply_transposed(const Csr& x, Index first, ConstMatrixView v, MatrixView acc);
/// The first `rows` rows.
Csr csr_head(const Csr& x, Index rows);
/// These columns in this order (repeats allowed); -1 stands for a column of zeros.
Csr csr_columns(const Csr& x, std::span<const Index> columns, const Context& context);
/// Columns multiplied by `factor`.
Csr csr_scaled(const Csr& x, ConstVectorView factor, const Context& context);

}  // namespace ecotone
