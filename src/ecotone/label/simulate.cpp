#include "ecotone/label/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "ecotone/base/at_hand.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/label/simulated_run.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {

namespace {

/// Checks the limits of the options, for callers that did not parse them.
void check_simulate_options(const SimulateOptions& options) {
  Json given = Json::object();
  std::apply([&](const auto&... f) { ((given[f.name] = detail::option_json(options.*f.member, f.limits)), ...); },
             SimulateOptions::fields());
  complete_options("simulate", describe_options<SimulateOptions>(), given);
}

/// The strategies in the order of the curves: `random` last.
std::vector<Strategy> completed_strategies(std::vector<Strategy> strategies, Task task) {
  if (strategies.empty()) strategies.push_back(default_strategy(task));
  const auto is_random = [](const Strategy& strategy) { return strategy.rule == QueryRule::random; };
  if (std::ranges::none_of(strategies, is_random)) {
    Strategy random{.rule = QueryRule::random, .options = {}};
    random.options.batch = strategies.front().options.batch;
    random.options.seed_size = strategies.front().options.seed_size;
    strategies.push_back(random);
  }
  std::stable_partition(strategies.begin(), strategies.end(),
                        [&](const Strategy& strategy) { return !is_random(strategy); });
  std::set<std::string> texts;
  for (const Strategy& strategy : strategies)
    if (!texts.insert(strategy.text()).second)
      option_error("repeated_strategy", "simulate: the strategy \"{}\" is given twice", strategy.text());
  return strategies;
}

bool has_two_labels(const Labels& y, const LabelRows& rows) {
  std::vector<Index> all = rows.known;
  all.insert(all.end(), rows.pool.begin(), rows.pool.end());
  return can_fit(y, all);
}

void check_simulation(const Dataset& data, const Pipeline& pipeline, const std::vector<Strategy>& strategies,
                      const LabelRows& rows) {
  if (!pipeline.predicts())
    option_error("no_learner", "simulate: \"{}\" does not end in a learner, so there is nothing to ask for",
                 pipeline.text());
  constexpr Index least = 4;
  if (std::ssize(rows.pool) < least)
    data_error("empty_data",
               "simulate: {} of the rows that may be asked {} a label, but at least {} are needed: labels are hidden "
               "and then asked for",
               rows.pool.size(), rows.pool.size() == 1 ? "has" : "have", least);
  if (!has_two_labels(*data.y, rows)) data_error("one_class", "simulate: all labelled rows have the same class");
  for (const Strategy& strategy : strategies)
    if (strategy.options.domain_aware && !data.has_target())
      data_error("no_target", "simulate: \"{}\" needs a target domain to spend the labels in; name it with --target",
                 strategy.text());
}

/// Refuses what does not fit: copies of the rows to rank, to measure and to learn from, and all points of all runs.
void require_room(const Dataset& data, const SimulateOptions& options, std::size_t strategies) {
  const auto rows = static_cast<std::size_t>(data.rows());
  const Csr* sparse = data.x.is_sparse() ? data.x.storage().csr() : nullptr;
  const std::size_t values = sparse ? 2 * sparse->value.size() : rows * static_cast<std::size_t>(data.x.cols());
  const std::size_t points = std::min<std::size_t>(rows, static_cast<std::size_t>(options.budget)) *
                             static_cast<std::size_t>(options.repeat) * strategies;
  require_memory(3 * values * sizeof(double) + points * (sizeof(RunPoint) + sizeof(AskedRow)), "simulate",
                 "the copies of rows of one run and the points of all", "give fewer rows, a smaller budget or repeat");
}

/// The labels from which on a run stays at its goal; see StrategyCurve.
std::optional<Index> reached_at(const RunCurve& curve, double full, Task task, double reach) {
  constexpr std::size_t successive = 5;
  std::vector<const RunPoint*> fits;
  for (const RunPoint& point : curve.points)
    if (point.fitted) fits.push_back(&point);
  const std::size_t needed = std::min(successive, fits.size());
  std::size_t good = 0;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const bool there = task == Task::classify ? fits[i]->value >= reach * full : fits[i]->value <= full / reach;
    good = there ? good + 1 : 0;
    if (there && good == needed) return fits[i + 1 - needed]->labels;
  }
  return {};
}

