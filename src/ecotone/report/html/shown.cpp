#include "ecotone/report/html/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_scored = 60;    // domains with scores
constexpr std::size_t most_compared = 30;  // domains in tables of columns

/// The items at these places.
template <class T>
void keep_places(std::vector<T>& items, const std::vector<std::size_t>& places) {
  std::vector<T> kept;
  for (const std::size_t place : places) kept.push_back(std::move(items[place]));
  items = std::move(kept);
}

template <class T>
void keep_first(std::vector<T>& items, std::size_t count) {
  if (items.size() > count) items.resize(count);
}

/// The domains in which the best pipeline does worst, in their order; those without a value last.
std::vector<std::size_t> hardest(const Results& results) {
  const std::size_t m = results.headline;
  const auto& domains = results.pipelines[results.best(m).value_or(0)].domains;
  std::vector<std::size_t> order(domains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto badness = [&](std::size_t d) {
    return domains[d].metrics[m] ? results.metrics[m]->badness(*domains[d].metrics[m]) : -INFINITY;
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, badness);
  keep_first(order, most_scored);
  std::ranges::sort(order);
  return order;
}

void trim(Evaluation& evaluation, const std::vector<std::size_t>& places) {
  for (PipelineScore& score : evaluation.pipelines) {
    keep_places(score.domains, places);
    if (score.known) keep_places(score.known->domains, places);
    if (score.curves) keep_places(score.curves->domains, places);
  }
}

/// Splits may be many although domains are few.
void trim_splits(Evaluation& evaluation) {
  for (PipelineScore& score : evaluation.pipelines) {
    keep_first(score.chosen, most_scored);
    keep_first(score.thresholds, most_scored);
    if (!score.importance) continue;
    keep_first(score.importance->splits, most_scored);
    for (ColumnImportance& column : score.importance->columns) keep_first(column.splits, most_scored);
  }
}

/// The farthest domains come first in against_rest.
void trim(Diagnosis& diagnosis) {
  keep_first(diagnosis.advice, static_cast<std::size_t>(most_advice));
  keep_first(diagnosis.labels, most_scored);
  if (diagnosis.domains.size() <= most_compared) return;
  std::vector<std::string> farthest;
  for (const Comparison& one : diagnosis.against_rest)
    if (farthest.size() < most_compared) farthest.push_back(one.a);
  const auto places_of = [&](const std::vector<std::string>& names) {
    std::vector<std::size_t> places;
    for (std::size_t d = 0; d < names.size(); ++d)
      if (std::ranges::find(farthest, names[d]) != farthest.end()) places.push_back(d);
    return places;
  };
  const std::vector<std::size_t> in_table = places_of(diagnosis.shifts.domains);
  keep_places(diagnosis.shifts.smd, in_table);
  keep_places(diagnosis.shifts.domains, in_table);
  const std::vector<std::size_t> in_all = places_of(diagnosis.domains);
  for (MissingShift& column : diagnosis.missing) keep_places(column.share, in_all);
  keep_places(diagnosis.domain_rows, in_all);
  keep_places(diagnosis.domains, in_all);
}

void trim(Population& population) {
  keep_first(population.domains, most_compared);
  keep_first(population.rows, most_compared);
  keep_first(population.labelled, most_compared);
  keep_first(population.class_share, most_compared);
  keep_first(population.label_mean, most_compared);
  for (ColumnSummary& column : population.columns) keep_first(column.of_domain, most_compared);
}

}  // namespace

Shown shown_part(const Report& report, const Results* full) {
  Shown shown{report, {}};
  if (shown.report.evaluation) {
    const std::size_t domains = shown.report.evaluation->pipelines.front().domains.size();
    trim_splits(*shown.report.evaluation);
    if (domains > most_scored) {
      trim(*shown.report.evaluation, hardest(*full));
      shown.domains = fmt::format("; the {} hardest of {}", most_scored, plural(domains, full->unit));
    }
  }
  if (shown.report.diagnosis) trim(*shown.report.diagnosis);
  if (shown.report.population) trim(*shown.report.population);
  return shown;
}

}  // namespace ecotone::report
