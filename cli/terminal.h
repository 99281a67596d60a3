#pragma once

#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/base/progress.h"
#include "ecotone/methods/stage_times.h"

namespace ecotone::cli {

/// Writes a run's messages to standard error: each warning and note once, a progress bar only on a terminal.
class Terminal : public Observer, public StageTimes {
 public:
  /// `quiet` suppresses notes and bars, but not warnings.
  explicit Terminal(bool quiet);
  ~Terminal() override;

  void warning(std::string_view code, std::string_view message) override;
  void note(std::string_view message) override;
  void progress(std::string_view what, Index done, Index total) override;
  void stage_time(std::string_view stage, double seconds) override;

  /// Writes one line, clearing the progress bar first.
  void line(std::string_view text);
  void clear_bar();

  /// All warnings so far, [{code, message}], sorted, because threads may report them in any order.
  Json warnings() const;
  /// "impute 0.002 s, logistic 0.130 s (16 fits)"; empty if nothing was fitted.
  std::string stage_times() const;
  /// All notes so far, sorted.
  Json notes() const;

 private:
  void write_line(std::string_view text);
  void erase_bar();

  mutable std::mutex mutex_;
  bool quiet_;
  bool bars_;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point drawn_{};
  std::chrono::steady_clock::time_point begun_;
  std::set<std::pair<std::string, std::string>> warnings_;
  std::set<std::string> notes_;
  /// What fitting the stages of one method took.
  struct StageTime {
    std::string stage;
    double seconds = 0;
    Index fits = 0;
  };
  std::vector<StageTime> stage_times_;  ///< in order of first appearance
};

}  // namespace ecotone::cli
