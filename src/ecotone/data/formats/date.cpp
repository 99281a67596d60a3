#include "ecotone/data/formats/date.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>

#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

using number_detail::is_digit;

constexpr double seconds_per_day = 86400;

/// Takes parts off the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A number of `least` to `most` digits.
  bool take(int least, int most, int& value) {
    int digits = 0;
    value = 0;
    while (!rest_.empty() && is_digit(rest_.front()) && digits < most) {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
      ++digits;
    }
    return digits >= least && (rest_.empty() || !is_digit(rest_.front()));
  }
  /// The digits after a decimal point.
  bool take_fraction(double& value) {
    double scale = 0.1;
    const std::size_t before = rest_.size();
    for (; !rest_.empty() && is_digit(rest_.front()); scale /= 10) {
      value += scale * (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return rest_.size() < before;
  }

 private:
  std::string_view rest_;
};

bool take_day(Reader& in, SlashOrder slashes, std::chrono::year_month_day& day) {
  int first = 0;
  int second = 0;
  int third = 0;
  const auto set = [&](int y, int m, int d) {
    using namespace std::chrono;
    day = year(y) / month(static_cast<unsigned>(m)) / static_cast<unsigned>(d);
    return y > 0 && day.ok();
  };
  Reader start = in;
  if (in.take(4, 4, first)) {
    for (const char sign : {'-', '/'})
      if (in.take(sign))
        return in.take(2, 2, second) && in.take(sign) && in.take(2, 2, third) && set(first, second, third);
    return false;
  }
  in = start;
  if (!in.take(1, 2, first)) return false;
  if (in.take('.')) return in.take(1, 2, second) && in.take('.') && in.take(4, 4, third) && set(third, second, first);
  if (slashes == SlashOrder::none || !in.take('/')) return false;
  if (!in.take(1, 2, second) || !in.take('/') || !in.take(4, 4, third)) return false;
  return slashes == SlashOrder::day_first ? set(third, second, first) : set(third, first, second);
}

/// Seconds since midnight.
bool take_clock(Reader& in, double& seconds) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  double fraction = 0;
  if (!in.take(1, 2, hour) || !in.take(':') || !in.take(2, 2, minute)) return false;
  if (in.take(':') && (!in.take(2, 2, second) || (in.take('.') && !in.take_fraction(fraction)))) return false;
  in.take('Z');
  seconds = hour * 3600 + minute * 60 + second + fraction;
  return hour < 24 && minute < 60 && second < 60;
}

}  // namespace

bool parse_date(std::string_view text, SlashOrder slashes, double& days) {
  Reader in(text);
  std::chrono::year_month_day day;
  if (!take_day(in, slashes, day)) return false;
  double seconds = 0;
  if ((in.take('T') || in.take(' ')) && !take_clock(in, seconds)) return false;
  if (!in.done()) return false;
  days = static_cast<double>(std::chrono::sys_days(day).time_since_epoch().count()) + seconds / seconds_per_day;
  return true;
}

bool is_date(double days) { return days >= -719'162 && days < 2'932'897; }

std::string date_text(double days) {
  // Microseconds are about what a double resolves.
  const auto micro = std::llround((days - std::floor(days)) * seconds_per_day * 1e6);
  constexpr std::int64_t micro_per_day = 86'400'000'000;
  const auto whole = static_cast<int>(std::floor(days)) + static_cast<int>(micro / micro_per_day);
  const std::chrono::year_month_day day{std::chrono::sys_days(std::chrono::days(whole))};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                                 static_cast<unsigned>(day.day()));
  const std::int64_t left = micro % micro_per_day;
  if (left == 0) return text;
  const std::int64_t seconds = left / 1'000'000;
  text += fmt::format("T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (left % 1'000'000 != 0) text += fmt::format(".{:06}", left % 1'000'000);
  return text;
}

}  // namespace ecotone
