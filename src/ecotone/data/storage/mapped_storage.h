#pragma once

#include <memory>

#include "ecotone/base/files/tensor_file.h"
#include "ecotone/data/features.h"

namespace ecotone {

/// Dense features in a mapped `.eco` file.
class MappedStorage final : public FeatureStorage, public std::enable_shared_from_this<MappedStorage> {
 public:
  /// `x` must be an F64 matrix of `file`, which is kept.
  MappedStorage(TensorFile file, TensorView x) : file_(std::move(file)), x_(std::move(x)) {}

  Index rows() const override { return x_.shape[0]; }
  Index cols() const override { return x_.shape[1]; }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool in_file() const override { return true; }

 private:
  TensorFile file_;
  TensorView x_;
};

}  // namespace ecotone
