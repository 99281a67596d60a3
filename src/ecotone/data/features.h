#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/index.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Memory that one thread reuses for the blocks it reads.
struct Scratch {
  Matrix dense;
  std::unique_ptr<Scratch> inner;  ///< for storages that read from another storage

  /// A rows x cols view of `dense`, which grows if necessary; its contents are undefined.
  MatrixView reserve(Index rows, Index cols);
  /// The inner scratch, made at first use.
  Scratch& nested();
};

/// Rows [first, first + x.rows()) of the features, dense. Valid until the scratch is used again.
struct RowBlock {
  Index first = 0;
  ConstMatrixMap x{nullptr, 0, 0, Eigen::OuterStride<>(0)};
};

/// Compressed sparse rows; columns ascend within a row.
struct Csr {
  Index rows = 0;
  Index cols = 0;
  std::vector<Index> row_start;      ///< rows + 1 entries
  std::vector<std::int32_t> column;  ///< 0-based
  std::vector<double> value;
};

/// Rows per block for features with this many columns: 512, fewer beyond 2,048 columns (a block stays near 8 MB), at
/// least 16.
Index block_rows_for(Index cols);

/// Where features are stored; implemented by dense, CSR, mapped, streamed and derived storages.
class FeatureStorage {
 public:
  virtual ~FeatureStorage() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  /// Dense view of block b, read or computed into the scratch unless it is already in memory. Thread-safe and
  /// repeatable.
  virtual RowBlock block(Index b, Scratch& scratch) const = 0;
  /// out = X_b W. Default: through block().
  virtual void multiply(Index b, ConstMatrixView w, MatrixView out) const;
  /// acc += X_b' V. Default: through block().
  virtual void multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const;
  /// A storage of these rows, in this order (repeats allowed). Default: reads them once into a dense copy, whose memory
  /// is checked.
  virtual std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const;
  /// The CSR arrays if the storage is sparse, otherwise null.
  virtual const Csr* csr() const { return nullptr; }
  /// Whether csr() returns arrays; cheaper than asking for them.
  virtual bool sparse() const { return csr() != nullptr; }
  /// Whether all values are already in memory (so that derived features may be too).
  virtual bool resident() const { return false; }
  /// Whether values are read from a file whenever a block is asked for. What is made of them stays small: blocks and a
  /// few numbers per row.
  virtual bool in_file() const { return false; }

  Index block_rows() const { return block_rows_for(cols()); }
};

/// The features of a data set: rows in fixed blocks, in any storage. A value type; copies share immutable storage. The
/// block size depends only on the number of columns, never on threads.
class Features {
 public:
  Features();
  /// `names` may be empty: columns are then named x1, x2, ...
  Features(std::shared_ptr<const FeatureStorage> storage, std::vector<std::string> names);
  /// The same columns in another storage; the names are shared.
  Features with_storage(std::shared_ptr<const FeatureStorage> storage) const;
  static Features dense(Matrix x, std::vector<std::string> names = {});
  static Features sparse(Csr x, std::vector<std::string> names = {});

  Index rows() const { return storage_->rows(); }
  Index cols() const { return storage_->cols(); }
  Index block_rows() const { return storage_->block_rows(); }
  Index blocks() const { return (rows() + block_rows() - 1) / block_rows(); }
  Index first_row(Index b) const { return b * block_rows(); }
  Index rows_in(Index b) const { return std::min(block_rows(), rows() - first_row(b)); }
  bool is_sparse() const { return storage_->sparse(); }

  RowBlock block(Index b, Scratch& scratch) const { return storage_->block(b, scratch); }
  void multiply(Index b, ConstMatrixView w, MatrixView out) const { storage_->multiply(b, w, out); }
  void multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const {
    storage_->multiply_transposed(b, v, acc);
  }

  /// These rows, in this order; keeps names and sparsity.
  Features take(std::span<const Index> rows) const;
  /// The same as one dense matrix; memory is checked. For samples.
  Matrix copy(std::span<const Index> rows) const;
  /// The first `rows` rows, without copying.
  Features head(Index rows) const;
  /// These columns, in this order; -1 stands for a column of zeros. Keeps sparsity; computed on demand if the storage
  /// is not resident.
  Features columns(std::span<const Index> columns, std::vector<std::string> names, const Context& context) const;
  /// Row-wise map to `cols` new columns: `map(x_block, out_block)`. Computed at once if this is resident and the result
  /// fits in memory, otherwise on demand, block by block.
  using BlockMap = std::function<void(ConstMatrixMap x, MatrixView out)>;
  Features map(Index cols, std::vector<std::string> names, BlockMap map, const Context& context) const;
  /// Columns multiplied by `factor` (one per column); keeps sparsity.
  Features scaled(ConstVectorView factor, const Context& context) const;

  std::string name(Index column) const;
  /// All names (generated if there are none).
  std::vector<std::string> names() const;
  const FeatureStorage& storage() const { return *storage_; }
  const std::shared_ptr<const FeatureStorage>& shared_storage() const { return storage_; }
  /// All rows as one dense matrix; memory is checked. For small data and tests.
  Matrix to_matrix() const;

 private:
  std::shared_ptr<const FeatureStorage> storage_;
  std::shared_ptr<const std::vector<std::string>> names_;
};

/// First NaN or infinity in row order, or row = -1.
struct NonFinite {
  Index row = -1;
  Index column = -1;
  double value = 0;

  void merge(const NonFinite& later) {
    if (row < 0) *this = later;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(row, column, value);
  }
};
NonFinite find_non_finite(const Features& x, const Context& context);

}  // namespace ecotone
