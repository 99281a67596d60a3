#pragma once

#include <cstddef>
#include <string_view>

#include "ecotone/base/context.h"

namespace ecotone {

/// Memory that could be taken now without swapping: the smaller of MemAvailable and what the cgroup leaves.
std::size_t available_memory();
/// Throws the data error `not_enough_memory` when `bytes` exceed what is available: «WHO: WHAT needs 7.5 GB, 3.1 GB
/// is available; ADVICE».
void require_memory(std::size_t bytes, std::string_view who, std::string_view what, std::string_view advice);
/// Asks for large pages under memory that is about to be filled: fewer page faults while it is filled, and faster
/// reading later. Where the system has none nothing changes.
void prefer_large_pages(void* begin, std::size_t bytes);
/// Lets the process keep up to 512 MB of freed memory instead of giving it back and asking for it again at every
/// iteration. A process-wide setting: programs call it once, the library never does.
void keep_freed_memory();
/// Takes the pages under memory that is about to be filled from the system, on all threads: large ones where there are
/// any, each by one thread. Threads that write to the same new page at once would all clear one and keep the first.
/// What the memory holds afterwards is arbitrary.
void take_pages(void* begin, std::size_t bytes, const Context& context);

}  // namespace ecotone
