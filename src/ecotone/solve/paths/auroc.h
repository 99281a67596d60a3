#pragma once

#include <optional>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/paths/greedy.h"
#include "ecotone/solve/paths/left_out.h"

/// How well a path ranks rows after each of its steps: AUROC needs the rows, the moments are not enough.
namespace ecotone {

/// For rows whose y is -1 or +1, all together; values are empty if y takes only one of these, or other values.
std::vector<std::optional<double>> path_auroc(const Features& x, ConstVectorView y, const PathResult& path,
                                              const Context& context);

/// AUROC of the rows of each group under the path that was fitted without it (folds, one per labelled group), averaged
/// over groups; sizes 1 .. steps. A path that ended early keeps its last value. Paths that were fitted on rows of their
/// own, `refitted`, are judged on these.
std::vector<std::optional<double>> left_out_auroc(const MomentRows& rows, const RefittedRows& refitted,
                                                  const std::vector<Index>& labelled,
                                                  const std::vector<PathResult>& folds, Index steps,
                                                  const Context& context);

}  // namespace ecotone
