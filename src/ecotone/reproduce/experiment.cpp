#include "ecotone/reproduce/experiment.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/reproduce/json_fields.h"

namespace ecotone {

namespace {

Json parse_json(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
}

Claim parse_claim(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ", a claim");
  Claim claim;
  claim.text = fields.text("claim");
  claim.row = fields.text("row");
  claim.column = fields.text("column");
  claim.minus = fields.text("minus", "");
  if (fields.has("at_most")) claim.at_most = fields.number("at_most");
  if (fields.has("at_least")) claim.at_least = fields.number("at_least");
  if (claim.at_most.has_value() == claim.at_least.has_value())
    file_error("bad_experiment", "{}: either 'at_most' or 'at_least' is needed", fields.where());
  if (fields.has("errors")) claim.errors = fields.number("errors");
  if (claim.errors < 0 || (claim.errors > 0 && !claim.minus.empty()))
    file_error("bad_experiment", "{}: 'errors' must be >= 0 and works only without 'minus'", fields.where());
  fields.finish();
  return claim;
}

const ExperimentKind& kind_by_name(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const ExperimentKind& kind : experiment_kinds()) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  file_error("bad_experiment", "{}: unknown kind '{}'; choose one of {}", where, name, fmt::join(names, ", "));
}

/// A number for all cells, or an object of numbers by row or column.
std::vector<std::pair<std::string, double>> parse_margins(const Json& json, const std::string& where) {
  std::vector<std::pair<std::string, double>> margins;
  const auto add = [&](const std::string& name, const Json& value) {
    if (!value.is_number() || !(value.get<double>() > 0))
      file_error("bad_experiment", "{}: field 'margin' must be a number > 0, or an object of them", where);
    margins.emplace_back(name, value.get<double>());
  };
  if (!json.is_object())
    add("", json);
  else
    for (const auto& [name, value] : json.items()) add(name, value);
  return margins;
}

void require_cell(const std::vector<CellName>& cells, const std::string& row, const std::string& column,
                  const std::string& where) {
  if (std::ranges::find(cells, CellName{row, column}) == cells.end())
    file_error("bad_experiment", "{}: a number or a claim refers to row '{}' and column '{}', which it does not run",
               where, row, column);
}

/// Reads the fields that every item has; the others are passed to the kind.
ExperimentItem parse_item(const Json& json, const std::vector<Published>& published, const std::string& file) {
  constexpr std::string_view sorts[] = {"example", "table", "figure", "item"};
  ExperimentItem item;
  std::string where = file + ": an item";
  JsonFields fields(json, where);
  for (const std::string_view sort : sorts) {
    if (!fields.has(std::string(sort))) continue;
    if (!item.sort.empty()) file_error("bad_experiment", "{}: it is both {} and {}", where, item.sort, sort);
    item.sort = sort;
    item.name = fields.text(item.sort);
  }
  if (item.sort.empty()) file_error("bad_experiment", "{}: one of example, table, figure, item must name it", where);
  where = fmt::format("{}: {} '{}'", file, item.sort, item.name);
  JsonFields named(json, where);
  item.title = named.text("title");
  item.kind = named.text("kind");
  item.metric = named.text("metric");
  item.repetitions = named.whole("repetitions", 1, 1'000'000);
  if (named.has("trimmed")) item.trimmed = named.whole("trimmed", 0, (item.repetitions - 1) / 2);
  if (named.has("claims"))
    for (const Json& claim : named.list("claims")) item.claims.push_back(parse_claim(claim, where));
  if (named.has("left_out")) item.left_out = named.texts("left_out");
  if (json.contains("margin")) item.margins = parse_margins(json["margin"], where);
  item.processor = named.text("processor", "");
  item.recipe = json;
  for (const char* name :
       {"title", "kind", "metric", "repetitions", "trimmed", "claims", "left_out", "margin", "processor"})
    item.recipe.erase(name);
  item.recipe.erase(item.sort);
  const std::vector<CellName> cells = kind_by_name(item.kind, where).check(item, where);
  // Claims and numbers about cells that do not exist are typos.
  for (const Claim& claim : item.claims) {
    require_cell(cells, claim.row, claim.column, where);
    if (!claim.minus.empty()) require_cell(cells, claim.minus, claim.column, where);
  }
  for (const Published& number : published) {
    if (number.item != item.name) continue;
    require_cell(cells, number.row, number.column, where);
    if (!margin_of(item, number.row, number.column))
      file_error("bad_experiment", "{}: row '{}' and column '{}' have a number beside ours but no 'margin'", where,
                 number.row, number.column);
  }
  return item;
}

