#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"

namespace ecotone {

/// Makes the bytes of pieces 0 .. count-1 on all threads, a few ahead, and passes them on in order: make(b, bytes),
/// then use(bytes).
template <class Make, class Use>
void in_order(Index count, const Context& context, Make&& make, Use&& use) {
  std::vector<std::string> pieces(static_cast<std::size_t>(std::min<Index>(count, 4 * context.threads())));
  for (Index first = 0; first < count; first += static_cast<Index>(pieces.size())) {
    const Index now = std::min<Index>(static_cast<Index>(pieces.size()), count - first);
    context.parallel(now, [&](Index k) {
      std::string& piece = pieces[at(k)];
      piece.clear();
      make(first + k, piece);
    });
    for (Index k = 0; k < now; ++k) use(std::string_view(pieces[at(k)]));
  }
}

}  // namespace ecotone
