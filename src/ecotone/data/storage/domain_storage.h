#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ecotone/data/features.h"

namespace ecotone {

/// A map of rows that takes the domain of each row into account, computed whenever a block is read: out = map(x,
/// domains of x).
class DomainStorage final : public FeatureStorage {
 public:
  using Map = std::function<void(ConstMatrixMap x, std::span<const std::int32_t> domain, MatrixView out)>;

  DomainStorage(std::shared_ptr<const FeatureStorage> base, std::vector<std::int32_t> domain, Index cols, Map map);

  Index rows() const override { return base_->rows(); }
  Index cols() const override { return cols_; }
  RowBlock block(Index b, Scratch& scratch) const override;
  /// Copies rows of the base, not of the mapped features.
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool in_file() const override { return base_->in_file(); }

 private:
  std::shared_ptr<const FeatureStorage> base_;
  std::vector<std::int32_t> domain_;
  Index cols_;
  Map map_;
};

}  // namespace ecotone
