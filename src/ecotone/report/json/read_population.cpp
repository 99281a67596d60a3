#include "ecotone/diagnose/population.h"
#include "ecotone/report/json/column_kind.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {
namespace {

ColumnFigures read_figures(const ResultField& field, const ColumnSummary& column) {
  ColumnFigures figures;
  figures.missing = field.at("missing").number();
  if (column.kind == ColumnKind::categorical) {
    figures.share = field.at("share").sized(column.levels.size()).numbers();
  } else {
    figures.mean = field.at("mean").optional_number();
    figures.sd = field.at("sd").optional_number();
  }
  return figures;
}

ColumnSummary read_column_summary(const ResultField& field, std::size_t domains) {
  ColumnSummary column;
  column.name = field.at("column").text();
  column.kind = read_column_kind(field.at("kind"));
  if (column.kind == ColumnKind::categorical) column.levels = field.at("levels").texts();
  column.of_domain =
      field.at("domains").sized(domains).each([&](const ResultField& each) { return read_figures(each, column); });
  column.of_all = read_figures(field.at("all"), column);
  return column;
}

/// A domain, after `population.classes`.
void read_inhabitants(Population& population, const ResultField& field) {
  population.domains.push_back(field.at("domain").text());
  population.rows.push_back(field.at("rows").whole());
  if (const auto labelled = field.find("labelled")) population.labelled.push_back(labelled->whole());
  if (const auto share = field.find("share"))
    population.class_share.push_back(share->is_null() ? std::vector<double>()
                                                      : share->sized(population.classes.size()).numbers());
  if (const auto mean = field.find("label_mean")) population.label_mean.push_back(mean->optional_number());
}

/// Refuses labels of some domains alone, and classes without their shares.
void require_labels_of_all(const Population& population, const ResultField& field) {
  const std::size_t domains = population.domains.size();
  for (const std::size_t count :
       {population.labelled.size(), population.class_share.size(), population.label_mean.size()})
    if (count != 0 && count != domains) field.fail("must all have the same fields");
  if (!population.classes.empty() &&
      (population.labelled.size() != domains || population.class_share.size() != domains))
    field.fail("must have `labelled` and `share`, since there are classes");
  if (!population.label_mean.empty() && population.labelled.size() != domains)
    field.fail("must have `labelled` beside `label_mean`");
}

}  // namespace

Population population_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Population population;
  population.domain_word = field.at("domain_word").text();
  population.label = field.at("label").text();
  population.classes = field.at("classes").texts();
  const ResultField domains = field.at("domains");
  for (const ResultField& each : domains.items()) read_inhabitants(population, each);
  require_labels_of_all(population, domains);
  population.columns = field.at("columns").each(
      [&](const ResultField& each) { return read_column_summary(each, population.domains.size()); });
  population.further_columns = field.at("further_columns").whole();
  return population;
}

}  // namespace ecotone
