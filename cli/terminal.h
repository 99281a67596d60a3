#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/at_hand.h"
#include "ecotone/base/json.h"
#include "ecotone/base/progress.h"
#include "ecotone/base/ticker.h"
#include "ecotone/methods/stage_times.h"
#include "ecotone/report/text/progress_text.h"

namespace ecotone::cli {

/// What a run says: everything, no notes, bars and lines of progress, or nothing at all.
enum class Says { all, warnings, nothing };

/// Writes a run's messages to standard error: each warning and note once, a progress bar on a terminal and elsewhere a
/// line a minute.
class Terminal : public Observer, public StageTimes, public AtHand {
 public:
  explicit Terminal(Says says);
  ~Terminal() override;

  void warning(std::string_view code, std::string_view message) override;
  void note(std::string_view message) override;
  void progress(std::string_view what, Index done, Index total) override;
  void stage_time(std::string_view stage, double seconds) override;
  void at_hand(std::string_view part) override;

  /// Writes a note that is about this run, not about its results: it is not in notes().
  void aside(std::string_view message);
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
  /// Draws the bar again, or writes the line that is due.
  void show_progress();

  mutable std::mutex mutex_;
  Says says_;
  bool bars_;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point drawn_{};
  std::chrono::steady_clock::time_point begun_;
  ProgressText progress_;
  std::set<std::pair<std::string, std::string>> warnings_;
  std::set<std::string> notes_;
  /// What fitting the stages of one method took.
  struct StageTime {
    std::string stage;
    double seconds = 0;
    Index fits = 0;
  };
  std::vector<StageTime> stage_times_;  ///< in order of first appearance
  /// Shows the time go by while nothing else is reported; made when there is progress to show.
  std::optional<Ticker> ticker_;
};

}  // namespace ecotone::cli
