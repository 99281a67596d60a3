#include <algorithm>

#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

constexpr Index pipeline_width = 60;  // longest pipeline shown in the table
constexpr Index beside_width = 8;     // of the columns of other metrics

std::string number(const std::optional<double>& value, int digits = 5) {
  if (!value) return "-";
  return fmt::format("{:.{}g}", *value == 0 ? 0.0 : *value, digits);  // no "-0"
}

std::string signed_number(const std::optional<double>& value) {
  return value && *value > 0 ? "+" + number(value) : number(value);
}

/// Whether a value was bounded, so that scores are not plain means.
bool any_bounded(const Tuning& tuning) {
  return std::ranges::any_of(tuning.points, [](const TunePoint& point) { return point.score != point.mean; });
}

/// Metrics that stand beside the score; --json has all.
std::vector<const MetricInfo*> shown_beside(const Tuning& tuning) {
  std::vector<const MetricInfo*> shown;
  const TunePoint& best = tuning.points[tuning.best];
  for (const char* name : {"log_loss", "accuracy", "auroc", "rmse", "mae", "r2"})
    if (value_of(best.metrics, name) && (name != tuning.metric || any_bounded(tuning)))
      shown.push_back(find_metric(name));
  return shown;
}

std::string tuning_head(const std::vector<const MetricInfo*>& beside, Index width) {
  std::string text =
      fmt::format("  {}  {:>9}  {:>10}  {:>9}", pad_right("pipeline", width), "score", "difference", "its se");
  for (const MetricInfo* metric : beside) text += fmt::format("  {}", pad_left(metric->title, beside_width));
  text += "\n";
  for (Index i = 0; i < width + 36 + (2 + beside_width) * static_cast<Index>(beside.size()); ++i) text += "─";
  return text + "\n";
}

std::string tuning_line(const TunePoint& point, std::string_view mark, const std::vector<const MetricInfo*>& beside,
                        Index width) {
  std::string text = fmt::format("{} {}", mark, pad_right(display_text(point.pipeline, pipeline_width), width));
  if (!point.error.empty()) return text + fmt::format("  failed {}\n", display_text(point.error, 200));
  text += fmt::format("  {:>9}  {:>10}  {:>9}", number(point.score), signed_number(point.difference),
                      number(point.difference_se));
  for (const MetricInfo* metric : beside)
    text += fmt::format("  {:>{}}", number(value_of(point.metrics, metric->name), 4), beside_width);
  return text + "\n";
}

std::string tuning_choice(const Tuning& tuning) {
  if (tuning.points.size() == 1)
    return "\none pipeline: there is nothing to choose between; list values of an option, as in l2={0.01,0.1}\n";
  const MetricInfo& metric = *find_metric(tuning.metric);
  std::string text = fmt::format("\nscore: mean {} over folds{}\n", metric.title,
                                 any_bounded(tuning) ? "; a fold is bounded so that it cannot decide alone" : "");
  text += fmt::format("difference: from the best score{}, paired over folds; its se: the standard error of that\n",
                      tuning.best == tuning.chosen ? "" : " (+)");
  text += fmt::format("chosen   {}\n         ", tuning.points[tuning.chosen].pipeline);
  text += tuning.best == tuning.chosen ? "the best score\n"
                                       : "the largest penalty within one standard error of the best score\n";
  return text + fmt::format(
                    "note     the score {} is optimistic, because the choice was made by it; ecotone evaluate\n"
                    "         with the same data and grid chooses inside every split and gives an honest one\n",
                    number(tuning.points[tuning.chosen].score));
}

}  // namespace

std::string tuning_table(const Tuning& tuning) {
  const MetricInfo& metric = *find_metric(tuning.metric);
  std::string text =
      fmt::format("{} of {} pipeline{}, {} ({} folds); {} is better\n\n", metric.title, tuning.points.size(),
                  tuning.points.size() == 1 ? "" : "s",
                  tuning.by_domain ? "each source domain held out in turn" : "folds of rows held out in turn",
                  tuning.folds.size(), metric.higher_is_better() ? "higher" : "lower");
  Index width = 8;
  for (const TunePoint& point : tuning.points)
    width = std::max(width, std::min(pipeline_width, display_width(point.pipeline)));
  const std::vector<const MetricInfo*> beside = shown_beside(tuning);
  text += tuning_head(beside, width);
  for (std::size_t i = 0; i < tuning.points.size(); ++i)
    text += tuning_line(tuning.points[i], i == tuning.chosen ? "*" : i == tuning.best ? "+" : " ", beside, width);
  return text + tuning_choice(tuning);
}

}  // namespace ecotone
