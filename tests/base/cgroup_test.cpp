#include "ecotone/base/cgroup.h"

#include "base/temp_folder.h"

namespace ecotone {
namespace cgroup_test {

void put_in(const TempFolder& folder, const std::string& group, const std::string& file, const std::string& text) {
  std::filesystem::create_directories(folder / group);
  put(folder / (group + "/" + file), text);
}

TEST(Cgroup, NoLimits) {
  const TempFolder folder;
  for (const char* membership : {"", "0::/\n", "0::/a/b\n", "garbage\n:\n::\n", "0::/../x\n"}) {
    const Cgroup group(folder.path(), membership);
    EXPECT_FALSE(group.cpus()) << membership;
    EXPECT_FALSE(group.memory_left()) << membership;
  }
  put_in(folder, "a", "cpu.max", "max 100000\n");
  put_in(folder, "a", "memory.max", "max\n");
  EXPECT_FALSE(Cgroup(folder.path(), "0::/a\n").cpus());
  EXPECT_FALSE(Cgroup(folder.path(), "0::/a\n").memory_left());
}

TEST(Cgroup, Version2TakesTheTightestOnTheWayUp) {
  const TempFolder folder;
  put_in(folder, "a", "cpu.max", "150000 100000\n");
  put_in(folder, "a/b", "cpu.max", "400000 100000\n");
  put_in(folder, "a", "memory.max", "1000000\n");
  put_in(folder, "a", "memory.current", "700000\n");
  put_in(folder, "a", "memory.stat", "anon 5\ninactive_file 100000\nactive_file 50000\nfile 9\n");
  put_in(folder, "a/b", "memory.max", "max\n");
  const Cgroup group(folder.path(), "0::/a/b\n");
  EXPECT_DOUBLE_EQ(group.cpus().value(), 1.5);
  EXPECT_EQ(group.memory_left().value(), 450000U);
  // Limits at the root are what a container sees.
  put_in(folder, ".", "memory.max", "200000\n");
  put_in(folder, ".", "memory.current", "250000\n");
  EXPECT_EQ(Cgroup(folder.path(), "0::/a/b\n").memory_left().value(), 0U);
  EXPECT_EQ(Cgroup(folder.path(), "0::/\n").memory_left().value(), 0U);
}

TEST(Cgroup, Version1) {
  const TempFolder folder;
  const std::string membership = "5:cpuacct,cpu:/job\n4:memory:/job\n1:name=systemd:/x\n";
  put_in(folder, "cpu/job", "cpu.cfs_quota_us", "-1\n");
  put_in(folder, "cpu/job", "cpu.cfs_period_us", "100000\n");
  put_in(folder, "memory/job", "memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(Cgroup(folder.path(), membership).cpus());
  EXPECT_FALSE(Cgroup(folder.path(), membership).memory_left());
  put_in(folder, "cpu/job", "cpu.cfs_quota_us", "250000\n");
  put_in(folder, "memory/job", "memory.limit_in_bytes", "5000\n");
  put_in(folder, "memory/job", "memory.usage_in_bytes", "4000\n");
  put_in(folder, "memory/job", "memory.stat", "total_inactive_file 500\ninactive_file 7\n");
  EXPECT_DOUBLE_EQ(Cgroup(folder.path(), membership).cpus().value(), 2.5);
  EXPECT_EQ(Cgroup(folder.path(), membership).memory_left().value(), 1500U);
}

}  // namespace cgroup_test
}  // namespace ecotone
