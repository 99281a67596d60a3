#pragma once

#include <memory>
#include <span>

#include "ecotone/data/features.h"

namespace ecotone {

/// Features in memory, row by row.
class DenseStorage final : public FeatureStorage {
 public:
  explicit DenseStorage(Matrix x) : x_(std::move(x)) {}

  Index rows() const override { return x_.rows(); }
  Index cols() const override { return x_.cols(); }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool resident() const override { return true; }

 private:
  Matrix x_;
};

}  // namespace ecotone
