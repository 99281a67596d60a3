// What `streamed` promises: a fit on rows in a file takes memory for blocks and a few numbers per row, not for the
// rows.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "ecotone/methods/registry.h"
#include "methods/streamed.h"

namespace ecotone::test {
namespace streamed_slow_test {

/// Anonymous memory of this process: pages of mapped files do not count.
std::size_t anonymous_bytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  std::size_t kilobytes = 0;
  while (file >> word)
    if (word == "RssAnon:" && file >> kilobytes) break;
  return kilobytes * 1024;
}

/// How much more of it there was during a call than before, looked at every millisecond.
template <class Call>
std::size_t more_memory(Call&& call) {
  malloc_trim(0);
  const std::size_t before = anonymous_bytes();
  std::atomic<std::size_t> most{before};
  std::atomic<bool> over{false};
  std::thread watch([&] {
    while (!over) {
      most = std::max(most.load(), anonymous_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  call();
  over = true;
  watch.join();
  return most - before;
}

/// 200,000 rows of 100 columns, 160 MB, in a file; the rows of memory are gone.
const TrainView& large_view() {
  static const TrainView view = [] {
    TrainView made = overlapping(160'000, 100, 2, 4, 40'000);
    made.x = mapped(made.x);
    return made;
  }();
  return view;
}

class StreamedMemory : public testing::TestWithParam<std::string> {};

TEST_P(StreamedMemory, IsForBlocksAndNumbersPerRow) {
  const Method& tested = method(GetParam());
  const TrainView view = suited(tested, large_view());
  const std::string text = alone_with(tested, *options_of_route(tested, Route::streamed));
  const auto size = static_cast<std::size_t>(view.x.rows() * view.x.cols()) * sizeof(double);
  const std::size_t more = more_memory([&] {
    const Model model = fitted(text, view);
    if (model.pipeline().predicts()) model.predict({view.x, view.domain}, context());
  });
  RecordProperty("megabytes", std::to_string(more >> 20));
  EXPECT_LT(more, size / 2) << text << " took " << (more >> 20) << " MB";
}

std::vector<std::string> streamed_names() {
  std::vector<std::string> names;
  for (const Method& each : methods())
    if (options_of_route(each, Route::streamed)) names.push_back(each.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryMethod, StreamedMemory, testing::ValuesIn(streamed_names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace streamed_slow_test
}  // namespace ecotone::test
