#include "ecotone/evaluate/time_blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/date.h"

namespace ecotone {

namespace {

/// The rows that have a time, in order of time.
std::vector<Index> rows_in_order(const Vector& time, const Context& context) {
  if (time.size() == 0)
    data_error("no_time", "evaluate: forward needs the time of every row; name its column with --time");
  std::vector<Index> rows;
  for (Index row = 0; row < time.size(); ++row)
    if (!std::isnan(time[row])) rows.push_back(row);
  if (rows.empty()) data_error("no_time", "evaluate: none of the {} rows has a time", time.size());
  if (const Index missing = time.size() - std::ssize(rows); missing > 0)
    context.note("evaluate: {} of {} rows {} no time and {} neither trained on nor scored", missing, time.size(),
                 missing == 1 ? "has" : "have", missing == 1 ? "is" : "are");
  std::ranges::stable_sort(rows, {}, [&](Index row) { return time[row]; });
  return rows;
}

/// Where a new time begins among rows in order, and their number at the end.
std::vector<Index> starts_of(const std::vector<Index>& rows, const Vector& time) {
  std::vector<Index> starts;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i == 0 || time[rows[i]] != time[rows[i - 1]]) starts.push_back(static_cast<Index>(i));
  starts.push_back(std::ssize(rows));
  return starts;
}

/// The place among the starts nearest to `ideal` rows that leaves a time for this block and each of those `after` it.
std::size_t nearest_start(const std::vector<Index>& starts, std::size_t previous, std::size_t after, double ideal) {
  const auto distance = [&](std::size_t k) { return std::abs(static_cast<double>(starts[k]) - ideal); };
  std::size_t best = previous + 1;
  while (best + 1 + after < starts.size() && distance(best + 1) < distance(best)) ++best;
  return best;
}

}  // namespace

std::string TimeBlock::name(bool dates) const {
  const auto text = [&](double time) { return dates && is_date(time) ? date_text(time) : fmt::format("{}", time); };
  return first == last ? text(first) : fmt::format("{} to {}", text(first), text(last));
}

std::vector<TimeBlock> time_blocks(const Vector& time, Index count, const Context& context) {
  if (count < 2) option_error("bad_option", "evaluate: blocks must be >= 1, got {}", count - 1);
  const std::vector<Index> rows = rows_in_order(time, context);
  const std::vector<Index> starts = starts_of(rows, time);
  if (std::ssize(starts) - 1 < count)
    data_error("too_few_times",
               "evaluate: {} block{} and the rows before need {} different times, and the data have {}; lower --blocks",
               count - 1, count == 2 ? "" : "s", count, std::ssize(starts) - 1);
  std::vector<TimeBlock> blocks;
  std::size_t begin = 0;
  for (Index b = 0; b < count; ++b) {
    const double ideal = static_cast<double>(rows.size()) * static_cast<double>(b + 1) / static_cast<double>(count);
    const std::size_t end = nearest_start(starts, begin, at(count - b - 1), ideal);
    TimeBlock block;
    block.rows.assign(rows.begin() + starts[begin], rows.begin() + starts[end]);
    block.first = time[block.rows.front()];
    block.last = time[block.rows.back()];
    std::ranges::sort(block.rows);
    blocks.push_back(std::move(block));
    begin = end;
  }
  return blocks;
}

}  // namespace ecotone
