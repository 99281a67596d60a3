#include <algorithm>

#include "ecotone/evaluate/tune.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

constexpr Index pipeline_width = 60;  // longest pipeline shown in the table

std::string number(const std::optional<double>& value, bool sign = false) {
  if (!value) return "-";
  const double shown = *value == 0 ? 0.0 : *value;  // no "-0"
  return sign ? fmt::format("{:+.5g}", shown) : fmt::format("{:.5g}", shown);
}

}  // namespace

std::string tuning_table(const Tuning& tuning) {
  const MetricInfo& metric = *find_metric(tuning.metric);
  std::string text =
      fmt::format("{} of {} pipeline{}, {} ({} folds); {} is better\n\n", metric.title, tuning.points.size(),
                  tuning.points.size() == 1 ? "" : "s",
                  tuning.by_domain ? "each source domain held out in turn" : "rows of one domain held out",
                  tuning.folds.size(), metric.higher_is_better ? "higher" : "lower");
  Index width = 8;
  for (const TunePoint& point : tuning.points)
    width = std::max(width, std::min(pipeline_width, display_width(point.pipeline)));
  text += fmt::format("  {}  {:>10}  {:>10}  {:>11}  {:>10}\n", pad_right("pipeline", width), "mean", "spread",
                      "difference", "its sd");
  for (Index i = 0; i < width + 51; ++i) text += "─";
  text += "\n";
  for (std::size_t i = 0; i < tuning.points.size(); ++i) {
    const TunePoint& point = tuning.points[i];
    text += fmt::format("{} {}", i == tuning.chosen ? "*" : " ",
                        pad_right(display_text(point.pipeline, pipeline_width), width));
    text += point.error.empty()
                ? fmt::format("  {:>10}  {:>10}  {:>11}  {:>10}\n", number(point.mean), number(point.spread),
                              number(point.difference, true), number(point.difference_sd))
                : fmt::format("  failed {}\n", display_text(point.error, 200));
  }
  if (tuning.points.size() == 1)
    return text + "\none pipeline: there is nothing to choose between; list values of an option, as in l2={0.01,0.1}\n";
  return text + fmt::format(
                    "\ndifference: from the chosen pipeline, paired over folds; its sd: standard deviation of the "
                    "difference\nchosen   {}\n",
                    tuning.points[tuning.chosen].pipeline);
}

}  // namespace ecotone
