#include "ecotone/report/text/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

double seconds_between(ProgressText::Time from, ProgressText::Time to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

/// "0:05", "12:34", "1:02:03".
std::string clock_text(double seconds) {
  const auto all = static_cast<std::int64_t>(seconds);
  if (all < 3600) return fmt::format("{}:{:02}", all / 60, all % 60);
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

/// As coarse as an estimate deserves.
std::string about(double seconds) {
  if (seconds < 60) return "less than a minute";
  const double minutes = std::round(seconds / 60);
  if (minutes < 90) return fmt::format("about {:.0f} min", minutes);
  const double hours = std::round(seconds / 3600);
  if (hours < 48) return fmt::format("about {:.0f} h", hours);
  return fmt::format("about {:.0f} days", std::round(seconds / 86400));
}

}  // namespace

void ProgressText::update(std::string_view what, Index done, Index total, Time now) {
  if (what != what_ || done < done_ || total != total_) {
    count_begun_ = now;
    part_.clear();
  }
  what_ = what;
  done_ = done;
  total_ = total;
}

std::optional<double> ProgressText::seconds_left(Time now) const {
  constexpr Index enough_units = 2;
  constexpr double enough_percent = 5;
  if (!active() || done_ < enough_units || percent() < enough_percent) return {};
  const double each = seconds_between(count_begun_, now) / static_cast<double>(done_);
  return each * static_cast<double>(total_ - done_);
}

std::string ProgressText::times(Time now) const {
  std::string text = clock_text(seconds_between(begun_, now));
  if (const auto left = seconds_left(now)) text += fmt::format(", {} left", about(*left));
  return text;
}

std::string ProgressText::bar(Index width, Time now) const {
  const std::string share = fmt::format("{:3.0f}%", std::floor(percent()));
  const Index cells = std::clamp<Index>(width / 5, 4, 24);
  const auto full = static_cast<Index>(percent() / 100 * static_cast<double>(cells));
  const std::string drawn =
      fmt::format("[{}{}] {}", std::string(at(full), '#'), std::string(at(cells - full), '.'), share);
  const std::string with_what = fmt::format("{} {}", what_, drawn);
  const std::string with_times = fmt::format("{} {}", with_what, times(now));
  // Whatever does not fit is left out, the least important first; only what is at hand is cut.
  constexpr Index shortest_part = 8;
  const Index room = width - display_width(with_times) - 2;
  if (!part_.empty() && room >= shortest_part) return with_times + "  " + display_text(part_, room);
  const std::string with_clock = fmt::format("{} {}", with_what, clock_text(seconds_between(begun_, now)));
  for (const std::string& text : {with_times, with_clock, with_what, drawn})
    if (display_width(text) <= width) return text;
  return display_width(share) <= width ? share : "";
}

std::string ProgressText::line_each_minute(Time now) {
  constexpr std::chrono::minutes minute(1);
  if (now - said_ < minute || !active()) return {};
  said_ += (now - said_) / minute * minute;
  std::string text = fmt::format("{}: {} of {} ({:.0f}%), {}", what_, done_, total_, std::floor(percent()), times(now));
  if (!part_.empty()) text += "; at hand: " + part_;
  return text;
}

}  // namespace ecotone
