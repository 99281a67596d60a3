#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ecotone/data/features.h"

namespace ecotone {

/// Copies base rows `wanted` to the rows of `out`; each block of the base is read once for a run of rows in it.
void gather_rows(const FeatureStorage& base, std::span<const Index> wanted, MatrixView out, Scratch& scratch);

/// Chosen rows of a storage in a file, gathered whenever a block is read.
class SubsetStorage final : public FeatureStorage {
 public:
  SubsetStorage(std::shared_ptr<const FeatureStorage> base, std::vector<Index> rows)
      : base_(std::move(base)), rows_(std::move(rows)) {}

  Index rows() const override { return static_cast<Index>(rows_.size()); }
  Index cols() const override { return base_->cols(); }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;

 private:
  std::shared_ptr<const FeatureStorage> base_;
  std::vector<Index> rows_;
};

/// Rows of a storage in a file: the storage itself if they are all rows in order; a dense copy if that takes less than
/// half of the memory; otherwise gathered on demand.
std::shared_ptr<const FeatureStorage> take_from_file(std::shared_ptr<const FeatureStorage> base,
                                                     std::span<const Index> rows);

/// As x.take(rows); rows in memory or in a mapped file are copied on all threads.
Features take_rows(const Features& x, std::span<const Index> rows, const Context& context);

}  // namespace ecotone
