#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "ecotone/data/features.h"

namespace ecotone {

/// The first rows of another storage, without copying. The columns are the same, so the blocks are too, except for the
/// last.
class HeadStorage final : public FeatureStorage {
 public:
  HeadStorage(std::shared_ptr<const FeatureStorage> base, Index rows) : base_(std::move(base)), rows_(rows) {}

  Index rows() const override { return rows_; }
  Index cols() const override { return base_->cols(); }
  RowBlock block(Index b, Scratch& scratch) const override;
  void multiply(Index b, ConstMatrixView w, MatrixView out) const override;
  void multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override { return base_->take(rows); }
  /// Copied at the first call; products and blocks do not need it.
  const Csr* csr() const override;
  bool sparse() const override { return base_->sparse(); }
  bool resident() const override { return base_->resident(); }
  bool in_file() const override { return base_->in_file(); }

 private:
  bool whole(Index b) const { return (b + 1) * block_rows() <= rows_; }

  std::shared_ptr<const FeatureStorage> base_;
  Index rows_;
  mutable std::once_flag copied_;
  mutable std::optional<Csr> csr_;
};

/// A row-wise map of another storage, computed whenever a block is read.
///
/// Block sizes depend on the number of columns, so a block here may span several blocks of the base or be part of one.
/// The map is called once per piece; the pieces depend only on the two numbers of columns.
class DerivedStorage final : public FeatureStorage {
 public:
  DerivedStorage(std::shared_ptr<const FeatureStorage> base, Index cols, Features::BlockMap map)
      : base_(std::move(base)), cols_(cols), map_(std::move(map)) {}

  Index rows() const override { return base_->rows(); }
  Index cols() const override { return cols_; }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool in_file() const override { return base_->in_file(); }

  /// Computes rows [first, first + out.rows()); the scratch is for the base.
  void compute(Index first, MatrixView out, Scratch& scratch) const;
  /// All rows, computed on all threads.
  Matrix compute_all(const Context& context) const;

 private:
  std::shared_ptr<const FeatureStorage> base_;
  Index cols_;
  Features::BlockMap map_;
};

}  // namespace ecotone
