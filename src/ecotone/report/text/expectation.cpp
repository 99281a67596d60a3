#include <fmt/format.h>

#include <cmath>

#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/trust/expect.h"

namespace ecotone {
namespace {

std::string expected_text(double value) {
  return std::abs(value) < 1000 ? fmt::format("{:.4f}", value) : fmt::format("{:.4g}", value);
}

std::string ends_text(const std::optional<Bounds>& bounds) {
  return bounds ? fmt::format("{} to {}", expected_text(bounds->low), expected_text(bounds->high)) : "-";
}

/// Of errors such as RMSE, which are compared as factors, one.
std::string error_text(const EstimatedValue& value, const ExpectedMetric& metric, Task task) {
  if (!value.error) return "-";
  const bool factor = find_metric(metric.metric)->scale(task == Task::classify ? 2 : 0).logarithmic;
  return factor ? fmt::format("x {:.3f}", std::exp(*value.error)) : expected_text(*value.error);
}

std::string metrics_table(const Expectation& expectation) {
  TextTable table;
  table.columns = {
      {"metric", true}, {"expected"}, {fmt::format("{:.4g}% interval", 100 * expectation.level)}, {"by", true}};
  for (const ExpectedMetric& metric : expectation.metrics) {
    const EstimatedValue& first = metric.estimators.front();
    table.lines.push_back({std::string(find_metric(metric.metric)->title), expected_text(first.estimate),
                           ends_text(first.interval), std::string(estimator_name(first.estimator))});
  }
  return table.text();
}

/// All estimators of the metric that the expectation is mostly read for.
std::string estimators_table(const Expectation& expectation) {
  const ExpectedMetric* shown = nullptr;
  for (const ExpectedMetric& metric : expectation.metrics)
    if (shown == nullptr || metric.estimators.size() > shown->estimators.size()) shown = &metric;
  if (shown == nullptr || shown->estimators.size() < 2) return "";
  TextTable table;
  table.columns = {{std::string(find_metric(shown->metric)->title) + " by", true},
                   {"expected"},
                   {"interval"},
                   {"conformal"},
                   {"error in replays"},
                   {"", true}};
  for (const EstimatedValue& value : shown->estimators)
    table.lines.push_back({std::string(estimator_name(value.estimator)), expected_text(value.estimate),
                           ends_text(value.interval), ends_text(value.conformal),
                           error_text(value, *shown, expectation.task),
                           value.doubtful ? "doubtful: few effective rows" : ""});
  return "\n" + table.text();
}

std::string more_domains_text(const Expectation& expectation) {
  if (expectation.more.for_half)
    return fmt::format("With {} domains like these, the intervals would be half as wide.", *expectation.more.for_half);
  return fmt::format(
      "No number of domains like these makes the intervals half as wide: very many would leave {:.0f}% of the width, "
      "which is how much domains differ.",
      100 * expectation.more.narrowest);
}

std::string expectation_text(const Expectation& expectation) {
  std::string text =
      fmt::format("what to expect in '{}' ({}) of {}\n", display_text(expectation.target, longest_domain),
                  counted(expectation.rows, "row"), expectation.pipeline);
  text += wrapped(fmt::format(
                      "{}; interval: where the value of one new domain lies that differs as these do",
                      expectation.by == NextDomainBy::replay
                          ? fmt::format("{} source domains, each replayed as the target by models that had not seen it",
                                        expectation.domains)
                          : fmt::format("{} source domains, replayed as the target (cheaply: a little too narrow)",
                                        expectation.domains)),
                  page_width, "") +
          "\n";
  text += metrics_table(expectation) + estimators_table(expectation) + "\n";
  if (expectation.too_few_rows()) text += wrapped(expectation.few_rows_words() + ".", page_width, "");
  text += wrapped(more_domains_text(expectation), page_width, "");
  if (!expectation.compared()) text += wrapped(expectation.not_compared_words() + ".", page_width, "");
  if (expectation.unlike_sources())
    text += wrapped(
        fmt::format("Do not rely on these intervals: '{}' lies where no source row does ({}), and only {} of {} "
                    "source domains are as far from the others. `ecotone diagnose` shows how it differs.",
                    expectation.target, expectation.overlap->words(), expectation.apart, expectation.domains),
        page_width, "");
  return text;
}

}  // namespace

std::string expectations_text(const std::vector<Expectation>& expectations) {
  std::string text;
  for (const Expectation& each : expectations) text += (text.empty() ? "" : "\n") + expectation_text(each);
  return text;
}

}  // namespace ecotone
