#pragma once

#include <memory>

#include "ecotone/data/features.h"

namespace ecotone {

/// Another storage with some neighbouring columns replaced; the others are read from it, so nothing else is copied.
class ReplacedStorage final : public FeatureStorage {
 public:
  /// `values` takes the place of columns [first, first + values.cols()), row by row.
  ReplacedStorage(std::shared_ptr<const FeatureStorage> base, Index first, Matrix values);

  Index rows() const override { return base_->rows(); }
  Index cols() const override { return base_->cols(); }
  RowBlock block(Index b, Scratch& scratch) const override;
  bool resident() const override { return base_->resident(); }
  bool in_file() const override { return base_->in_file(); }

 private:
  std::shared_ptr<const FeatureStorage> base_;
  Index first_;
  Matrix values_;
};

/// The features with the columns from `first` on replaced; the names stay.
Features with_values(const Features& x, Index first, Matrix values);
/// The columns [first, first + count) of all rows; memory is checked.
Matrix values_of_columns(const Features& x, Index first, Index count, const Context& context);

}  // namespace ecotone
