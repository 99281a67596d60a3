#include "ecotone/base/memory.h"

#include <gtest/gtest.h>

#include <memory>

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

}  // namespace memory_test
}  // namespace ecotone
