#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/data/features.h"

namespace ecotone {

/// Features of a file of which this rank keeps its own blocks in memory. The others are read when they are asked for;
/// those that are asked for again are kept, too, if there is memory for all of them.
class ShareStorage final : public FeatureStorage, public std::enable_shared_from_this<ShareStorage> {
 public:
  /// Reads the blocks of this rank.
  ShareStorage(std::shared_ptr<const FeatureStorage> file, const Context& context);

  Index rows() const override { return file_->rows(); }
  Index cols() const override { return file_->cols(); }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool in_file() const override { return file_->in_file(); }

 private:
  /// A block of another rank.
  struct Foreign {
    std::atomic<int> reads = 0;
    std::atomic<bool> is_kept = false;  // and x is complete
    Matrix x;
  };

  std::shared_ptr<const FeatureStorage> file_;
  Share own_;  // blocks
  Matrix x_;   // their rows
  bool keeps_foreign_ = false;
  mutable std::vector<Foreign> foreign_;  // by number of the block; unused where it is own
};

}  // namespace ecotone
