#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/reproduce/experiment.h"
#include "ecotone/reproduce/kinds/boost.h"
#include "ecotone/reproduce/kinds/choice.h"
#include "ecotone/reproduce/kinds/domain_splits.h"
#include "ecotone/reproduce/kinds/labels.h"
#include "ecotone/reproduce/kinds/logistic_examples.h"
#include "ecotone/reproduce/kinds/paths.h"
#include "ecotone/reproduce/kinds/projections.h"
#include "ecotone/reproduce/kinds/records.h"
#include "ecotone/reproduce/kinds/shift.h"
#include "ecotone/reproduce/kinds/trust.h"

namespace ecotone {

namespace {

constexpr int enough_repetitions = 30;  // with fewer, the standard error is itself uncertain by more than 13%

ReproducedRow beside_published(const Experiment& experiment, const ExperimentItem& item, const Cell& cell) {
  ReproducedRow row;
  row.row = cell.row;
  row.column = cell.column;
  for (const Published& published : experiment.published) {
    if (!item.is_called(published.item) || published.row != cell.row || published.column != cell.column) continue;
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
  // A small version, or one on other data, is another problem.
  if (!row.published || experiment.quick || item.other_data) return row;
  row.margin = margin_of(item, row.row, row.column);
  row.verdict = verdict(row);
  return row;
}

const ReproducedRow& cell_in(const std::vector<ReproducedRow>& rows, const std::string& name,
                             const std::string& column) {
  for (const ReproducedRow& row : rows)
    if (row.row == name && row.column == column) return row;
  internal_error("no cell '{}' of '{}' for a claim", name, column);
}

ReproducedClaim checked(const Claim& claim, const std::vector<ReproducedRow>& rows) {
  const ReproducedRow& cell = cell_in(rows, claim.row, claim.column);
  double ours = cell.ours;
  if (!claim.minus.empty()) ours -= cell_in(rows, claim.minus, claim.column).ours;
  if (claim.near) {
    const double se = cell.se.value_or(0);
    const bool near = std::abs(ours - claim.near->value) <= 2 * std::hypot(claim.near->se, se);
    if (near && se > 2 * claim.near->se) return {claim, ours, std::nullopt};
    return {claim, ours, near};
  }
  const double noise = claim.errors * cell.se.value_or(0);
  return {claim, ours, claim.at_most ? ours <= *claim.at_most + noise : ours >= *claim.at_least - noise};
}

const ExperimentKind& kind_of(const ExperimentItem& item) {
  for (const ExperimentKind& kind : experiment_kinds())
    if (kind.name == item.kind) return kind;
  internal_error("kind '{}' was not checked", item.kind);
}

}  // namespace

std::span<const ExperimentKind> experiment_kinds() {
  static const ExperimentKind kinds[] = {shift_kind(),
                                         choice_kind(),
                                         records_kind(),
                                         boost_kind(),
                                         boost_figure_kind(),
                                         paths_kind(),
                                         projections_kind(),
                                         domain_splits_kind(),
                                         logistic_binary_kind(),
                                         logistic_classes_kind(),
                                         logistic_queries_kind(),
                                         query_table_kind(),
                                         concept_shift_kind(),
                                         labels_kind(),
                                         expected_kind(),
                                         sets_kind(),
                                         class_shares_kind()};
  return kinds;
}

std::string part_name(const Reproduction& reproduction) {
  const std::string item =
      reproduction.sort == "item" ? reproduction.item : fmt::format("{} {}", reproduction.sort, reproduction.item);
  return fmt::format("{} · {}", reproduction.experiment, item);
}

std::string_view claim_verdict(const ReproducedClaim& claim) {
  if (!claim.holds) return "cannot tell";
  return *claim.holds ? "holds" : "does not hold";
}

std::string_view reference_name(const Reproduction& reproduction) {
  return reproduction.earlier ? "earlier" : "published";
}

std::string_view verdict_rule() {
  return "with d = |ours - the number beside it| and n = 2 sqrt(its se^2 + our se^2): agrees if d and n are at most "
         "the "
         "margin, differs if d exceeds both, otherwise cannot tell; our se = spread / sqrt(repetitions), and a "
         "standard "
         "error that is not given counts as 0";
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::agrees:
      return "agrees";
    case Verdict::differs:
      return "differs";
    case Verdict::cannot_tell:
      return "cannot tell";
    default:
      return "";
  }
}

Verdict verdict(const ReproducedRow& row) {
  if (!row.published) return Verdict::none;
  if (!row.se || !row.margin) return Verdict::cannot_tell;
  const double difference = std::abs(row.ours - *row.published);
  const double noise = 2 * std::hypot(row.published_se.value_or(0), *row.se);
  if (difference <= *row.margin && noise <= *row.margin) return Verdict::agrees;
  return difference > *row.margin && difference > noise ? Verdict::differs : Verdict::cannot_tell;
}

VerdictCounts count_verdicts(const Reproduction& reproduction) {
  VerdictCounts counts;
  for (const ReproducedRow& row : reproduction.rows) {
    counts.cells += row.verdict != Verdict::none;
    counts.agree += row.verdict == Verdict::agrees;
    counts.differ += row.verdict == Verdict::differs;
    counts.cannot_tell += row.verdict == Verdict::cannot_tell;
  }
  return counts;
}

Reproduction reproduce(const Experiment& experiment, const ExperimentItem& item, const ReproduceOptions& options,
                       const Context& context) {
  const ExperimentKind& kind = kind_of(item);
  if (!options.data.empty() && !kind.reads_data)
    option_error("idle_flag", "--data works only with items that read files; {} {} of {} generates its data", item.sort,
                 item.name, experiment.name);
  ReproduceOptions resolved = options;
  if (options.repetitions == 0) resolved.repetitions = item.repetitions;
  const int repetitions = resolved.repetitions;
  if (experiment.quick)
    context.note("reproduce: a small version of {} {} of {}; it shows that the experiment runs, not what it finds",
                 item.sort, item.name, experiment.name);
  else if (repetitions < enough_repetitions && repetitions < item.repetitions)
    context.note("reproduce: {} repetition{} instead of the experiment's {}; verdicts from so few mean little",
                 repetitions, repetitions == 1 ? "" : "s", item.repetitions);
  require_repetitions(experiment, item, repetitions);
  const std::vector<Cell> cells = kind.run(item, resolved, context);
  Reproduction result{.experiment = experiment.name,
                      .paper = experiment.paper,
                      .sort = item.sort,
                      .item = item.name,
                      .title = item.title,
                      .metric = item.metric,
                      .source = experiment.is_earlier(item) ? experiment.earlier_source : experiment.source,
                      .rows = {},
                      .claims = {},
                      .left_out = item.left_out,
                      .processor = item.processor,
                      .earlier = experiment.is_earlier(item),
                      .quick = experiment.quick,
                      .trimmed = item.trimmed,
                      .matrix = kind.matrix,
                      .figures = {}};
  std::vector<ReproducedRow> all;
  for (const Cell& cell : cells) {
    all.push_back(beside_published(experiment, item, cell));
    if (!cell.hidden) result.rows.push_back(all.back());
  }
  for (const Claim& claim : item.claims) result.claims.push_back(checked(claim, all));
  if (options.draw && kind.draw != nullptr) result.figures = kind.draw(item, cells, resolved, context);
  return result;
}

void require_repetitions(const Experiment& experiment, const ExperimentItem& item, int repetitions) {
  if (repetitions > 0 && repetitions <= 2 * item.trimmed)
    option_error("too_few_repetitions",
                 "reproduce: {} {} of {} leaves out the {} smallest and largest values, so it needs at least {} "
                 "repetitions, got {}",
                 item.sort, item.name, experiment.name, item.trimmed, 2 * item.trimmed + 1, repetitions);
}

bool has_figures(const ExperimentItem& item) { return kind_of(item).draw != nullptr; }
bool reads_data(const ExperimentItem& item) { return kind_of(item).reads_data; }

}  // namespace ecotone
