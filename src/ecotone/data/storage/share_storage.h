#pragma once

#include <memory>

#include "ecotone/base/blocks.h"
#include "ecotone/data/features.h"

namespace ecotone {

/// Features of a file of which this rank keeps its own blocks in memory; the others are read when they are asked for.
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
  std::shared_ptr<const FeatureStorage> file_;
  Share own_;  // blocks
  Matrix x_;   // their rows
};

}  // namespace ecotone
