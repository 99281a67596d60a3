// Every registered method on several ranks: the same bytes as on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rank_threads.h"
#include "ecotone/methods/registry.h"
#include "methods/streamed.h"

namespace ecotone::test {
namespace ranks_test {

std::string bytes_on(Communicator* ranks, const std::string& text, const TrainView& view) {
  return fitted(text, view, Context({.threads = 1, .seed = 1, .ranks = ranks})).bytes();
}

class OnRanks : public testing::TestWithParam<std::string> {};

/// Also those that do not say `ranks`: each rank then does the whole work.
TEST_P(OnRanks, TheModelIsThatOfOne) {
  const Method& tested = method(GetParam());
  const auto route = options_of_route(tested, Route::ranks);
  // Where ranks share sums, enough blocks for a tree of them.
  const TrainView view = suited(tested, overlapping(route ? 3800 : 900, 6, 2, 4, 200));
  const std::string text = "scale | " + alone_with(tested, route.value_or(""));
  const std::string expected = bytes_on(nullptr, text, view);
  for (const int size : route ? std::vector<int>{2, 3, 4} : std::vector<int>{3})
    RankThreads(size).run([&](Communicator& ranks) {
      EXPECT_TRUE(bytes_on(&ranks, text, view) == expected) << text << " on " << size << " ranks";
    });
}

INSTANTIATE_TEST_SUITE_P(EveryMethod, OnRanks, testing::ValuesIn(method_names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace ranks_test
}  // namespace ecotone::test
