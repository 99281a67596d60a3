#pragma once

#include <cstddef>

#include "ecotone/base/context.h"

namespace ecotone {

/// Takes the pages under memory that is about to be filled from the system, on all threads: large ones where there are
/// any, each by one thread. Threads that write to the same new page at once would all clear one and keep the first.
/// What the memory holds afterwards is arbitrary.
void take_pages(void* begin, std::size_t bytes, const Context& context);

}  // namespace ecotone
