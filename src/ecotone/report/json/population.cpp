#include "ecotone/diagnose/population.h"

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/column_kind.h"
#include "ecotone/report/json/json.h"

namespace ecotone {
namespace {

Json figures_json(const ColumnFigures& figures, ColumnKind kind) {
  Json json = {{"missing", figures.missing}};
  if (kind == ColumnKind::categorical) {
    json["share"] = figures.share;
  } else {
    json["mean"] = json_number(figures.mean);
    json["sd"] = json_number(figures.sd);
  }
  return json;
}

Json column_json(const ColumnSummary& column) {
  Json domains = Json::array();
  for (const ColumnFigures& figures : column.of_domain) domains.push_back(figures_json(figures, column.kind));
  Json json = {{"column", column.name},
               {"kind", column_kind_word(column.kind)},
               {"domains", std::move(domains)},
               {"all", figures_json(column.of_all, column.kind)}};
  if (column.kind == ColumnKind::categorical) json["levels"] = column.levels;
  return json;
}

}  // namespace

Json to_json(const Population& population) {
  Json domains = Json::array();
  for (std::size_t d = 0; d < population.domains.size(); ++d) {
    Json domain = {{"domain", population.domains[d]}, {"rows", population.rows[d]}};
    if (!population.labelled.empty()) domain["labelled"] = population.labelled[d];
    if (!population.class_share.empty())
      domain["share"] = population.class_share[d].empty() ? Json(nullptr) : Json(population.class_share[d]);
    if (!population.label_mean.empty()) domain["label_mean"] = json_number(population.label_mean[d]);
    domains.push_back(std::move(domain));
  }
  Json columns = Json::array();
  for (const ColumnSummary& column : population.columns) columns.push_back(column_json(column));
  return {{"domain_word", population.domain_word},
          {"domains", std::move(domains)},
          {"label", population.label},
          {"classes", population.classes},
          {"columns", std::move(columns)},
          {"further_columns", population.further_columns}};
}

}  // namespace ecotone
