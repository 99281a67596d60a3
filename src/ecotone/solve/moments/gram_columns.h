#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/moments.h"

namespace ecotone {

/// Columns of E[x x'|d] for the labelled groups d, computed on demand and kept: column j is a g x p matrix whose row d
/// is E[x x_j|d]. The p x p matrices need not exist.
class GramColumns {
 public:
  virtual ~GramColumns() = default;

  /// Computes the missing columns in one pass over the data. Data error `not_enough_memory`.
  void fetch(std::span<const Index> wanted, const Context& context);
  bool has(Index j) const { return kept_.contains(j); }
  const Matrix& column(Index j) const { return kept_.at(j); }
  Index count() const { return static_cast<Index>(kept_.size()); }
  /// Number of columns that cost little more than one in a single pass: callers that guess the next ones may request
  /// them too.
  virtual Index batch() const { return 1; }

 protected:
  GramColumns(Index groups, Index cols) : groups_(groups), cols_(cols) {}
  virtual std::vector<Matrix> compute(std::span<const Index> columns, const Context& context) const = 0;

  Index groups_;
  Index cols_;

 private:
  std::unordered_map<Index, Matrix> kept_;
};

/// From the Gram matrices of the moments, which must outlive the result.
std::unique_ptr<GramColumns> columns_of_grams(const Moments& moments);
/// From the rows, dense or sparse; `moments` must be theirs. Both must outlive the result.
std::unique_ptr<GramColumns> columns_of_rows(const MomentRows& rows, const Moments& moments);

/// Indices of the groups that have labels, in order.
std::vector<Index> labelled_list(const Moments& moments);

}  // namespace ecotone
