#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/score.h"

namespace ecotone {

/// A learner that is no pipeline of the library and answered the splits of `make_splits` itself.
struct Outsider {
  std::string name;
  std::vector<Outcome> answers;  ///< one per split, in their order
  std::optional<Error> error;    ///< why there are none
};

/// What has a column in the table of an evaluation.
using Contender = std::variant<PipelineGrid, Outsider>;

/// `evaluate_grids` with outsiders beside the grids, scored and compared alike. A threshold rule needs fits within the
/// training rows, so outsiders have no metrics at a threshold unless their answers bring one.
Evaluation evaluate_contenders(const Dataset& data, const std::vector<Contender>& contenders,
                               const EvaluateOptions& options, const Context& context);

}  // namespace ecotone
