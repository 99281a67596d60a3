#include "ecotone/base/progress.h"

#include <mutex>
#include <vector>

#include "base/temp_folder.h"
#include "ecotone/base/context.h"

namespace ecotone {
namespace progress_test {

class Recorder : public Observer {
 public:
  void warning(std::string_view code, std::string_view message) override {
    add("warning " + std::string(code), message);
  }
  void note(std::string_view message) override { add("note", message); }
  void progress(std::string_view what, Index done, Index total) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(what, "rows");
    EXPECT_LE(done, total);
    steps.push_back(done);
  }
  std::vector<std::string> lines;
  std::vector<Index> steps;

 private:
  std::mutex mutex_;
  void add(const std::string& kind, std::string_view message) {
    const std::lock_guard lock(mutex_);
    lines.push_back(kind + ": " + std::string(message));
  }
};

TEST(Progress, TellsAboutEachWholePercentOnce) {
  Recorder recorder;
  {
    Progress bar(&recorder, "rows", 1000);
    for (int i = 0; i < 1000; ++i) bar.advance();
  }
  ASSERT_EQ(recorder.steps.size(), 101U);
  for (Index i = 0; i <= 100; ++i) EXPECT_EQ(recorder.steps[static_cast<std::size_t>(i)], 10 * i);
}

TEST(Progress, AnUnfinishedBarIsEnded) {
  Recorder recorder;
  {
    Progress bar(&recorder, "rows", 10);
    bar.advance(4);
  }
  EXPECT_EQ(recorder.steps, (std::vector<Index>{0, 4, 10}));
}

TEST(Progress, NothingToDoOrNobodyToTellIsSilent) {
  Recorder recorder;
  Progress none(&recorder, "rows", 0);
  none.advance();
  Progress nobody(nullptr, "rows", 5);
  nobody.advance(5);
  EXPECT_TRUE(recorder.steps.empty());
}

TEST(Progress, CountsFromAllThreads) {
  Recorder recorder;
  const Context context({.threads = 4, .observer = &recorder});
  Progress bar(context.observer(), "rows", 500);
  context.parallel(500, [&](Index) { bar.advance(); });
  EXPECT_LE(recorder.steps.size(), 101U);
  EXPECT_TRUE(std::is_sorted(recorder.steps.begin(), recorder.steps.end()));
  EXPECT_EQ(recorder.steps.back(), 500);
}

TEST(Context, WarningsAndNotesReachTheObserver) {
  Recorder recorder;
  const Context context({.threads = 1, .observer = &recorder});
  context.warn("unseen_category", "column {}: {} rows", "smoker", 3);
  context.note("task: {}", "classify");
  context.observed_by(nullptr).note("not shown");
  context.derived("fold", 1).note("shown");
  EXPECT_EQ(recorder.lines, (std::vector<std::string>{"warning unseen_category: column smoker: 3 rows",
                                                      "note: task: classify", "note: shown"}));
  Context().warn("x", "nobody listens");
}

}  // namespace progress_test
}  // namespace ecotone
