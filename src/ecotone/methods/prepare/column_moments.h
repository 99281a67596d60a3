#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Statistics of each column over its values that are not NaN; all 0 if it has none.
struct ColumnMoments {
  Vector count;
  Vector mean;
  Vector m2;  ///< sum of squared deviations from the mean
  Vector low;
  Vector high;

  /// Population standard deviation; exactly 0 for a constant column.
  Vector deviation() const;
};

/// Moments of all rows. In sparse features the entries that are not stored are values: zeros.
ColumnMoments column_moments(const Features& x, const Context& context);

}  // namespace ecotone
