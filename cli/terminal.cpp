#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "cli/output.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto first_bar_after = std::chrono::milliseconds(300);  // short runs show none
constexpr auto redraw_after = std::chrono::milliseconds(50);
constexpr auto tick_every = std::chrono::milliseconds(1000);

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool shows_bars() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Terminal::Terminal(Says says)
    : says_(says), bars_(says == Says::all && shows_bars()), begun_(Clock::now()), progress_(begun_) {}

Terminal::~Terminal() {
  ticker_.reset();
  clear_bar();
}

void Terminal::warning(std::string_view code, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (warnings_.emplace(code, message).second) write_line(fmt::format("warning: {}", message));
}

void Terminal::note(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (notes_.emplace(message).second && says_ == Says::all) write_line(fmt::format("note: {}", message));
}

void Terminal::aside(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (says_ == Says::all) write_line(fmt::format("note: {}", message));
}

void Terminal::progress(std::string_view what, Index done, Index total) {
  if (says_ != Says::all) return;
  const std::lock_guard lock(mutex_);
  progress_.update(what, done, total, Clock::now());
  if (!progress_.active()) return erase_bar();
  if (!ticker_)
    ticker_.emplace(tick_every, [this] {
      const std::lock_guard tick_lock(mutex_);
      show_progress();
    });
  show_progress();
}

void Terminal::at_hand(std::string_view part) {
  const std::lock_guard lock(mutex_);
  progress_.at_hand(part);
}

void Terminal::show_progress() {
  const auto now = Clock::now();
  if (!progress_.active()) return;
  if (!bars_) {
    if (const std::string text = progress_.line_each_minute(now); !text.empty()) write_line(text);
  } else if (now - begun_ > first_bar_after && now - drawn_ > redraw_after) {
    drawn_ = now;
    bar_shown_ = true;
    // The last column stays free: some terminals begin a new line there.
    write_standard_error("\r\x1b[K" + progress_.bar(terminal_width() - 1, now));
  }
}

void Terminal::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write_line(text);
}

void Terminal::clear_bar() {
  const std::lock_guard lock(mutex_);
  erase_bar();
}

void Terminal::write_line(std::string_view text) {
  if (says_ == Says::nothing) return;
  erase_bar();
  write_standard_error(printable(text) + "\n");
}

void Terminal::erase_bar() {
  if (bar_shown_) write_standard_error("\r\x1b[K");
  bar_shown_ = false;
}

void Terminal::stage_time(std::string_view stage, double seconds) {
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(stage_times_, stage, &StageTime::stage);
  if (found == stage_times_.end()) found = stage_times_.insert(found, StageTime{std::string(stage)});
  found->seconds += seconds;
  ++found->fits;
}

std::string Terminal::stage_times() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const StageTime& one : stage_times_) {
    text += fmt::format("{}{} {:.3f} s", text.empty() ? "" : ", ", one.stage, one.seconds);
    if (one.fits > 1) text += fmt::format(" ({} fits)", one.fits);
  }
  return text;
}

Json Terminal::warnings() const {
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  for (const auto& [code, message] : warnings_) list.push_back({{"code", code}, {"message", message}});
  return list;
}

Json Terminal::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

}  // namespace ecotone::cli
