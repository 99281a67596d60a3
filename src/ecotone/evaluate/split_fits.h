#pragma once

#include <optional>
#include <vector>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/score.h"

namespace ecotone {

/// What one pipeline or grid made of one split.
struct SplitFit {
  Outcome outcome;
  std::optional<SplitChoice> choice;  ///< of a grid with several points
  std::vector<double> importance;     ///< of each column, if asked for (importance.h)
  std::string promise = {};           ///< of its sets, in words; empty if it makes none
  std::optional<Error> error;         ///< why there is no outcome: a data or option error of the choice or the fit
};

/// By pipeline, then split. Fits run in parallel, their messages are passed on in order. Not enough memory and errors
/// other than those of data and options are thrown.
std::vector<std::vector<SplitFit>> fit_splits(const Dataset& data, const std::vector<PipelineGrid>& grids,
                                              const std::vector<Split>& splits, const EvaluateOptions& options,
                                              const Context& context);

}  // namespace ecotone
