#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/data/features.h"

namespace ecotone {

/// The two rows of each pair.
struct PairRows {
  std::vector<Index> first;
  std::vector<Index> second;

  Index size() const { return static_cast<Index>(first.size()); }
};

/// Column-wise products x_first * x_second of pairs of rows of another storage. Computed whenever a block is read, so
/// memory is that of the rows and the row numbers of the pairs.
class PairStorage final : public FeatureStorage {
 public:
  /// The rows must be rows of the base.
  PairStorage(std::shared_ptr<const FeatureStorage> base, PairRows pairs)
      : base_(std::move(base)), pairs_(std::move(pairs)) {}

  Index rows() const override { return pairs_.size(); }
  Index cols() const override { return base_->cols(); }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool in_file() const override { return base_->in_file(); }

  const std::shared_ptr<const FeatureStorage>& base() const { return base_; }
  const PairRows& pairs() const { return pairs_; }

 private:
  std::shared_ptr<const FeatureStorage> base_;
  PairRows pairs_;
};

/// The products of pairs of these rows, named "pair(x1)", ... Sparse rows give sparse products, which are made at once:
/// memory for the values that the two rows of a pair have in common. Data error `not_enough_memory`.
Features pair_features(const Features& x, PairRows pairs, const Context& context);

/// Whether a name is one that pair_features makes.
bool is_pair_name(std::string_view name);

}  // namespace ecotone
