#include "ecotone/label/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/measure/intervals.h"
#include "ecotone/measure/proportion.h"

namespace ecotone {
namespace {

/// "3 percentage points", "0.4 percentage points"
std::string points(double share) {
  return fmt::format("{:.{}f} percentage points", 100 * share, share < 0.0095 ? 1 : 0);
}

std::string change_text(Task task, const AnswerChange& change) {
  if (change.share == 0) return fmt::format("The last {} labels changed no answer in the target.", change.labels);
  if (task == Task::classify)
    return fmt::format(
        "The last {} labels changed the answer for {:.1f}% of the target's rows; if the next {} change as much, the "
        "accuracy moves by at most {}.",
        change.labels, 100 * change.share, change.labels, points(change.share));
  return fmt::format("The last {} labels moved the predictions by {:.0f}% of the present error.", change.labels,
                     100 * change.share);
}

}  // namespace

std::optional<AuditEstimate> audit_accuracy(Index right, Index rows) {
  if (rows == 0) return {};
  const ProportionInterval interval = mid_p_interval(right, rows, 0.9);
  return AuditEstimate{static_cast<double>(right) / static_cast<double>(rows), interval.low, interval.high, rows};
}

std::optional<AuditEstimate> audit_rmse(std::span<const double> errors) {
  const auto rows = std::ssize(errors);
  if (rows < 2) return {};
  std::vector<double> squares;
  for (const double error : errors) squares.push_back(error * error);
  const double mean = *mean_of(squares);
  const double rmse = std::sqrt(mean);
  if (mean == 0) return AuditEstimate{0, 0, 0, rows};
  // ln of the mean square has about the standard error se / mean
  const double reach = t_quantile(0.95, static_cast<double>(rows - 1)) * *standard_error(squares) / mean;
  return AuditEstimate{rmse, rmse * std::exp(-reach / 2), rmse * std::exp(reach / 2), rows};
}

LabelAdvice label_advice(Task task, Index labels, const std::optional<AuditEstimate>& estimate,
                         std::span<const AnswerChange> changes) {
  constexpr double hardly = 0.01;  // of the rows, or of the error
  constexpr std::size_t in_a_row = 2;
  if (changes.empty())
    return {labels == 0 ? "Nothing is labelled yet." : "Too few labels to say what more of them would gain.", false};
  const bool settled =
      changes.size() >= in_a_row &&
      std::ranges::all_of(changes.last(in_a_row), [](const auto& change) { return change.share <= hardly; });
  LabelAdvice advice{change_text(task, changes.back()), settled};
  if (settled) {
    advice.text += " Further labels hardly change the answers; you may stop.";
    if (!estimate)
      advice.text += " How good they are is not known without audit rows.";
    else if (task == Task::classify && estimate->high - estimate->low > 0.2)
      advice.text += " More audit rows would make the estimate of the accuracy tighter.";
  }
  return advice;
}

}  // namespace ecotone
