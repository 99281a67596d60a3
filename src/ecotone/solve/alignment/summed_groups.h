#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/alignment/group_moments.h"
#include "ecotone/solve/alignment/linear_maps.h"
#include "ecotone/solve/moments/moments.h"

/// Alignment of groups of rows from sums over their rows, without the rows.
namespace ecotone {

/// The moments of all groups of sums that have Gram matrices. A column whose spread is within rounding of its squares
/// does not vary.
std::vector<GroupMoments> summed_groups(const Moments& moments, ScatterKind kind);

/// The sums of shifted rows; `shifts` are of the groups `names`, among which are those of the moments. Moments without
/// Gram matrices stay so.
Moments shifted_moments(const Moments& moments, const std::vector<std::string>& names,
                        const std::vector<GroupShift>& shifts, const Context& context);

}  // namespace ecotone
