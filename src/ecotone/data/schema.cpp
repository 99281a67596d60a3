#include "ecotone/data/schema.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

constexpr std::size_t longest_names = std::size_t{1} << 26;

/// The kinds of columns as files name them.
struct KindName {
  ColumnKind kind;
  std::string_view name;
};
constexpr KindName kinds[] = {
    {ColumnKind::numeric, "numeric"}, {ColumnKind::categorical, "categorical"}, {ColumnKind::date, "date"}};

/// Reads a schema whose JSON may be anything; every error names the file.
class SchemaReader {
 public:
  explicit SchemaReader(const std::string& origin) : origin_(origin) {}

  Schema read(const Json& json) const {
    require(json.is_object(), "the schema is not an object");
    Schema schema;
    const Json& columns = member(json, "columns");
    require(columns.is_array(), "'columns' is not a list");
    for (const Json& item : columns) schema.columns.push_back(column(item));
    schema.label = text(member(json, "label"), "label");
    schema.domain = text(member(json, "domain"), "domain");
    schema.weight = text(member(json, "weight"), "weight");
    if (json.contains("group")) schema.group = text(json["group"], "group");
    if (json.contains("time")) schema.time = text(json["time"], "time");
    if (json.contains("time_is_date")) {
      require(json["time_is_date"].is_boolean(), "'time_is_date' in the schema is not true or false");
      schema.time_is_date = json["time_is_date"].get<bool>();
    }
    check_names(schema);
    return schema;
  }

 private:
  void require(bool condition, const std::string& complaint) const {
    if (!condition) file_error("bad_model", "{}: {}", origin_, complaint);
  }

  const Json& member(const Json& json, const char* key) const {
    const auto it = json.find(key);
    require(it != json.end(), fmt::format("the schema has no '{}'", key));
    return *it;
  }

  std::string text(const Json& json, const char* key) const {
    require(json.is_string(), fmt::format("'{}' in the schema is not text", key));
    return json.get<std::string>();
  }

  Column column(const Json& json) const {
    require(json.is_object(), "a column in the schema is not an object");
    Column result;
    result.name = text(member(json, "name"), "name");
    require(!result.name.empty(), "a column in the schema has no name");
    const std::string kind = text(member(json, "kind"), "kind");
    const auto known = std::ranges::find(kinds, kind, &KindName::name);
    require(known != std::end(kinds), fmt::format("column '{}' has the unknown kind '{}'", result.name, kind));
    result.kind = known->kind;
    if (result.kind != ColumnKind::categorical) {
      for (const char* key : {"levels", "coded"})
        require(!json.contains(key), fmt::format("{} column '{}' has '{}'", kind, result.name, key));
      if (result.kind == ColumnKind::date && json.contains("slashes")) result.slashes = slash_order(json["slashes"]);
      return result;
    }
    const Json& levels = member(json, "levels");
    require(levels.is_array(), fmt::format("the levels of column '{}' are not a list", result.name));
    for (const Json& level : levels) {
      result.levels.push_back(text(level, "levels"));
    }
    // Strictly ascending: sorted and without duplicates, so only the first can be empty.
    require(result.levels.empty() || !result.levels.front().empty(),
            fmt::format("column '{}' has an empty level", result.name));
    require(std::ranges::adjacent_find(result.levels, std::ranges::greater_equal{}) == result.levels.end(),
            fmt::format("the levels of column '{}' are not sorted or not distinct", result.name));
    if (json.contains("coded")) {
      require(json["coded"].is_boolean(), fmt::format("'coded' of column '{}' is not true or false", result.name));
      result.coded = json["coded"].get<bool>();
    }
    return result;
  }

  SlashOrder slash_order(const Json& json) const {
    const std::string order = text(json, "slashes");
    require(order == "day_first" || order == "month_first", fmt::format("unknown order of dates '{}'", order));
    return order == "day_first" ? SlashOrder::day_first : SlashOrder::month_first;
  }

  void check_names(const Schema& schema) const {
    std::set<std::string> seen;
    for (const Column& column : schema.columns)
      require(seen.insert(column.name).second, fmt::format("column '{}' occurs twice", column.name));
    for (const std::string* name : {&schema.label, &schema.domain, &schema.weight, &schema.group, &schema.time})
      require(name->empty() || seen.insert(*name).second, fmt::format("column '{}' has two roles", *name));
    // A long column name times many levels could need far more memory than the file has bytes.
    std::size_t bytes = 0;
    for (const Column& column : schema.columns)
      if (column.one_hot()) bytes += column.name.size() * column.levels.size();
    require(bytes <= longest_names, "the names of the features are too long");
    if (const auto clash = schema.clash())
      require(false, fmt::format("columns '{}' and '{}' both produce a feature '{}'", clash->first, clash->second,
                                 clash->feature));
  }

  const std::string& origin_;
};

}  // namespace

std::string_view task_name(Task task) { return task == Task::classify ? "classify" : "regress"; }

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (!column.one_hot()) {
      names.push_back(column.name);
    } else {
      for (const std::string& level : column.levels) names.push_back(column.name + "=" + level);
    }
  }
  return names;
}

std::vector<std::size_t> Schema::first_features() const {
  std::vector<std::size_t> first{0};
  for (const Column& column : columns) first.push_back(first.back() + column.width());
  return first;
}

bool Schema::has_codes() const { return std::ranges::any_of(columns, &Column::coded); }

std::optional<Schema::Clash> Schema::clash() const {
  // Without levels the features are the columns, whose names are distinct.
  if (std::ranges::none_of(columns, &Column::one_hot)) return std::nullopt;
  std::unordered_map<std::string, const Column*> owner;
  for (const Column& column : columns) {
    for (std::size_t k = 0; k < column.width(); ++k) {
      const std::string feature = column.one_hot() ? column.name + "=" + column.levels[k] : column.name;
      const auto [known, fresh] = owner.emplace(feature, &column);
      if (!fresh) return Clash{feature, known->second->name, column.name};
    }
  }
  return std::nullopt;
}

Json Schema::to_json() const {
  Json list = Json::array();
  for (const Column& column : columns) {
    Json item = {{"name", column.name}, {"kind", std::ranges::find(kinds, column.kind, &KindName::kind)->name}};
    if (column.slashes != SlashOrder::none)
      item["slashes"] = column.slashes == SlashOrder::day_first ? "day_first" : "month_first";
    if (column.kind == ColumnKind::categorical) item["levels"] = column.levels;
    if (column.coded) item["coded"] = true;
    list.push_back(std::move(item));
  }
  Json json = {{"columns", std::move(list)}, {"label", label}, {"domain", domain}, {"weight", weight}};
  if (!group.empty()) json["group"] = group;
  if (!time.empty()) json["time"] = time;
  if (time_is_date) json["time_is_date"] = true;
  return json;
}

Schema Schema::from_json(const Json& json, const std::string& origin) { return SchemaReader(origin).read(json); }

}  // namespace ecotone
