#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/gram_columns.h"
#include "ecotone/solve/moments/moments.h"

/// Invariant causal prediction: which sets of features predict the label by the same linear rule in every group of rows
/// (domain), after peters2016. Needs moments of the groups alone.
namespace ecotone {

/// chow: does a group fit the rule of all others, by an F test that is exact for normal errors; residual: are means and
/// variances of the residuals of the rule of all rows the same in a group as in the others.
enum class IcpTest { chow, residual };
std::string_view icp_test_name(IcpTest test);

struct IcpOptions {
  IcpTest test = IcpTest::chow;
  double alpha = 0.05;
  Index most = 12;  ///< features that are looked at; all subsets of them are tested
};

struct IcpSet {
  std::vector<Index> features;
  double p = 0;           ///< that the rule is the same in all groups; 1 where there are too few rows to test
  bool accepted = false;  ///< p is above alpha
};

struct IcpResult {
  std::vector<Index> screened;  ///< the features that were looked at, ascending
  bool all = true;              ///< whether these are all features
  std::vector<IcpSet> sets;     ///< all subsets of them, small ones first
  std::vector<Index> selected;  ///< what all accepted sets share
  bool found = true;            ///< whether any set is accepted
  Index best = -1;              ///< the accepted set of largest p, a place in `sets`; -1: none
  Index untested = 0;           ///< sets with too few rows
  Vector pvalue;                ///< of each screened feature: the largest p of a set without it
  Vector weights;               ///< least squares of all rows on the selected features
  double offset = 0;
};

/// Data error `needs_two_domains`.
IcpResult invariant_sets(const Moments& moments, GramColumns& columns, const IcpOptions& options, std::string_view who,
                         const Context& context);

/// The first `count` features that enter the lasso path of all rows, in that order; fewer if the path ends.
std::vector<Index> lasso_entries(const Moments& moments, GramColumns& columns, Index count, const Context& context);

}  // namespace ecotone
