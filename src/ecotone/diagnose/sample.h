#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/diagnose/domain_moments.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Rows of every domain in random order, standardised over all rows of the data; missing values are NaN.
class ShiftSample {
 public:
  /// Rows of one side of a comparison: positions in the sample, in random order.
  using Rows = std::vector<Index>;

  ShiftSample(const Dataset& data, const DomainMoments& moments, Index rows_per_domain, const Context& context);

  Index domains() const { return static_cast<Index>(held_.size()); }
  Index cols() const { return x_.cols(); }
  /// Rows of a domain in the data.
  Index total(Index domain) const { return total_[static_cast<std::size_t>(domain)]; }
  /// The largest number of rows of one side used in tests.
  Index most() const { return small_; }
  /// Rows of a domain used in tests: all, or `rows_per_domain` of them.
  Rows small(Index domain) const { return first(domain, small_); }
  /// Rows of a domain used by linear-time estimates.
  Rows large(Index domain) const { return first(domain, large_); }
  /// Rows of all other domains, in proportion to their sizes.
  Rows small_rest(Index domain, const Context& context) const { return rest(domain, small_, context); }
  Rows large_rest(Index domain, const Context& context) const { return rest(domain, large_, context); }
  /// The first `rows` of every domain.
  Rows first(Index domain, Index rows) const;

  /// These rows; missing values are 0, the mean.
  Matrix matrix(const Rows& rows) const;
  /// The groups of these rows, then of those; empty: the data have none.
  Groups groups(const Rows& rows, const Rows& more) const;
  /// A feature's values in these rows, ascending, without the missing ones.
  std::vector<double> values(const Rows& rows, Index feature) const;

 private:
  Matrix x_;
  Groups group_;
  std::vector<Index> begin_;  // of each domain in x_
  std::vector<Index> held_;   // rows of each domain in x_
  std::vector<Index> total_;  // rows of each domain in the data
  Index small_;
  Index large_;

  Rows rest(Index domain, Index rows, const Context& context) const;
};

}  // namespace ecotone
