#pragma once

#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/evaluate/tune/tune_fits.h"

namespace ecotone {

/// The summary of a point over its folds; without a mean if it could not be fitted on one.
TunePoint summary_of(const Pipeline& pipeline, const std::vector<FoldScore>& scores, const std::string& metric);

/// Fills in the bound of every fold, the scores, the best point, the differences from it and the choice; see `tune`. If
/// no point has a mean, throws the first one's error, or the data error `undefined_metric`.
void choose_point(Tuning& tuning, const std::vector<Pipeline>& points, const std::vector<FoldScore>& constant);

/// Warns (`worse_than_constant`) of folds on which every point is beyond the bound by more than a tenth of it, much
/// worse than a constant prediction.
void warn_of_bounds(const Tuning& tuning, const Context& context);

/// Warns (`edge_of_grid`) for every numeric option whose chosen value is the smallest or largest of those tried with
/// all else equal, and suggests the next ones that it accepts, each at most ten times or a tenth of the one before. Not
/// where one value was tried, and not at a natural limit: 0, or the end of what the option accepts.
void warn_at_edges(const std::vector<Pipeline>& points, std::size_t chosen, const Context& context);

}  // namespace ecotone
