#pragma once

#include <string_view>

#include "ecotone/base/context.h"

namespace ecotone {

/// What an observer also implements if it shows what the run is working on.
class AtHand {
 public:
  virtual ~AtHand() = default;
  /// A part of the work begins, such as a pipeline with a domain held out; of parts that run at once, the latest. Calls
  /// come from any thread; implementations must lock.
  virtual void at_hand(std::string_view part) = 0;
};

/// Tells the context's observer, if it wants to know. `part` is a function, so that no text is made in vain.
template <class Part>
void tell_at_hand(const Context& context, Part&& part) {
  if (auto* shown = dynamic_cast<AtHand*>(context.observer())) shown->at_hand(part());
}

}  // namespace ecotone
