#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/experiment.h"
#include "ecotone/evaluate/experiment_choice.h"
#include "ecotone/evaluate/experiment_shift.h"
#include "ecotone/evaluate/json_number.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {

namespace {

constexpr int enough_repetitions = 30;  // fewer give a standard error that is itself uncertain by more than 13 %

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
  row.ours = mean_of(cell.values).value();
  row.spread = sample_sd(cell.values);
  row.repetitions = static_cast<Index>(cell.values.size());
  if (row.spread) row.se = *row.spread / std::sqrt(static_cast<double>(row.repetitions));
  row.verdict = verdict(row);
  return row;
}

ReproducedClaim checked(const Claim& claim, const std::vector<ReproducedRow>& rows) {
  for (const ReproducedRow& row : rows) {
    if (row.row != claim.row || row.column != claim.column) continue;
    return {claim, row.ours, claim.at_most ? row.ours <= *claim.at_most : row.ours >= *claim.at_least};
  }
  internal_error("no cell '{}' of '{}' for a claim", claim.row, claim.column);
}

}  // namespace

std::span<const ExperimentKind> experiment_kinds() {
  static const ExperimentKind kinds[] = {shift_kind(), choice_kind()};
  return kinds;
}

std::string_view verdict_rule() {
  return "agrees: |ours - published| <= 2 sqrt(se_published^2 + se_ours^2), else differs; se_ours = spread / "
         "sqrt(repetitions), and a standard error that is not published counts as 0";
}

std::string verdict(const ReproducedRow& row) {
  if (!row.published) return "no published number";
  if (!row.se) return "one repetition";
  const double allowed = 2 * std::hypot(row.published_se.value_or(0), *row.se);
  return std::abs(row.ours - *row.published) <= allowed ? "agrees" : "differs";
}

Reproduction reproduce(const Experiment& experiment, const ExperimentItem& item, const ReproduceOptions& options,
                       const Context& context) {
  const auto kinds = experiment_kinds();
  const auto kind = std::ranges::find(kinds, item.kind, &ExperimentKind::name);
  if (kind == kinds.end()) internal_error("kind '{}' was not checked", item.kind);
  if (!options.data.empty() && !kind->reads_data)
    option_error("idle_flag", "--data goes with items that read files; {} {} of {} draws its data", item.sort,
                 item.name, experiment.name);
  const int repetitions = options.repetitions > 0 ? options.repetitions : item.repetitions;
  if (repetitions < enough_repetitions && repetitions < item.repetitions)
    context.note("reproduce: {} repetition{} where the experiment has {}; verdicts of so few say little", repetitions,
                 repetitions == 1 ? "" : "s", item.repetitions);
  const std::vector<Cell> cells = kind->run(item, repetitions, options.data, context);
  Reproduction result{.paper = experiment.paper,
                      .item = item.name,
                      .title = item.title,
                      .metric = item.metric,
                      .source = experiment.source,
                      .rows = {},
                      .claims = {},
                      .left_out = item.left_out,
                      .matrix = kind->matrix};
  for (const Cell& cell : cells) result.rows.push_back(beside_published(experiment, item, cell));
  for (const Claim& claim : item.claims) result.claims.push_back(checked(claim, result.rows));
  return result;
}

Json Reproduction::to_json() const {
  Json json_rows = Json::array();
  for (const ReproducedRow& row : rows) {
    json_rows.push_back({{"row", row.row},
                         {"column", row.column},
                         {"published", json_number(row.published)},
                         {"published_spread", json_number(row.published_spread)},
                         {"published_se", json_number(row.published_se)},
                         {"ours", row.ours},
                         {"spread", json_number(row.spread)},
                         {"se", json_number(row.se)},
                         {"repetitions", row.repetitions},
                         {"verdict", row.verdict}});
    if (!row.from.empty()) json_rows.back()["from"] = row.from;
  }
  Json json_claims = Json::array();
  for (const ReproducedClaim& one : claims) {
    json_claims.push_back(
        {{"claim", one.claim.text},
         {"row", one.claim.row},
         {"column", one.claim.column},
         {one.claim.at_most ? "at_most" : "at_least", one.claim.at_most ? *one.claim.at_most : *one.claim.at_least},
         {"ours", one.ours},
         {"holds", one.holds}});
  }
  return {{"paper", paper},       {"item", item},      {"title", title},
          {"metric", metric},     {"rows", json_rows}, {"claims", json_claims},
          {"left_out", left_out}, {"source", source},  {"rule", verdict_rule()}};
}

}  // namespace ecotone
