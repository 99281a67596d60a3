#include "ecotone/base/background.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace ecotone {
namespace {

TEST(Background, WorksWhenItIsWoken) {
  std::atomic<int> runs = 0;
  Background background([&] { ++runs; });
  EXPECT_EQ(runs, 0);
  background.wake();
  background.wait();
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(background.busy());
}

TEST(Background, RequestsDuringTheWorkAreOneMoreRun) {
  std::atomic<int> runs = 0;
  std::atomic<bool> go_on = false;
  Background background([&] {
    ++runs;
    while (!go_on) {
    }
  });
  background.wake();
  while (runs == 0) {
  }
  for (int i = 0; i < 10; ++i) background.wake();
  EXPECT_TRUE(background.busy());
  go_on = true;
  background.wait();
  EXPECT_EQ(runs, 2);
}

TEST(Background, KeepsWhatTheWorkThrewUntilItSucceeds) {
  std::atomic<bool> fails = true;
  Background background([&] {
    if (fails) throw std::runtime_error("no luck");
  });
  background.wake();
  background.wait();
  EXPECT_EQ(background.error(), "no luck");
  fails = false;
  background.wake();
  background.wait();
  EXPECT_EQ(background.error(), "");
}

}  // namespace
}  // namespace ecotone
