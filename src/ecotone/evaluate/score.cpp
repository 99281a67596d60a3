#include "ecotone/evaluate/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/scored_rows.h"
#include "ecotone/measure/bootstrap.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/shift.h"

namespace ecotone {

namespace {

using Values = std::vector<std::optional<double>>;  // in the order of the metrics

constexpr Index resamples_at_once = 25;

/// The rows of one domain that a repetition held out.
struct Repetition {
  ScoredRows rows;
  std::vector<double> weight;     // empty: all 1
  std::vector<std::size_t> unit;  // of each row: what is drawn in a resample
};

/// One domain: its repetitions, and the rows in any of them.
struct DomainRows {
  std::vector<Repetition> repetitions;
  std::vector<Index> rows;  // ascending
  Index units = 0;          // groups, and rows without a group
};

DomainRows domain_rows(const Dataset& data, const std::map<Index, std::vector<Pick>>& by_repetition,
                       const MetricsAsked& asked) {
  DomainRows domain;
  for (const auto& [number, picks] : by_repetition)
    for (const Pick& pick : picks) domain.rows.push_back(pick.row());
  std::ranges::sort(domain.rows);
  domain.rows.erase(std::unique(domain.rows.begin(), domain.rows.end()), domain.rows.end());
  std::map<std::int32_t, std::size_t> of_group;
  std::unordered_map<Index, std::size_t> of_row;
  for (const Index row : domain.rows) {
    const std::int32_t group = data.group.empty() ? -1 : data.group[at(row)];
    const auto next = static_cast<std::size_t>(domain.units);
    of_row[row] = group < 0 ? next : of_group.try_emplace(group, next).first->second;
    domain.units += of_row[row] == next;
  }
  for (const auto& [number, picks] : by_repetition) {
    Repetition repetition{ScoredRows(*data.y, picks, asked), {}, {}};
    for (const Pick& pick : picks) {
      if (data.weight.size() > 0) repetition.weight.push_back(data.weight[pick.row()]);
      repetition.unit.push_back(of_row[pick.row()]);
    }
    domain.repetitions.push_back(std::move(repetition));
  }
  return domain;
}

/// Mean over the repetitions where it is defined, metric by metric.
Values average(const std::vector<Values>& repetitions) {
  Values result(repetitions.front().size());
  for (std::size_t m = 0; m < result.size(); ++m) {
    std::vector<double> values;
    for (const Values& each : repetitions)
      if (each[m]) values.push_back(*each[m]);
    result[m] = mean_of(values);
  }
  return result;
}

Values metrics_of(const DomainRows& domain) {
  std::vector<Values> repetitions;
  for (const Repetition& each : domain.repetitions) repetitions.push_back(each.rows.metrics(each.weight));
  return average(repetitions);
}

/// The metrics when every row counts as often as its unit was drawn.
Values resampled_metrics(const DomainRows& domain, const std::vector<double>& counts) {
  std::vector<Values> repetitions;
  for (const Repetition& each : domain.repetitions) {
    std::vector<double> weight;
    for (std::size_t i = 0; i < each.unit.size(); ++i)
      weight.push_back(counts[each.unit[i]] * weight_at(each.weight, i));
    repetitions.push_back(each.rows.metrics(weight));
  }
  return average(repetitions);
}

/// Fewer in large domains, where intervals are narrow anyway and would take longer than the fits.
Index resamples_of(Index resamples, Index units) {
  constexpr double many = 10'000;
  return std::llround(static_cast<double>(resamples) * std::clamp(many / static_cast<double>(units), 0.4, 1.0));
}

/// Intervals of the metrics from resamples of the domain's rows or groups. All pipelines see the same resamples.
std::vector<std::optional<Bounds>> intervals_of(const DomainRows& domain, const Values& values, Index most,
                                                const Context& context) {
  std::vector<std::optional<Bounds>> intervals(values.size());
  if (domain.units < 2) return intervals;  // one unit says nothing about how units differ
  const Index resamples = resamples_of(most, domain.units);
  std::vector<std::vector<double>> found(values.size(), std::vector<double>(at(resamples), std::nan("")));
  context.parallel((resamples + resamples_at_once - 1) / resamples_at_once, [&](Index block) {
    for (Index r = block * resamples_at_once; r < std::min(resamples, (block + 1) * resamples_at_once); ++r) {
      const Random random = context.random("resample", static_cast<std::uint64_t>(r));
      const Values drawn = resampled_metrics(domain, resample_counts(domain.units, random));
      for (std::size_t m = 0; m < drawn.size(); ++m)
        if (drawn[m]) found[m][at(r)] = *drawn[m];
    }
  });
  for (std::size_t m = 0; m < values.size(); ++m)
    if (values[m]) intervals[m] = percentile_bounds(found[m], *values[m]);
  return intervals;
}

/// Share of each class, or the mean of the label alone, by weight.
std::vector<double> prevalence_of(const Dataset& data, const std::vector<Index>& rows) {
  const Labels& y = *data.y;
  std::vector<double> sums(y.task == Task::classify ? y.classes.size() : 1, 0.0);
  double total = 0;
  for (const Index row : rows) {
    const double weight = data.weight.size() == 0 ? 1.0 : data.weight[row];
    total += weight;
    if (y.task == Task::classify)
      sums[at(y.index[at(row)])] += weight;
    else
      sums.front() += weight * y.value[row];
  }
  for (double& sum : sums) sum /= total;
  return sums;
}

template <class T>
std::vector<std::pair<std::string, T>> named(const std::vector<std::string>& names, const std::vector<T>& values) {
  if (names.size() != values.size()) internal_error("{} values of {} metrics", values.size(), names.size());
  std::vector<std::pair<std::string, T>> result;
  for (std::size_t m = 0; m < names.size(); ++m) result.emplace_back(names[m], values[m]);
  return result;
}

/// `by_repetition`: the scored rows; may be empty.
DomainScore score_domain(const Dataset& data, std::size_t number,
                         const std::map<Index, std::vector<Pick>>& by_repetition, const ScoreOptions& options,
                         const Context& context) {
  const auto names = score_metrics(data.y->task, static_cast<Index>(data.y->classes.size()), options.asked);
  DomainScore score;
  score.domain = data.domain.names[number];
  if (by_repetition.empty()) {
    score.metrics = named(names, Values(names.size()));
    return score;
  }
  score.rows = static_cast<Index>(by_repetition.rbegin()->second.size());
  const DomainRows domain = domain_rows(data, by_repetition, options.asked);
  const Values values = metrics_of(domain);
  score.metrics = named(names, values);
  score.prevalence = prevalence_of(data, domain.rows);
  if (options.resamples > 0)
    score.intervals =
        named(names, intervals_of(domain, values, options.resamples, context.derived("bootstrap", number)));
  return score;
}

/// The domain with the worst value of a metric, the first of several.
std::optional<WorstDomain> worst_domain(const std::vector<DomainScore>& domains, const std::string& name) {
  const MetricInfo& metric = *find_metric(name);
  std::optional<WorstDomain> worst;
  for (const DomainScore& domain : domains) {
    const auto value = value_of(domain.metrics, name);
    if (value && (!worst || metric.badness(*value) > metric.badness(worst->value))) worst = {*value, domain.domain};
  }
  return worst;
}

/// The 95% confidence interval of a mean, cut to the metric's range.
std::optional<Bounds> bounds_of_mean(const std::vector<double>& values, const MetricScale& scale) {
  const auto interval = t_interval(values);
  if (!interval || !interval->low) return std::nullopt;
  return Bounds{std::clamp(*interval->low, scale.least, scale.most),
                std::clamp(*interval->high, scale.least, scale.most)};
}

/// Mean, spread and worst over domains and, unless `reference` is the score itself, the paired differences from it.
void summarise(PipelineScore& score, const PipelineScore& reference, const std::vector<std::string>& metrics,
               Index classes) {
  for (const auto& name : metrics) {
    std::vector<double> values;
    for (const DomainScore& domain : score.domains)
      if (const auto value = value_of(domain.metrics, name)) values.push_back(*value);
    score.mean.emplace_back(name, mean_of(values));
    score.spread.emplace_back(name, sample_sd(values));
    score.mean_interval.emplace_back(name, bounds_of_mean(values, find_metric(name)->scale(classes)));
    score.worst.emplace_back(name, worst_domain(score.domains, name));
    if (&score == &reference) continue;
    const std::vector<double> differences = paired_differences(score.domains, reference.domains, name);
    const auto interval = t_interval(differences);
    score.difference.emplace_back(
        name, interval ? std::optional(Difference{*interval, t_test(differences), {}}) : std::nullopt);
  }
}

/// Adjusts the p-values of one metric for the number of pipelines compared with the reference.
void adjust_p_values(std::vector<PipelineScore>& scores, std::size_t metric) {
  std::vector<Difference*> compared;
  std::vector<double> p;
  for (PipelineScore& score : scores) {
    if (score.difference.empty() || !score.difference[metric].second || !score.difference[metric].second->p) continue;
    compared.push_back(&*score.difference[metric].second);
    p.push_back(*compared.back()->p);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < compared.size(); ++i) compared[i]->p_adjusted = adjusted[i];
}

}  // namespace

Outcome outcome_of(Prediction prediction, const std::vector<std::string>& model_classes, const Labels& y,
                   const Split& split) {
  Outcome outcome;
  outcome.repetition = split.repetition;
  outcome.rows = split.held_out;
  outcome.value = std::move(prediction.value);
  outcome.low = std::move(prediction.low);
  outcome.high = std::move(prediction.high);
  if (y.task == Task::regress) return outcome;
  std::map<std::string_view, std::int32_t> place;
  for (std::size_t k = 0; k < y.classes.size(); ++k) place[y.classes[k]] = static_cast<std::int32_t>(k);
  std::vector<std::int32_t> class_of;
  outcome.seen.assign(y.classes.size(), false);
  outcome.probability.setZero(static_cast<Index>(split.held_out.size()), static_cast<Index>(y.classes.size()));
  const bool sets = prediction.set.size() > 0;
  if (sets) outcome.set = Prediction::Sets::Constant(outcome.probability.rows(), outcome.probability.cols(), false);
  for (std::size_t k = 0; k < model_classes.size(); ++k) {
    class_of.push_back(place.at(model_classes[k]));
    outcome.seen[static_cast<std::size_t>(class_of[k])] = true;
    outcome.probability.col(class_of[k]) = prediction.probability.col(static_cast<Index>(k));
    if (sets) outcome.set.col(class_of[k]) = prediction.set.col(static_cast<Index>(k));
  }
  for (const auto k : prediction.index) outcome.predicted.push_back(class_of[static_cast<std::size_t>(k)]);
  return outcome;
}

std::vector<DomainScore> score_domains(const Dataset& data, const std::vector<bool>& held_out,
                                       const std::vector<Outcome>& outcomes, const ScoreOptions& options,
                                       const Context& context) {
  const auto scored = [&](Index row) {
    return !data.y->missing(row) && (data.weight.size() == 0 || data.weight[row] != 0);
  };
  std::vector<std::vector<std::vector<Pick>>> picks(outcomes.size());  // by outcome and domain
  context.parallel(static_cast<Index>(outcomes.size()), [&](Index o) {
    const Outcome& outcome = outcomes[at(o)];
    auto& own = picks[at(o)];
    own.resize(held_out.size());
    for (std::size_t i = 0; i < outcome.rows.size(); ++i)
      if (scored(outcome.rows[i]))
        own[at(data.domain.index[at(outcome.rows[i])])].push_back({&outcome, static_cast<Index>(i)});
  });
  std::vector<DomainScore> scores(held_out.size());
  context.parallel(static_cast<Index>(held_out.size()), [&](Index domain) {
    if (!held_out[at(domain)]) return;
    std::map<Index, std::vector<Pick>> by_repetition;
    for (std::size_t o = 0; o < outcomes.size(); ++o) {
      const std::vector<Pick>& own = picks[o][at(domain)];
      if (own.empty()) continue;
      std::vector<Pick>& rows = by_repetition[outcomes[o].repetition];
      rows.insert(rows.end(), own.begin(), own.end());
    }
    scores[at(domain)] = score_domain(data, at(domain), by_repetition, options, context);
  });
  std::vector<DomainScore> result;
  for (std::size_t d = 0; d < held_out.size(); ++d)
    if (held_out[d]) result.push_back(std::move(scores[d]));
  return result;
}

std::vector<double> paired_differences(const std::vector<DomainScore>& scores, const std::vector<DomainScore>& others,
                                       std::string_view metric) {
  std::vector<double> differences;
  for (std::size_t d = 0; d < scores.size(); ++d) {
    const auto value = value_of(scores[d].metrics, metric);
    const auto other = value_of(others[d].metrics, metric);
    if (value && other) differences.push_back(*value - *other);
  }
  return differences;
}

void compare_pipelines(Evaluation& evaluation) {
  std::vector<PipelineScore>& scores = evaluation.pipelines;
  const auto first = std::ranges::find_if(scores, [](const PipelineScore& score) { return !score.error; });
  evaluation.reference = first == scores.end() ? 0 : static_cast<std::size_t>(first - scores.begin());
  for (PipelineScore& score : scores)
    summarise(score, scores[evaluation.reference], evaluation.metrics, std::ssize(evaluation.classes));
  for (std::size_t m = 0; m < evaluation.metrics.size(); ++m) adjust_p_values(scores, m);
}

}  // namespace ecotone
