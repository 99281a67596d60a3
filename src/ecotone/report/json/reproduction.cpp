#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone {

Json to_json(const Reproduction& reproduction) {
  Json json_rows = Json::array();
  const std::string reference(reference_name(reproduction));
  for (const ReproducedRow& row : reproduction.rows) {
    json_rows.push_back({{"row", row.row},
                         {"column", row.column},
                         {reference, json_number(row.published)},
                         {reference + "_spread", json_number(row.published_spread)},
                         {reference + "_se", json_number(row.published_se)},
                         {"margin", json_number(row.margin)},
                         {"ours", json_number(row.ours)},
                         {"spread", json_number(row.spread)},
                         {"se", json_number(row.se)},
                         {"repetitions", row.repetitions},
                         {"verdict", nullptr}});
    if (row.verdict != Verdict::none) json_rows.back()["verdict"] = verdict_name(row.verdict);
    if (!row.from.empty()) json_rows.back()["from"] = row.from;
  }
  Json json_claims = Json::array();
  for (const ReproducedClaim& one : reproduction.claims) {
    json_claims.push_back({{"claim", one.claim.text},
                           {"row", one.claim.row},
                           {"column", one.claim.column},
                           {"ours", json_number(one.ours)},
                           {"holds", nullptr}});
    Json& claim = json_claims.back();
    if (one.holds) claim["holds"] = *one.holds;
    if (one.claim.at_most) claim["at_most"] = *one.claim.at_most;
    if (one.claim.at_least) claim["at_least"] = *one.claim.at_least;
    if (one.claim.near) claim.update({{"near", one.claim.near->value}, {"near_se", one.claim.near->se}});
    if (one.claim.errors > 0) claim["errors"] = one.claim.errors;
    if (!one.claim.minus.empty()) claim["minus"] = one.claim.minus;
  }
  Json json = {{"experiment", reproduction.experiment},
               {"paper", reproduction.paper},
               {"part", reproduction.sort},
               {"item", reproduction.item},
               {"title", reproduction.title},
               {"metric", reproduction.metric},
               {"numbers", reference},
               {"matrix", reproduction.matrix},
               {"rows", json_rows},
               {"claims", json_claims},
               {"left_out", reproduction.left_out},
               {"source", reproduction.source},
               {"rule", verdict_rule()}};
  if (const VerdictCounts counts = count_verdicts(reproduction); counts.cells > 0)
    json["summary"] = {{"numbers", reference},
                       {"cells", counts.cells},
                       {"agree", counts.agree},
                       {"differ", counts.differ},
                       {"cannot_tell", counts.cannot_tell}};
  if (!reproduction.processor.empty()) json["processor"] = reproduction.processor;
  if (reproduction.trimmed > 0) json["trimmed"] = reproduction.trimmed;
  if (reproduction.quick) json["quick"] = true;
  if (!reproduction.figures.empty()) json["figures"] = to_json(reproduction.figures);
  return json;
}

Json to_json(const Experiment& experiment) {
  Json items = Json::array();
  for (const ExperimentItem& item : experiment.items)
    items.push_back({{"item", item.name},
                     {"sort", item.sort},
                     {"kind", item.kind},
                     {"title", item.title},
                     {"metric", item.metric},
                     {"repetitions", item.repetitions}});
  return {{"experiment", experiment.name}, {"paper", experiment.paper}, {"title", experiment.title}, {"items", items}};
}

}  // namespace ecotone
