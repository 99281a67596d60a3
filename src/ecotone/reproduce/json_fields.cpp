#include "ecotone/reproduce/json_fields.h"

#include <cmath>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone {

JsonFields::JsonFields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) file_error("bad_experiment", "{}: expected an object, got {}", where_, object_.type_name());
}

const Json& JsonFields::field(const std::string& name) {
  read_.insert(name);
  const auto found = object_.find(name);
  if (found == object_.end()) file_error("bad_experiment", "{}: field '{}' is missing", where_, name);
  return *found;
}

std::string JsonFields::text(const std::string& name) {
  const Json& value = field(name);
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    file_error("bad_experiment", "{}: field '{}' must be text, got {}", where_, name, value.dump());
  return value.get<std::string>();
}

std::string JsonFields::text(const std::string& name, std::string_view otherwise) {
  return has(name) ? text(name) : std::string(otherwise);
}

double JsonFields::number(const std::string& name) {
  const Json& value = field(name);
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    file_error("bad_experiment", "{}: field '{}' must be a number, got {}", where_, name, value.dump());
  return value.get<double>();
}

bool JsonFields::flag(const std::string& name) {
  const Json& value = field(name);
  if (!value.is_boolean())
    file_error("bad_experiment", "{}: field '{}' must be true or false, got {}", where_, name, value.dump());
  return value.get<bool>();
}

int JsonFields::whole(const std::string& name, int low, int high) {
  const double value = number(name);
  if (value != std::floor(value) || value < low || value > high)
    file_error("bad_experiment", "{}: field '{}' must be a whole number in [{}, {}], got {}", where_, name, low, high,
               value);
  return static_cast<int>(value);
}

double JsonFields::positive(const std::string& name) {
  const double value = number(name);
  if (!(value > 0)) file_error("bad_experiment", "{}: field '{}' must be above 0", where_, name);
  return value;
}

std::vector<double> JsonFields::positives(const std::string& name) {
  std::vector<double> values;
  for (const Json& one : list(name)) {
    if (!one.is_number() || !(one.get<double>() > 0))
      file_error("bad_experiment", "{}: field '{}' must be a list of positive numbers", where_, name);
    values.push_back(one.get<double>());
  }
  return values;
}

std::vector<int> JsonFields::wholes(const std::string& name, int low, int high) {
  std::vector<int> values;
  for (const Json& one : list(name)) {
    if (!one.is_number_integer() || one.get<double>() < low || one.get<double>() > high)
      file_error("bad_experiment", "{}: field '{}' must be a list of whole numbers in [{}, {}], got {}", where_, name,
                 low, high, one.dump());
    values.push_back(one.get<int>());
  }
  return values;
}

Matrix JsonFields::table(const std::string& name) {
  const Json& rows = list(name);
  Matrix table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_row = rows[i].is_array() && !rows[i].empty() && (i == 0 || rows[i].size() == rows[0].size());
    if (!is_row) file_error("bad_experiment", "{}: field '{}' must be a list of lists of one length", where_, name);
    if (i == 0) table.resize(std::ssize(rows), std::ssize(rows[0]));
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      if (!rows[i][j].is_number()) file_error("bad_experiment", "{}: field '{}' must hold numbers", where_, name);
      table(static_cast<Index>(i), static_cast<Index>(j)) = rows[i][j].get<double>();
    }
  }
  return table;
}

const Json& JsonFields::object(const std::string& name) {
  const Json& value = field(name);
  if (!value.is_object()) file_error("bad_experiment", "{}: field '{}' must be an object", where_, name);
  return value;
}

const Json& JsonFields::list(const std::string& name) {
  const Json& value = field(name);
  if (!value.is_array() || value.empty())
    file_error("bad_experiment", "{}: field '{}' must be a non-empty list", where_, name);
  return value;
}

std::vector<std::string> JsonFields::texts(const std::string& name) {
  std::vector<std::string> result;
  for (const Json& value : list(name)) {
    if (!value.is_string())
      file_error("bad_experiment", "{}: field '{}' must be a list of strings, got {}", where_, name, value.dump());
    result.push_back(value.get<std::string>());
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> JsonFields::named_texts(const std::string& name) {
  const Json& value = field(name);
  if (!value.is_object()) file_error("bad_experiment", "{}: field '{}' must be an object of strings", where_, name);
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [key, item] : value.items()) {
    if (!item.is_string())
      file_error("bad_experiment", "{}: '{}' in field '{}' must be text, got {}", where_, key, name, item.dump());
    result.emplace_back(key, item.get<std::string>());
  }
  return result;
}

void JsonFields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (!read_.contains(name)) file_error("bad_experiment", "{}: unknown field '{}'", where_, name);
  }
}

}  // namespace ecotone
