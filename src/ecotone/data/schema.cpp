#include "ecotone/data/schema.h"

#include <algorithm>
#include <set>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// Reads a schema whose JSON may be anything; every complaint names the file.
class SchemaReader {
 public:
  explicit SchemaReader(const std::string& origin) : origin_(origin) {}

  Schema read(const Json& json) const {
    require(json.is_object(), "the schema is no object");
    Schema schema;
    const Json& columns = member(json, "columns");
    require(columns.is_array(), "'columns' is no list");
    for (const Json& item : columns) schema.columns.push_back(column(item));
    schema.label = text(member(json, "label"), "label");
    schema.domain = text(member(json, "domain"), "domain");
    schema.weight = text(member(json, "weight"), "weight");
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
    require(json.is_string(), fmt::format("'{}' in the schema is no text", key));
    return json.get<std::string>();
  }

  Column column(const Json& json) const {
    require(json.is_object(), "a column in the schema is no object");
    Column result;
    result.name = text(member(json, "name"), "name");
    require(!result.name.empty(), "a column in the schema has no name");
    const std::string kind = text(member(json, "kind"), "kind");
    require(kind == "numeric" || kind == "categorical",
            fmt::format("column '{}' is of unknown kind '{}'", result.name, kind));
    if (kind == "numeric") {
      require(!json.contains("levels"), fmt::format("numeric column '{}' has levels", result.name));
      return result;
    }
    result.kind = ColumnKind::categorical;
    const Json& levels = member(json, "levels");
    require(levels.is_array(), fmt::format("levels of column '{}' are no list", result.name));
    for (const Json& level : levels) {
      result.levels.push_back(text(level, "levels"));
    }
    // Strictly ascending: sorted and without repeats, so only the first can be empty.
    require(result.levels.empty() || !result.levels.front().empty(),
            fmt::format("column '{}' has an empty level", result.name));
    require(std::ranges::adjacent_find(result.levels, std::ranges::greater_equal{}) == result.levels.end(),
            fmt::format("levels of column '{}' are not sorted or repeat", result.name));
    return result;
  }

  void check_names(const Schema& schema) const {
    std::set<std::string> seen;
    for (const Column& column : schema.columns)
      require(seen.insert(column.name).second, fmt::format("column '{}' occurs twice", column.name));
    for (const std::string* name : {&schema.label, &schema.domain, &schema.weight})
      require(name->empty() || seen.insert(*name).second, fmt::format("column '{}' has two uses", *name));
  }

  const std::string& origin_;
};

}  // namespace

std::string_view task_name(Task task) { return task == Task::classify ? "classify" : "regress"; }

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (column.kind == ColumnKind::numeric) {
      names.push_back(column.name);
    } else {
      for (const std::string& level : column.levels) names.push_back(column.name + "=" + level);
    }
  }
  return names;
}

Json Schema::to_json() const {
  Json list = Json::array();
  for (const Column& column : columns) {
    Json item = {{"name", column.name}, {"kind", column.kind == ColumnKind::numeric ? "numeric" : "categorical"}};
    if (column.kind == ColumnKind::categorical) item["levels"] = column.levels;
    list.push_back(std::move(item));
  }
  return {{"columns", std::move(list)}, {"label", label}, {"domain", domain}, {"weight", weight}};
}

Schema Schema::from_json(const Json& json, const std::string& origin) { return SchemaReader(origin).read(json); }

}  // namespace ecotone