Published parse_published(const Json& json, const std::string& file) {
  JsonFields fields(json, file + ": a number");
  Published number;
  number.item = fields.text("item");
  number.row = fields.text("row");
  number.column = fields.text("column");
  number.value = fields.number("published");
  number.from = fields.text("from", "");
  if (fields.has("published_se")) number.se = fields.number("published_se");
  if (fields.has("published_spread")) number.spread = fields.number("published_spread");
  if (fields.has("published_repetitions")) {
    // se = sd / sqrt(repetitions) gives whichever of the two is missing
    const double root = std::sqrt(fields.whole("published_repetitions", 1, 1'000'000'000));
    if (number.se && !number.spread) number.spread = *number.se * root;
    if (number.spread && !number.se) number.se = *number.spread / root;
  }
  fields.finish();
  return number;
}

}  // namespace

std::optional<double> margin_of(const ExperimentItem& item, const std::string& row, const std::string& column) {
  for (const std::string& name : {row, column, std::string()})
    for (const auto& [of, margin] : item.margins)
      if (of == name) return margin;
  return std::nullopt;
}

Experiment parse_experiment(const std::string& name, std::string_view recipe, std::string_view published) {
  const std::string recipe_file = name + "/experiment.json";
  const std::string published_file = name + "/published.json";
  const Json json = parse_json(recipe, recipe_file);
  const Json numbers = parse_json(published, published_file);
  Experiment experiment{.name = name, .paper = {}, .title = {}, .source = {}, .items = {}, .published = {}};
  JsonFields published_fields(numbers, published_file);
  experiment.source = published_fields.text("source");
  if (published_fields.has("earlier")) experiment.earlier = published_fields.flag("earlier");
  if (published_fields.has("numbers"))
    for (const Json& number : published_fields.list("numbers"))
      experiment.published.push_back(parse_published(number, published_file));
  published_fields.finish();
  JsonFields fields(json, recipe_file);
  experiment.paper = fields.text("paper");
  experiment.title = fields.text("title");
  for (const Json& item : fields.list("items"))
    experiment.items.push_back(parse_item(item, experiment.published, recipe_file));
  fields.finish();
  for (const Published& one : experiment.published)
    if (std::ranges::find(experiment.items, one.item, &ExperimentItem::name) == experiment.items.end())
      file_error("bad_experiment", "{}: there is no item '{}'", published_file, one.item);
  return experiment;
}

const ExperimentItem& Experiment::item(std::string_view item_name, std::string_view sort) const {
  std::vector<std::string> there;
  for (const ExperimentItem& one : items) {
    if (one.name == item_name && (sort.empty() || one.sort == sort)) return one;
    there.push_back(fmt::format("--{} {}", one.sort, one.name));
  }
  option_error("unknown_item", "{} has no {} '{}'; choose one of {}", name, sort.empty() ? "item" : sort, item_name,
               fmt::join(there, ", "));
}

Experiment experiment(std::string_view name) {
  std::vector<std::string> names;
  for (const EmbeddedExperiment& embedded : embedded_experiments()) {
    if (embedded.name == name) return parse_experiment(std::string(name), embedded.recipe, embedded.published);
    names.emplace_back(embedded.name);
  }
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) option_error("unknown_experiment", "no experiment '{}'; did you mean '{}'?", name, near);
  option_error("unknown_experiment", "no experiment '{}'; choose one of {}", name, fmt::join(names, ", "));
}

}  // namespace ecotone
