#pragma once

#include <optional>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/paths/greedy.h"

/// How well a path ranks rows, after each of its steps: AUROC needs the rows, the moments do not have it.
namespace ecotone {

/// Of rows whose y is -1 or +1, all together; empty values where y has one of them only or other values.
std::vector<std::optional<double>> path_auroc(const Features& x, ConstVectorView y, const PathResult& path,
                                              const Context& context);

/// Mean over groups of the AUROC of each group's rows by the path that was not given it (folds, one per labelled
/// group); sizes 1 .. steps. A path that ended early stays as it was.
std::vector<std::optional<double>> left_out_auroc(const MomentRows& rows, const std::vector<Index>& labelled,
                                                  const std::vector<PathResult>& folds, Index steps,
                                                  const Context& context);

}  // namespace ecotone
