#pragma once

#include <cstdint>

#include "ecotone/base/index.h"

namespace ecotone {

/// Largest number of rows per call of the kernel.
inline constexpr Index kernel_rows = 256;

/// Per row: m = y t (y = +1 for class 1, -1 for class 0), loss = ln(1 + exp(-m)), slope = d loss / dt and curvature =
/// d2 loss / dt2, all with a relative error of about 1e-15. Exponents beyond 708 count as 708.
struct LogisticRows {
  const std::int32_t* cls;
  const double* score;
  double* margin;
  double* loss;
  double* slope;
  double* curvature;
};

/// Uses the widest vectors of the processor; results do not depend on how rows are split into calls.
void logistic_rows(const LogisticRows& rows, Index count);

}  // namespace ecotone
