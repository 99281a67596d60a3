#include "ecotone/base/pool.h"

#include <gtest/gtest.h>

#include <thread>

namespace ecotone {
namespace pool_test {

struct Counted {
  static inline std::atomic<int> made = 0;
  Counted() { ++made; }
};

TEST(Pool, ThreadsThatFollowEachOtherShareAnItem) {
  Counted::made = 0;
  Pool<Counted> pool;
  for (int k = 0; k < 20; ++k) std::thread([&] { const auto item = pool.borrow(); }).join();
  EXPECT_EQ(Counted::made, 1);
}

TEST(Pool, ItemsInUseAreNotShared) {
  Counted::made = 0;
  Pool<Counted> pool;
  {
    const auto a = pool.borrow();
    const auto b = pool.borrow();
    EXPECT_NE(&*a, &*b);
  }
  const auto again = pool.borrow();
  EXPECT_EQ(Counted::made, 2);
}

}  // namespace pool_test
}  // namespace ecotone
