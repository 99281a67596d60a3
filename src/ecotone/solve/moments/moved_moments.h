#pragma once

#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/moments.h"

/// The moments of what linear maps make of rows, without the rows. All keep the Gram matrices of double precision and
/// refuse none: moments without Gram matrices stay so.
namespace ecotone {

/// Of z = (x - centre) * factor, column by column.
Moments moved_moments(const Moments& moments, ConstVectorView centre, ConstVectorView factor, const Context& context);

/// Of these columns, in this order; -1 stands for a column of zeros.
Moments taken_moments(const Moments& moments, std::span<const Index> columns, std::vector<std::string> names);

/// Of z = B'x, with B p x q.
Moments projected_moments(const Moments& moments, const Matrix& b, std::vector<std::string> names,
                          const Context& context);

/// X'X of a group, both triangles.
Matrix gram_of(const Moments& moments, Index group);

}  // namespace ecotone
