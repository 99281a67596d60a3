#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "ecotone/base/index.h"

namespace ecotone {

/// How far a run has come, in words: what it does, how much is done, how long it took so far and how long it will take,
/// and what is at hand. Knows no clock: everyone who asks says what time it is.
class ProgressText {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit ProgressText(Time begun) : begun_(begun), said_(begun) {}

  /// `done` of `total` units of `what` are finished; another `what` or a smaller `done` begins another count.
  void update(std::string_view what, Index done, Index total, Time now);
  void at_hand(std::string_view part) { part_ = part; }
  /// Whether there is something to show: a count that is not complete.
  bool active() const { return total_ > 0 && done_ < total_; }

  /// Seconds left, if the finished units took as long as the others will; empty until at least two units and a
  /// twentieth of the time are over.
  std::optional<double> seconds_left(Time now) const;

  /// One line of at most `width` columns: a bar, and as much of the rest as there is room for.
  std::string bar(Index width, Time now) const;
  /// The same as a plain line, once a minute; empty when none is due, such as in the first minute of a run.
  std::string line_each_minute(Time now);

 private:
  double percent() const { return total_ > 0 ? 100 * static_cast<double>(done_) / static_cast<double>(total_) : 100; }
  std::string times(Time now) const;

  Time begun_;  ///< the run
  Time said_;   ///< when the last plain line was due
  std::string what_, part_;
  Index done_ = 0, total_ = 0;
  Time count_begun_;  ///< the count
};

}  // namespace ecotone
