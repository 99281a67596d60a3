#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace ecotone {

/// The limits that the control groups of this process (version 1 or 2) impose: the tightest of its group and all groups
/// above it.
class Cgroup {
 public:
  /// The groups of this process.
  Cgroup();
  /// `root` is where the controllers are mounted, `membership` the text of the process's `cgroup` file. For tests.
  Cgroup(std::filesystem::path root, std::string_view membership);

  /// CPU quota in processors; empty without a quota.
  std::optional<double> cpus() const;
  /// Bytes left below the memory limit, counting the file cache as free; empty without a limit.
  std::optional<std::size_t> memory_left() const;

 private:
  std::filesystem::path root_;
  std::filesystem::path unified_, cpu_, memory_;  // folders of the groups; empty when there is none
};

/// Processors that this process may use: the affinity mask and the cgroup's quota (rounded up), at least 1.
int cpu_limit();

}  // namespace ecotone
