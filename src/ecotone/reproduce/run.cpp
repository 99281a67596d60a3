#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/reproduce/experiment.h"
#include "ecotone/reproduce/kinds/boost.h"
#include "ecotone/reproduce/kinds/choice.h"
#include "ecotone/reproduce/kinds/shift.h"

namespace ecotone {

namespace {

constexpr int enough_repetitions = 30;  // with fewer, the standard error is itself uncertain by more than 13%

ReproducedRow beside_published(const Experiment& experiment, const ExperimentItem& item, const Cell& cell) {
  ReproducedRow row;
  row.row = cell.row;
  row.column = cell.column;
  for (const Published& published : experiment.published) {
    if (published.item != item.name || published.row != cell.row || published.column != cell.column) continue;
    row.published = published.value;
    row.published_spread = published.spread;
    row.published_se = published.se;
    row.from = published.from;
  }
  std::vector<double> values = cell.values;
  if (item.trimmed > 0) {
    std::ranges::sort(values);
    values.erase(values.end() - item.trimmed, values.end());
    values.erase(values.begin(), values.begin() + item.trimmed);
  }
  row.ours = mean_of(values).value();
  row.spread = sample_sd(values);
  row.repetitions = static_cast<Index>(cell.values.size());
  if (row.spread) row.se = *row.spread / std::sqrt(static_cast<double>(values.size()));
  row.verdict = verdict(row);
  return row;
}

double ours_in(const std::vector<ReproducedRow>& rows, const std::string& name, const std::string& column) {
  for (const ReproducedRow& row : rows)
    if (row.row == name && row.column == column) return row.ours;
  internal_error("no cell '{}' of '{}' for a claim", name, column);
}

ReproducedClaim checked(const Claim& claim, const std::vector<ReproducedRow>& rows) {
  double ours = ours_in(rows, claim.row, claim.column);
  if (!claim.minus.empty()) ours -= ours_in(rows, claim.minus, claim.column);
  return {claim, ours, claim.at_most ? ours <= *claim.at_most : ours >= *claim.at_least};
}

const ExperimentKind& kind_of(const ExperimentItem& item) {
  for (const ExperimentKind& kind : experiment_kinds())
    if (kind.name == item.kind) return kind;
  internal_error("kind '{}' was not checked", item.kind);
}

}  // namespace

std::span<const ExperimentKind> experiment_kinds() {
  static const ExperimentKind kinds[] = {shift_kind(), choice_kind(), boost_kind(), boost_figure_kind()};
  return kinds;
}

std::string_view verdict_rule() {
  return "agrees: |ours - published| <= 2 sqrt(se_published^2 + se_ours^2), else differs; se_ours = spread / "
         "sqrt(repetitions), and a standard error that is not published counts as 0";
}

std::string verdict(const ReproducedRow& row) {
  if (!row.published) return "no published value";
  if (!row.se) return "one repetition";
  const double allowed = 2 * std::hypot(row.published_se.value_or(0), *row.se);
  return std::abs(row.ours - *row.published) <= allowed ? "agrees" : "differs";
}

Reproduction reproduce(const Experiment& experiment, const ExperimentItem& item, const ReproduceOptions& options,
                       const Context& context) {
  const ExperimentKind& kind = kind_of(item);
  if (!options.data.empty() && !kind.reads_data)
    option_error("idle_flag", "--data works only with items that read files; {} {} of {} generates its data", item.sort,
                 item.name, experiment.name);
  const int repetitions = options.repetitions > 0 ? options.repetitions : item.repetitions;
  if (repetitions < enough_repetitions && repetitions < item.repetitions)
    context.note("reproduce: {} repetition{} instead of the experiment's {}; verdicts from so few mean little",
                 repetitions, repetitions == 1 ? "" : "s", item.repetitions);
  if (repetitions <= 2 * item.trimmed)
    option_error("too_few_repetitions",
                 "reproduce: {} {} of {} leaves out the {} smallest and largest values, so it needs at least {} "
                 "repetitions, got {}",
                 item.sort, item.name, experiment.name, item.trimmed, 2 * item.trimmed + 1, repetitions);
  const std::vector<Cell> cells = kind.run(item, repetitions, options.data, context);
  Reproduction result{.paper = experiment.paper,
                      .item = item.name,
                      .title = item.title,
                      .metric = item.metric,
                      .source = experiment.source,
                      .rows = {},
                      .claims = {},
                      .left_out = item.left_out,
                      .trimmed = item.trimmed,
                      .matrix = kind.matrix};
  std::vector<ReproducedRow> all;
  for (const Cell& cell : cells) {
    all.push_back(beside_published(experiment, item, cell));
    if (!cell.hidden) result.rows.push_back(all.back());
  }
  for (const Claim& claim : item.claims) result.claims.push_back(checked(claim, all));
  return result;
}

Figures draw_figures(const Experiment& experiment, const ExperimentItem& item, const Context& context) {
  const ExperimentKind& kind = kind_of(item);
  if (kind.draw == nullptr)
    option_error("idle_flag", "-o works only with items that draw pictures; {} {} of {} is a table", item.sort,
                 item.name, experiment.name);
  return kind.draw(item, context);
}

}  // namespace ecotone
