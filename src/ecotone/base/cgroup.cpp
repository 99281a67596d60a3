#include "ecotone/base/cgroup.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace ecotone {

namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

/// The number in the file, or nothing when it is absent, unlimited (`max`, -1, or v1's huge value) or not a number.
std::optional<double> number_in(const fs::path& path) {
  std::istringstream in(slurp(path));
  double value = 0;
  if (!(in >> value) || value < 0 || value > 0x1p60) return std::nullopt;
  return value;
}

/// Sum over the lines `KEY VALUE` with the given keys.
double stat_sum(const fs::path& path, const std::vector<std::string>& keys) {
  std::istringstream in(slurp(path));
  std::string key;
  double value = 0, sum = 0;
  while (in >> key >> value)
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) sum += value;
  return sum;
}

/// Calls `look` with the group's folder and with each folder above it, up to and including `root`.
void walk_up(const fs::path& root, const fs::path& group, const std::function<void(const fs::path&)>& look) {
  fs::path relative = group.lexically_relative("/").lexically_normal();
  if (relative.empty() || *relative.begin() == "..") relative.clear();
  for (;;) {
    look(root / relative);
    if (relative.empty() || relative == ".") return;
    relative = relative.parent_path();
  }
}

void lower(std::optional<double>& least, std::optional<double> value) {
  if (value) least = least ? std::min(*least, *value) : *value;
}

std::optional<double> cpus_v2(const fs::path& folder) {
  std::istringstream in(slurp(folder / "cpu.max"));
  double quota = 0, period = 0;  // "max 100000" means no quota and fails to parse
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> cpus_v1(const fs::path& folder) {
  const auto quota = number_in(folder / "cpu.cfs_quota_us");
  const auto period = number_in(folder / "cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> left_of(std::optional<double> limit, std::optional<double> used, double cache) {
  if (!limit) return std::nullopt;
  return std::clamp(*limit - used.value_or(0) + cache, 0.0, *limit);
}

std::optional<double> memory_v2(const fs::path& folder) {
  return left_of(number_in(folder / "memory.max"), number_in(folder / "memory.current"),
                 stat_sum(folder / "memory.stat", {"inactive_file", "active_file"}));
}

std::optional<double> memory_v1(const fs::path& folder) {
  return left_of(number_in(folder / "memory.limit_in_bytes"), number_in(folder / "memory.usage_in_bytes"),
                 stat_sum(folder / "memory.stat", {"total_inactive_file", "total_active_file"}));
}

/// Processors in the affinity mask, however many the machine has.
int affinity() {
  for (std::size_t cpus = 1024; cpus <= (std::size_t{1} << 20); cpus *= 2) {
    std::vector<cpu_set_t> mask(cpus / (8 * sizeof(cpu_set_t)));
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

Cgroup::Cgroup() : Cgroup("/sys/fs/cgroup", slurp("/proc/self/cgroup")) {}

Cgroup::Cgroup(fs::path root, std::string_view membership) : root_(std::move(root)) {
  // Lines are NUMBER:CONTROLLERS:PATH; version 2 has one line, with no controllers.
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") unified_ = path;
    if (controllers.find(",cpu,") != std::string::npos) cpu_ = path;
    if (controllers.find(",memory,") != std::string::npos) memory_ = path;
  }
}

std::optional<double> Cgroup::cpus() const {
  std::optional<double> least;
  if (!unified_.empty()) walk_up(root_, unified_, [&](const fs::path& folder) { lower(least, cpus_v2(folder)); });
  if (!cpu_.empty()) walk_up(root_ / "cpu", cpu_, [&](const fs::path& folder) { lower(least, cpus_v1(folder)); });
  return least;
}

std::optional<std::size_t> Cgroup::memory_left() const {
  std::optional<double> least;
  if (!unified_.empty()) walk_up(root_, unified_, [&](const fs::path& folder) { lower(least, memory_v2(folder)); });
  if (!memory_.empty())
    walk_up(root_ / "memory", memory_, [&](const fs::path& folder) { lower(least, memory_v1(folder)); });
  if (!least) return std::nullopt;
  return static_cast<std::size_t>(*least);
}

int cpu_limit() {
  int cpus = std::max(1, affinity());
  if (const auto quota = Cgroup().cpus()) cpus = std::min(cpus, static_cast<int>(std::ceil(std::min(*quota, 1e6))));
  return std::max(1, cpus);
}

}  // namespace ecotone
