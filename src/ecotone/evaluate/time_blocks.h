#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Rows of neighbouring times.
struct TimeBlock {
  double first = 0;
  double last = 0;
  std::vector<Index> rows;  ///< ascending

  /// "3 to 7.5" or, of dates, "2020-01-01 to 2020-06-30"; "3" if all rows have one time.
  std::string name(bool dates) const;
};

/// The rows in `count` blocks in order of time, as nearly equal in size as equal times, which stay together, allow.
/// Rows without a time (NaN) are in none, which a note reports. Data errors: `no_time` if there are no times,
/// `too_few_times` if there are fewer distinct times than blocks; option error `bad_option` for fewer than two blocks.
std::vector<TimeBlock> time_blocks(const Vector& time, Index count, const Context& context);

}  // namespace ecotone
