#include "ecotone/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "ecotone/base/error.h"

namespace ecotone {
namespace memory_test {

TEST(TakePages, TouchesTheMemoryAndNothingElse) {
  for (const int threads : {1, 2, 7})
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{9} << 20}) {
      const auto memory = std::make_unique<char[]>(bytes + 2);
      memory[0] = memory[bytes + 1] = 'x';
      take_pages(memory.get() + 1, bytes, Context({.threads = threads}));
      EXPECT_EQ(memory[0], 'x');
      EXPECT_EQ(memory[bytes + 1], 'x');
    }
}

/// `ulimit -v` counts as well: what it leaves is what can be taken.
TEST(AvailableMemory, EndsAtTheLimitOfTheAddressSpace) {
  const pid_t child = fork();
  if (child == 0) {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages;
    const std::size_t limit = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{100} << 20);
    const rlimit space{limit, limit};
    if (setrlimit(RLIMIT_AS, &space) != 0) _exit(2);
    const std::size_t there = available_memory();
    if (there > (std::size_t{100} << 20) || there < (std::size_t{50} << 20)) _exit(3);
    try {
      require_memory(std::size_t{200} << 20, "test", "a matrix", "use less");
    } catch (const Error& error) {
      _exit(error.code() == "not_enough_memory" ? 0 : 4);
    }
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace memory_test
}  // namespace ecotone