/// A percentile of the labels; empty if it lies beyond the budget.
std::optional<double> reached_percentile(const std::vector<std::optional<Index>>& reached, double p) {
  std::vector<double> labels;
  for (const auto& count : reached) labels.push_back(count ? static_cast<double>(*count) : infinity);
  std::ranges::sort(labels);
  const double value = sorted_quantile(labels, p);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// One point from those of all runs.
CurvePoint summary_of(const std::vector<const RunPoint*>& runs) {
  std::vector<double> values, covered, widths;
  for (const RunPoint* run : runs) {
    values.push_back(run->value);
    if (!run->audit) continue;
    covered.push_back(run->audit->low <= run->value && run->value <= run->audit->high ? 1 : 0);
    widths.push_back(run->audit->high - run->audit->low);
  }
  CurvePoint point;
  point.labels = runs.front()->labels;
  point.mean = *mean_of(values);
  point.sd = sample_sd(values);
  std::ranges::sort(values);
  point.low = sorted_quantile(values, 0.05);
  point.high = sorted_quantile(values, 0.95);
  point.audits = runs.front()->audit ? runs.front()->audit->rows : 0;
  point.coverage = mean_of(covered);
  point.width = mean_of(widths);
  return point;
}

StrategyCurve curve_of(const Strategy& strategy, const std::vector<RunCurve>& runs, const std::vector<double>& full,
                       Task task, double reach) {
  StrategyCurve curve;
  curve.strategy = strategy.text();
  std::map<Index, std::vector<const RunPoint*>> by_labels;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const RunPoint& point : runs[r].points) by_labels[point.labels].push_back(&point);
    curve.reached.push_back(reached_at(runs[r], full[r], task, reach));
  }
  for (const auto& [labels, points] : by_labels)
    if (points.size() == runs.size()) curve.points.push_back(summary_of(points));
  if (curve.points.empty())
    data_error("one_class", "simulate: not every run of \"{}\" finds two different labels within the budget",
               curve.strategy);
  curve.median_reached = reached_percentile(curve.reached, 0.5);
  curve.low_reached = reached_percentile(curve.reached, 0.05);
  curve.high_reached = reached_percentile(curve.reached, 0.95);
  return curve;
}

/// All runs of all strategies.
class Simulation {
 public:
  Simulation(const Dataset& data, const Pipeline& pipeline, const std::vector<Strategy>& strategies,
             const LabelRows& rows, const SimulateOptions& options, const Context& context)
      : data_(data),
        pipeline_(pipeline),
        strategies_(strategies),
        rows_(rows),
        options_(options),
        context_(context),
        full_(at(options.repeat)),
        curves_(strategies.size(), std::vector<RunCurve>(at(options.repeat))) {
    for (const Stage& stage : pipeline.stages()) stages_.push_back(stage.method->name);
  }

  void run() {
    const Index repeat = options_.repeat;
    const auto strategies = std::ssize(strategies_);
    const int at_once = fits_at_once(data_.x);
    Progress progress(context_.observer(), "simulate", repeat * (1 + strategies * options_.budget));
    std::vector<std::unique_ptr<Messages>> messages;
    for (Index task = 0; task < repeat * (1 + strategies); ++task)
      messages.push_back(std::make_unique<Messages>(stages_));
    const auto context_of = [&](Index r, Index task) {
      return context_.observed_by(messages[at(task)].get()).derived("labelling run", static_cast<std::uint64_t>(r));
    };
    const auto run_full = [&](Index r) {
      const Context run = context_of(r, r);
      full_[at(r)] = full_value(data_, pipeline_, draw_run(data_, rows_, options_, run), strategies_, run);
      progress.advance();
    };
    const auto run_one = [&](Index task) {
      const Index r = task / strategies;
      const std::size_t s = at(task % strategies);
      tell_at_hand(context_, [&] { return fmt::format("run {}, {}", r + 1, strategies_[s].text()); });
      const Context run = context_of(r, repeat + task);
      const RunRows rows = draw_run(data_, rows_, options_, run);
      curves_[s][at(r)] = run_strategy(data_, pipeline_, rows, strategies_[s], options_, progress, run);
    };
    context_.parallel(repeat, run_full, at_once);
    context_.parallel(repeat * strategies, run_one, at_once);
    pass_on(messages, context_, "fits of runs");
  }

  void fill(LabelSimulation& result) const {
    result.full = *mean_of(full_);
    for (std::size_t s = 0; s < strategies_.size(); ++s)
      result.curves.push_back(curve_of(strategies_[s], curves_[s], full_, data_.y->task, options_.reach));
    result.start = result.curves.front().points.front().mean;
  }

 private:
  const Dataset& data_;
  const Pipeline& pipeline_;
  const std::vector<Strategy>& strategies_;
  const LabelRows& rows_;
  const SimulateOptions& options_;
  const Context& context_;
  std::vector<std::string> stages_;
  std::vector<double> full_;                   ///< by run
  std::vector<std::vector<RunCurve>> curves_;  ///< by strategy, then run
};

}  // namespace

LabelSimulation simulate_labelling(const Dataset& data, const Pipeline& pipeline,
                                   const std::vector<Strategy>& strategies, const SimulateOptions& options,
                                   const Context& context) {
  check_simulate_options(options);
  if (!data.y) data_error("no_labels", "simulate: the data have no label column, so there is nothing to hide");
  const std::vector<Strategy> all = completed_strategies(strategies, data.y->task);
  const LabelRows rows = label_rows(data, Hide::pool);
  check_simulation(data, pipeline, all, rows);
  require_room(data, options, all.size());

  LabelSimulation result;
  result.pipeline = pipeline.text();
  result.task = data.y->task;
  result.metric = result.task == Task::classify ? "accuracy" : "rmse";
  result.options = options;
  result.seed = context.seed();
  result.targets = data.target_names();
  result.known = std::ssize(rows.known);
  const RunRows first = draw_run(data, rows, options, context.derived("labelling run", 0));
  result.pool = std::ssize(first.pool);
  result.held_out = std::ssize(first.held_out);
  if (first.questions < options.budget)
    context.note("simulate: only {} rows can be asked in a run, fewer than the budget of {}", first.questions,
                 options.budget);

  Simulation simulation(data, pipeline, all, rows, options, context);
  simulation.run();
  simulation.fill(result);
  return result;
}

}  // namespace ecotone
