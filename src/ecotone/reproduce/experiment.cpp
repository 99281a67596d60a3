#include "ecotone/reproduce/experiment.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/reproduce/json_fields.h"

namespace ecotone {

namespace {

/// The fields that may name an item: the flags that choose it.
constexpr const char* item_sorts[] = {"example", "table", "figure", "item"};

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
  if (fields.has("near")) claim.near = Nearness{fields.number("near"), fields.number("near_se")};
  if (claim.at_most.has_value() + claim.at_least.has_value() + claim.near.has_value() != 1)
    file_error("bad_experiment", "{}: one of 'at_most', 'at_least' and 'near' is needed", fields.where());
  if (claim.near && (!claim.minus.empty() || claim.near->se < 0))
    file_error("bad_experiment", "{}: 'near' works without 'minus' and with a 'near_se' of at least 0", fields.where());
  if (fields.has("errors")) claim.errors = fields.number("errors");
  if (claim.errors < 0 || (claim.errors > 0 && (!claim.minus.empty() || claim.near)))
    file_error("bad_experiment", "{}: 'errors' must be >= 0 and works only without 'minus' and 'near'", fields.where());
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

bool has_cell(const std::vector<CellName>& cells, const std::string& row, const std::string& column) {
  return std::ranges::find(cells, CellName{row, column}) != cells.end();
}

void require_cell(const std::vector<CellName>& cells, const std::string& row, const std::string& column,
                  const std::string& where) {
  if (!has_cell(cells, row, column))
    file_error("bad_experiment", "{}: a number or a claim refers to row '{}' and column '{}', which it does not run",
               where, row, column);
}

bool names_cells(const Claim& claim, const std::vector<CellName>& cells) {
  return has_cell(cells, claim.row, claim.column) &&
         (claim.minus.empty() || has_cell(cells, claim.minus, claim.column));
}

/// Claims and numbers about cells that do not exist are typos.
void check_cells(const ExperimentItem& item, const std::vector<CellName>& cells,
                 const std::vector<Published>& published, const std::string& where) {
  for (const Claim& claim : item.claims) {
    require_cell(cells, claim.row, claim.column, where);
    if (!claim.minus.empty()) require_cell(cells, claim.minus, claim.column, where);
  }
  for (const Published& number : published) {
    if (!item.is_called(number.item)) continue;
    require_cell(cells, number.row, number.column, where);
    if (!margin_of(item, number.row, number.column))
      file_error("bad_experiment", "{}: row '{}' and column '{}' have a number beside ours but no 'margin'", where,
                 number.row, number.column);
  }
}

/// The fields of every item as they are to be read: those of the item that it is the same as, and in the small version
/// those of "quick", in place of its own.
std::vector<Json> resolved_items(const Json& list, bool quick, const std::string& file) {
  std::vector<Json> items;
  for (const Json& json : list) {
    Json item = json;
    if (json.is_object() && json.contains("same_as")) {
      const auto is_it = [&](const Json& each) {
        return std::ranges::any_of(item_sorts, [&](const char* sort) {
          return each.contains(sort) && each[sort].is_string() &&
                 json["same_as"] == fmt::format("{} {}", sort, each[sort].get<std::string>());
        });
      };
      const auto other = std::ranges::find_if(items, is_it);
      if (other == items.end())
        file_error("bad_experiment", "{}: an item is the same as {}, which is not before it", file,
                   json["same_as"].dump());
      item = *other;
      for (const char* sort : item_sorts) item.erase(sort);
      item.erase("claims");
      item.update(json);
    }
    if (item.is_object() && item.contains("quick")) {
      if (!item["quick"].is_object()) file_error("bad_experiment", "{}: field 'quick' must be an object", file);
      if (quick) item.merge_patch(Json(item["quick"]));
    }
    items.push_back(std::move(item));
  }
  return items;
}

/// Reads the fields that every item has; the others are passed to the kind.
ExperimentItem parse_item(const Json& json, const std::vector<Published>& published, bool quick,
                          const std::string& file) {
  ExperimentItem item;
  std::string where = file + ": an item";
  JsonFields fields(json, where);
  for (const char* sort : item_sorts) {
    if (!fields.has(sort)) continue;
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
  item.same_as = named.text("same_as", "");
  if (named.has("draws")) item.draws = named.texts("draws");
  if (named.has("other_data")) item.other_data = named.flag("other_data");
  item.recipe = json;
  for (const char* name : {"title", "kind", "metric", "repetitions", "trimmed", "claims", "left_out", "margin",
                           "processor", "same_as", "draws", "other_data", "quick"})
    item.recipe.erase(name);
  item.recipe.erase(item.sort);
  const std::vector<CellName> cells = kind_by_name(item.kind, where).check(item, where);
  if (quick)
    std::erase_if(item.claims, [&](const Claim& claim) { return !names_cells(claim, cells); });
  else
    check_cells(item, cells, published, where);
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

bool ExperimentItem::is_called(std::string_view text) const {
  return text == name || text == fmt::format("{} {}", sort, name);
}

bool Experiment::is_earlier(const ExperimentItem& item) const {
  return std::ranges::any_of(earlier, [&](const std::string& name) { return item.is_called(name); });
}

Experiment parse_experiment(const std::string& name, std::string_view recipe, std::string_view published, bool quick) {
  const std::string recipe_file = name + "/experiment.json";
  const std::string published_file = name + "/published.json";
  const Json json = parse_json(recipe, recipe_file);
  const Json numbers = parse_json(published, published_file);
  Experiment experiment;
  experiment.name = name;
  experiment.quick = quick;
  JsonFields published_fields(numbers, published_file);
  experiment.source = published_fields.text("source");
  const bool all_earlier = numbers.contains("earlier") && numbers["earlier"] == true;
  experiment.earlier_source = experiment.source;
  if (all_earlier) {
    (void)published_fields.flag("earlier");
  } else if (published_fields.has("earlier")) {
    experiment.earlier = published_fields.texts("earlier");
    experiment.earlier_source = published_fields.text("earlier_source");
  }
  if (published_fields.has("numbers"))
    for (const Json& number : published_fields.list("numbers"))
      experiment.published.push_back(parse_published(number, published_file));
  published_fields.finish();
  JsonFields fields(json, recipe_file);
  experiment.paper = fields.text("paper");
  experiment.title = fields.text("title");
  for (const Json& item : resolved_items(fields.list("items"), quick, recipe_file))
    experiment.items.push_back(parse_item(item, experiment.published, quick, recipe_file));
  fields.finish();
  if (all_earlier)
    for (const ExperimentItem& item : experiment.items) experiment.earlier.push_back(item.name);
  std::vector<std::string> named = experiment.earlier;
  for (const Published& one : experiment.published) named.push_back(one.item);
  for (const std::string& item : named)
    if (std::ranges::none_of(experiment.items, [&](const ExperimentItem& one) { return one.is_called(item); }))
      file_error("bad_experiment", "{}: there is no item '{}'", published_file, item);
  return experiment;
}

const ExperimentItem& Experiment::item(std::string_view item_name, std::string_view sort) const {
  std::vector<std::string> there, same;
  const ExperimentItem* found = nullptr;
  const auto consider = [&](const ExperimentItem& one, std::string flag) {
    found = &one;
    same.push_back(std::move(flag));
  };
  for (const ExperimentItem& one : items) {
    there.push_back(fmt::format("--{} {}", one.sort, one.name));
    if (one.name == item_name && (sort.empty() || one.sort == sort)) consider(one, there.back());
    for (const std::string& figure : one.draws) {
      there.push_back("--figure " + figure);
      if (figure == item_name && sort == "figure") consider(one, there.back());
    }
  }
  if (same.size() > 1)
    option_error("ambiguous_item", "{} has several items '{}'; choose one of {}", name, item_name,
                 fmt::join(same, ", "));
  if (found) return *found;
  option_error("unknown_item", "{} has no {} '{}'; choose one of {}", name, sort.empty() ? "item" : sort, item_name,
               fmt::join(there, ", "));
}

Experiment experiment(std::string_view name, bool quick) {
  std::vector<std::string> names;
  for (const EmbeddedExperiment& embedded : embedded_experiments()) {
    if (embedded.name == name) return parse_experiment(std::string(name), embedded.recipe, embedded.published, quick);
    names.emplace_back(embedded.name);
  }
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) option_error("unknown_experiment", "no experiment '{}'; did you mean '{}'?", name, near);
  option_error("unknown_experiment", "no experiment '{}'; choose one of {}", name, fmt::join(names, ", "));
}

}  // namespace ecotone
