#pragma once

#include <string>
#include <vector>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/tune/tune_folds.h"

namespace ecotone {

/// A point's penalties, and its text without them.
struct PathPlace {
  std::string group;            ///< equal for points that differ only in penalties
  std::vector<double> penalty;  ///< the larger, the simpler; a cost stands with its sign reversed
};
PathPlace place_of(const Pipeline& pipeline);

/// The metrics of one point on one fold, or the reason why there are none.
struct FoldScore {
  Metrics metrics;
  std::string error_code, error;
};

struct PointScores {
  std::vector<std::vector<FoldScore>> points;  ///< by point, then fold
  std::vector<FoldScore> constant;             ///< of the learner `constant`, by fold
};

/// Folds run in parallel, at most `at_most` at once (0: as many as there are threads). The journal (null: none) keeps
/// finished paths: the points of a fold that differ only in penalties.
PointScores fit_points(const Dataset& data, const std::vector<Pipeline>& points, const TuneFolds& folds, int at_most,
                       Journal* journal, const Context& context);

}  // namespace ecotone
