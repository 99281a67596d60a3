#include "ecotone/evaluate/tune/tune_choice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "ecotone/base/error.h"
#include "ecotone/measure/fold_choice.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {

namespace {

Index values_in(const TunePoint& point) {
  return std::ranges::count_if(point.folds, [](const auto& value) { return value.has_value(); });
}

/// Whether values of the metric are losses that a constant prediction bounds.
bool has_bound(const MetricInfo& metric) { return !metric.higher_is_better() && metric.name != "calibration_error"; }

/// The value of a point on a fold as the choice sees it.
std::optional<double> bounded(const Tuning& tuning, const TunePoint& point, std::size_t fold) {
  const std::optional<double>& value = point.folds[fold];
  if (!value || tuning.bound.empty() || !tuning.bound[fold]) return value;
  return std::min(*value, *tuning.bound[fold]);
}

/// The bounds of loss_bounds, where points or constants may lack values.
void set_bounds(Tuning& tuning, const std::vector<FoldScore>& constant) {
  Matrix losses(std::ssize(constant), std::ssize(tuning.points));
  Vector of_constant(losses.rows());
  for (Index f = 0; f < losses.rows(); ++f) {
    of_constant[f] = value_of(constant[at(f)].metrics, tuning.metric).value_or(std::nan(""));
    for (Index p = 0; p < losses.cols(); ++p) losses(f, p) = tuning.points[at(p)].folds[at(f)].value_or(std::nan(""));
  }
  for (const double bound : loss_bounds(losses, of_constant))
    tuning.bound.push_back(std::isnan(bound) ? std::nullopt : std::optional(bound));
}

/// Mean over the folds; empty for a point that could not be fitted.
std::optional<double> score_of(const Tuning& tuning, const TunePoint& point) {
  std::vector<double> values;
  for (std::size_t f = 0; f < point.folds.size(); ++f)
    if (const auto value = bounded(tuning, point, f)) values.push_back(*value);
  return point.mean ? mean_of(values) : std::nullopt;
}

/// Whether a point has the better score, or the same one and the better mean. Scores are alike to the last digit where
/// the bound is all that they show.
bool is_better(const TunePoint& point, const TunePoint& other, bool higher) {
  if (*point.score != *other.score) return (*point.score > *other.score) == higher;
  return *point.mean != *other.mean && (*point.mean > *other.mean) == higher;
}

/// The best among the points with a value on the largest number of folds.
std::size_t best_score(const Tuning& tuning) {
  Index most = 0;
  for (const TunePoint& point : tuning.points)
    if (point.score) most = std::max(most, values_in(point));
  const bool higher = find_metric(tuning.metric)->higher_is_better();
  const TunePoint* best = nullptr;
  for (const TunePoint& point : tuning.points) {
    if (!point.score || values_in(point) < most) continue;
    if (!best || is_better(point, *best, higher)) best = &point;
  }
  if (best) return static_cast<std::size_t>(best - tuning.points.data());
  for (const TunePoint& point : tuning.points)
    if (!point.error.empty())
      throw Error(ErrorKind::data, point.error_code, fmt::format("\"{}\" {}", point.pipeline, point.error));
  data_error("undefined_metric", "tune: {} is undefined on every fold; choose another with --metric", tuning.metric);
}

/// Of a point's values from those of the best, on the folds where both have one.
std::vector<double> differences_from_best(const Tuning& tuning, const TunePoint& point) {
  std::vector<double> differences;
  for (std::size_t f = 0; f < point.folds.size(); ++f) {
    const auto value = bounded(tuning, point, f);
    const auto best = bounded(tuning, tuning.points[tuning.best], f);
    if (point.score && value && best) differences.push_back(*value - *best);
  }
  return differences;
}

void compare_with_best(const Tuning& tuning, TunePoint& point) {
  const std::vector<double> differences = differences_from_best(tuning, point);
  point.difference = mean_of(differences);
  point.difference_se = standard_error(differences);
}

bool clearly_worse_than_best(const Tuning& tuning, const TunePoint& point) {
  std::vector<double> losses = differences_from_best(tuning, point);
  if (find_metric(tuning.metric)->higher_is_better())
    for (double& each : losses) each = -each;
  return clearly_worse(losses);
}

/// Whether a point differs from the best only in penalties, none of which is smaller.
bool at_least_as_simple(const PathPlace& point, const PathPlace& best) {
  return point.group == best.group && std::ranges::equal(point.penalty, best.penalty, std::greater_equal<>());
}

// ---- the edge of a grid

/// Three significant digits, as a user would type them.
double typed(double value) {
  const std::string text = fmt::format("{:.3g}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

/// Whether the values are some whole numbers in a row, such as 1, 2, 3 or 50, 100, rather than orders of magnitude.
bool in_equal_steps(const std::vector<double>& tried) {
  for (std::size_t i = 2; i < tried.size(); ++i)
    if (tried[i] - tried[i - 1] != tried[1] - tried[0]) return false;
  return tried.size() > 2 || tried[1] <= 2 * tried[0];
}

/// Up to two values beyond the last one, each made of the one before by `step`, as far as the option accepts them.
template <class Step>
std::vector<Json> continued(const OptionInfo& option, double last, const Step& step) {
  constexpr double largest = 1e15;
  const bool whole = option.type == OptionType::integer;
  std::vector<Json> next;
  double value = last;
  for (int i = 0; i < 2; ++i) {
    const double following = whole ? std::round(step(value)) : step(value);
    if (following == value || !(std::abs(following) < largest) || !option.limits.contains(following)) break;
    value = following;
    next.push_back(whole ? Json(static_cast<std::int64_t>(value)) : Json(typed(value)));
  }
  return next;
}

/// What to try beyond the last value; `before` is the one beside it.
std::vector<Json> next_values(const OptionInfo& option, const std::vector<double>& tried, double before, double last) {
  constexpr double largest_ratio = 10;
  const bool whole = option.type == OptionType::integer;
  const auto steps = [&] { return continued(option, last, [&](double value) { return value + (last - before); }); };
  if (!(last > 0 && before >= 0)) return steps();
  std::vector<Json> next;
  if (whole && in_equal_steps(tried)) next = steps();
  if (!next.empty()) return next;
  const double ratio = before > 0 ? std::clamp(last / before, 1 / largest_ratio, largest_ratio) : largest_ratio;
  return continued(option, last, [&](double value) { return value * ratio; });
}

/// The values of a numeric option among points that agree with the chosen one in all else, ascending, each once.
std::vector<double> values_tried(const std::vector<Pipeline>& points, const Pipeline& chosen, std::size_t stage,
                                 const std::string& name) {
  const auto rest = [&](const Pipeline& point) {
    std::vector<Stage> stages = point.stages();
    stages[stage].options.set(name, chosen.stages()[stage].options.at(name));
    return Pipeline(std::move(stages)).text();
  };
  std::vector<double> values;
  for (const Pipeline& point : points) {
    if (point.stages().size() != chosen.stages().size() ||
        point.stages()[stage].method != chosen.stages()[stage].method)
      continue;
    const Json& value = point.stages()[stage].options.at(name);
    if (value.is_number() && rest(point) == chosen.text()) values.push_back(value.get<double>());
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void warn_at_edge(const Method& method, const OptionInfo& option, const std::vector<double>& tried, double value,
                  const Context& context) {
  if (tried.size() < 2 || (value != tried.front() && value != tried.back())) return;
  const bool low = value == tried.front();
  if (value == 0 || value == (low ? option.limits.low : option.limits.high)) return;
  std::vector<std::string> next;
  for (const Json& each : next_values(option, tried, low ? tried[1] : tried[tried.size() - 2], value))
    next.push_back(option_text(each));
  context.warn("edge_of_grid", "tune: the choice {} {}={} is the {} value tried{}", method.name, option.name,
               option_text(Json(value)), low ? "smallest" : "largest",
               next.empty() ? "" : fmt::format("; try {}={{{}}} as well", option.name, fmt::join(next, ",")));
}

}  // namespace

TunePoint summary_of(const Pipeline& pipeline, const std::vector<FoldScore>& scores, const std::string& metric) {
  TunePoint point;
  point.pipeline = pipeline.text();
  for (const FoldScore& fold : scores) {
    point.folds.push_back(value_of(fold.metrics, metric));
    if (!point.error.empty()) continue;
    point.error_code = fold.error_code;
    point.error = fold.error;
  }
  if (!point.error.empty()) return point;
  for (const auto& [name, ignored] : scores.front().metrics) {
    std::vector<double> values;
    for (const FoldScore& fold : scores)
      if (const auto value = value_of(fold.metrics, name)) values.push_back(*value);
    point.metrics.emplace_back(name, mean_of(values));
    if (name != metric) continue;
    point.mean = mean_of(values);
    point.spread = sample_sd(values);
  }
  return point;
}

void choose_point(Tuning& tuning, const std::vector<Pipeline>& points, const std::vector<FoldScore>& constant) {
  if (has_bound(*find_metric(tuning.metric))) set_bounds(tuning, constant);
  for (TunePoint& point : tuning.points) point.score = score_of(tuning, point);
  tuning.best = best_score(tuning);
  for (TunePoint& point : tuning.points) compare_with_best(tuning, point);
  tuning.chosen = tuning.best;
  if (values_in(tuning.points[tuning.best]) < fewest_folds_for_one_se) return;
  const PathPlace place = place_of(points[tuning.best]);
  PathPlace simplest = place;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TunePoint& point = tuning.points[i];
    if (!point.score || !point.difference_se || values_in(point) < values_in(tuning.points[tuning.best])) continue;
    if (clearly_worse_than_best(tuning, point)) continue;
    PathPlace own = place_of(points[i]);
    if (!at_least_as_simple(own, place) || own.penalty <= simplest.penalty) continue;
    tuning.chosen = i;
    simplest = std::move(own);
  }
}

void warn_of_bounds(const Tuning& tuning, const Context& context) {
  constexpr double clearly = 1.1;  // losses of noise lie just above the bound
  std::vector<std::string> folds;
  for (std::size_t f = 0; f < tuning.bound.size(); ++f) {
    if (!tuning.bound[f]) continue;
    const double limit = clearly * *tuning.bound[f];
    const auto worse = [&](const TunePoint& point) { return !point.folds[f] || *point.folds[f] > limit; };
    if (std::ranges::all_of(tuning.points, worse)) folds.push_back(tuning.folds[f]);
  }
  if (!folds.empty())
    context.warn("worse_than_constant",
                 "tune: with {} held out every pipeline is much worse than a constant prediction, so {} not affect the "
                 "choice; ecotone diagnose shows what differs there",
                 fmt::join(folds, ", "), folds.size() == 1 ? "this fold does" : "these folds do");
}

void warn_at_edges(const std::vector<Pipeline>& points, std::size_t chosen, const Context& context) {
  const std::vector<Stage>& stages = points[chosen].stages();
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const OptionInfo& option : stages[s].method->options) {
      const Json& value = stages[s].options.at(option.name);
      if (!value.is_number()) continue;
      warn_at_edge(*stages[s].method, option, values_tried(points, points[chosen], s, option.name), value.get<double>(),
                   context);
    }
  }
}

}  // namespace ecotone
