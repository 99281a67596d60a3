#include "ecotone/base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "ecotone/base/cgroup.h"
#include "ecotone/base/error.h"

namespace ecotone {

namespace {

std::size_t system_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::size_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(size);
}

/// Bytes left below the limit of the address space (`ulimit -v`), or nothing without a limit.
std::optional<std::size_t> address_space_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;  // all of them, whether in memory or not
  const std::size_t used = pages * static_cast<std::size_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

std::string size_text(std::size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) return fmt::format("{:.1f} kB", value / 1e3);
  if (value < 1e9) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} GB", value / 1e9);
}

}  // namespace

std::size_t available_memory() {
  std::size_t least = system_memory();
  for (const auto& left : {Cgroup().memory_left(), address_space_left()})
    if (left) least = std::min(least, *left);
  return least;
}

namespace {

/// Whether little is asked for and there was plenty a moment ago: reading what the system says takes a tenth of a
/// millisecond, which many small fits in a row would feel.
bool is_surely_there(std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  constexpr auto moment = std::chrono::milliseconds(50);
  constexpr std::size_t part = 64;
  static std::atomic<std::size_t> plenty{0};
  static std::atomic<Clock::rep> until{Clock::time_point::min().time_since_epoch().count()};
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() >= until.load(std::memory_order_acquire)) {
    plenty.store(available_memory(), std::memory_order_relaxed);
    until.store((now + moment).time_since_epoch().count(), std::memory_order_release);
  }
  return bytes <= plenty.load(std::memory_order_relaxed) / part;
}

}  // namespace

bool fits_in_memory(std::size_t bytes) { return is_surely_there(bytes) || bytes <= available_memory(); }

void require_memory(std::size_t bytes, std::string_view who, std::string_view what, std::string_view advice) {
  // Below this the check would cost more than the allocation.
  constexpr std::size_t always_there = std::size_t{1} << 20;
  if (bytes <= always_there || is_surely_there(bytes)) return;
  const std::size_t there = available_memory();
  if (bytes <= there) return;
  data_error("not_enough_memory", "{}: {} needs {}, but only {} is available; {}", who, what, size_text(bytes),
             size_text(there), advice);
}

void take_pages(void* begin, std::size_t bytes, const Context& context) {
  constexpr std::uintptr_t large = std::uintptr_t{1} << 21, small = 4096;
  if (bytes < 2 * large) return;
  prefer_large_pages(begin, bytes);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t last = first + bytes;
  context.parallel(static_cast<Index>(last / large - first / large + 1), [&](Index page) {
    const std::uintptr_t from = std::max(first, (first / large + static_cast<std::uintptr_t>(page)) * large);
    const std::uintptr_t to = std::min(last, (first / large + static_cast<std::uintptr_t>(page) + 1) * large);
    for (std::uintptr_t at = from; at < to; at += small) *reinterpret_cast<volatile char*>(at) = 0;
  });
}

}  // namespace ecotone
