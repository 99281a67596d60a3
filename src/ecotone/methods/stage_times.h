#pragma once

#include <string_view>

#include "ecotone/base/context.h"

namespace ecotone {

/// What an observer also implements if it wants to know how long fitting took, stage by stage. Times are not results.
class StageTimes {
 public:
  virtual ~StageTimes() = default;
  /// Calls come from any thread; implementations must lock.
  virtual void stage_time(std::string_view stage, double seconds) = 0;
};

/// The context's observer, if it wants times; else null.
inline StageTimes* stage_times(const Context& context) { return dynamic_cast<StageTimes*>(context.observer()); }

}  // namespace ecotone
