#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "ecotone/base/index.h"
#include "ecotone/base/options.h"

/// Which rows to have labelled next (pool-based active learning, Sayed 59.4). A strategy ranks the rows of a pool by
/// how unsure a model is of them (uncertainty.h) and picks rows by that rank, some at random (pick.h).
namespace ecotone {

/// How unsure a model is of a row. For two classes the first four give the same order.
enum class QueryRule {
  least_confidence,  ///< the probability of the likeliest class (59.33), (59.43)
  entropy,           ///< of the probabilities (59.34), (59.40)
  margin,            ///< between the two likeliest classes
  hyperplane,        ///< distance from the boundary between the two highest scores (59.44)
  neighbours,        ///< the vote of the nearest labelled rows (Example 59.6 b)
  random             ///< none: every row is as good
};

/// Options of all strategies.
struct QueryOptions {
  Index batch = 1;
  Index subset = 0;
  double explore = 0.2;
  Index seed_size = 10;
  bool domain_aware = false;
  Index k = 5;
  double apart = 0.1;

  static constexpr auto fields() {
    return std::tuple{
        field("batch", &QueryOptions::batch, "Rows asked between two fits", between(1, 1e6)),
        field("subset", &QueryOptions::subset, "Rank only this many rows of the pool, drawn anew each time; 0: all",
              between(0, 1e9)),
        field(
            "explore", &QueryOptions::explore,
            "Share of rows asked at random, half of them the likelier the farther they are from labelled rows, so that "
            "a region the model is wrongly sure of is found",
            between(0.0, 1.0)),
        field("seed_size", &QueryOptions::seed_size,
              "Rows asked first where none is labelled, from every domain in proportion", between(1, 1e6)),
        field("domain_aware", &QueryOptions::domain_aware,
              "Multiply the uncertainty by how much likelier a row is in the target than in the sources"),
        field("k", &QueryOptions::k, "neighbours: how many labelled rows vote", between(1, 1e6)),
        field("apart", &QueryOptions::apart,
              "Least distance between two rows of a batch, as a share of the median distance of rows; 0: none",
              between(0.0, 1.0))};
  }
};

/// What a rule is called and does.
struct StrategyInfo {
  QueryRule rule;
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
};
/// All rules, in the order of the enum.
std::span<const StrategyInfo> strategy_infos();

/// A rule with its options. Text form: `entropy batch=5 explore=0.1`.
struct Strategy {
  QueryRule rule = QueryRule::least_confidence;
  QueryOptions options;

  /// Option errors `unknown_strategy` (with a suggestion), `unknown_option`, `bad_option`, `repeated_option`, and
  /// `bad_strategy` for text that is not of this form.
  static Strategy parse(std::string_view text);
  /// Options that differ from their defaults, in the order of their declaration.
  std::string text() const;
};

}  // namespace ecotone
