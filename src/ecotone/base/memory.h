#pragma once

#include <cstddef>
#include <string_view>

#include "ecotone/base/context.h"

namespace ecotone {

/// Memory that can be taken now without swapping: the least that MemAvailable, the cgroup and `ulimit -v` leave.
std::size_t available_memory();
/// Whether this much can be taken now. Cheap where it is a small part of what there was a moment ago.
bool fits_in_memory(std::size_t bytes);
/// Throws the data error `not_enough_memory` if `bytes` exceeds the available memory: "WHO: WHAT needs 7.5 GB, but only
/// 3.1 GB is available; ADVICE".
void require_memory(std::size_t bytes, std::string_view who, std::string_view what, std::string_view advice);
/// Requests large pages for memory that is about to be filled: fewer page faults while filling it, and faster reads
/// later. Does nothing where the system has no large pages.
void prefer_large_pages(void* begin, std::size_t bytes);
/// Lets the process keep up to 512 MB of freed memory instead of returning it and requesting it again at every
/// iteration. A process-wide setting: programs call it once, the library never does.
void keep_freed_memory();
/// Takes the pages of memory that is about to be filled from the system, on all threads: large pages where available,
/// each touched by one thread. (Threads that write to the same new page at once would each clear a page and keep only
/// the first.) The content of the memory is arbitrary afterwards.
void take_pages(void* begin, std::size_t bytes, const Context& context);

}  // namespace ecotone
