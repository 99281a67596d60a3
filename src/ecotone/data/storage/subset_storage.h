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
  bool in_file() const override { return base_->in_file(); }

 private:
  std::shared_ptr<const FeatureStorage> base_;
  std::vector<Index> rows_;
};

/// Whether so many rows of a file are few enough to be copied: at most 16 MB, and half of the free memory. What reads
/// files keeps to blocks and a few numbers per row.
bool copied_from_file(Index rows, Index cols);
/// Rows of a storage in a file: the storage itself if they are all rows in order; a dense copy of few; otherwise
/// gathered on demand.
std::shared_ptr<const FeatureStorage> take_from_file(std::shared_ptr<const FeatureStorage> base,
                                                     std::span<const Index> rows);

/// As x.take(rows); rows in memory are copied on all threads.
Features take_rows(const Features& x, std::span<const Index> rows, const Context& context);

}  // namespace ecotone
