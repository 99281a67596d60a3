#include "ecotone/report/json/result_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/base/numbers.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

constexpr Index most_counted = 1'000'000'000'000;
constexpr Index shown_value_width = 40;

bool is_finite_number(const Json& json) { return json.is_number() && std::isfinite(json.get<double>()); }

}  // namespace

void ResultField::refuse(std::string_view rule) const { fail(fmt::format("{}, got {}", rule, shown())); }

void ResultField::fail(std::string_view problem) const {
  file_error("bad_result", "{}: {} {}", origin_, path_.empty() ? "the document" : path_, problem);
}

std::string ResultField::shown() const {
  if (json_->is_object()) return "an object";
  if (json_->is_array()) return "a list";
  if (json_->is_string())
    return fmt::format("'{}'", display_text(json_->get_ref<const std::string&>(), shown_value_width));
  return json_->is_primitive() ? json_->dump() : json_->type_name();
}

const Json& ResultField::object() const {
  if (!json_->is_object()) refuse("must be an object");
  return *json_;
}

const Json& ResultField::list() const {
  if (!json_->is_array()) refuse("must be a list");
  return *json_;
}

ResultField ResultField::member(const std::string& name, const Json& json) const {
  return ResultField(json, origin_, path_.empty() ? name : fmt::format("{}.{}", path_, name));
}

ResultField ResultField::entry_at(std::size_t number) const {
  return ResultField((*json_)[number], origin_, fmt::format("{}[{}]", path_, number));
}

bool ResultField::has(const std::string& name) const { return object().contains(name); }

ResultField ResultField::at(const std::string& name) const {
  const Json& all = object();
  const auto found = all.find(name);
  if (found == all.end()) member(name, all).fail("is missing");
  return member(name, *found);
}

std::optional<ResultField> ResultField::find(const std::string& name) const {
  return has(name) ? std::optional(at(name)) : std::nullopt;
}

std::vector<std::pair<std::string, ResultField>> ResultField::members() const {
  std::vector<std::pair<std::string, ResultField>> all;
  for (const auto& [name, value] : object().items()) all.emplace_back(name, member(name, value));
  return all;
}

std::vector<ResultField> ResultField::items() const {
  std::vector<ResultField> all;
  const std::size_t size = list().size();
  for (std::size_t i = 0; i < size; ++i) all.push_back(entry_at(i));
  return all;
}

ResultField ResultField::sized(std::size_t count) const {
  const std::size_t size = list().size();
  if (size != count) fail(fmt::format("must have {} {}, got {}", count, count == 1 ? "entry" : "entries", size));
  return *this;
}

bool ResultField::flag() const {
  if (!json_->is_boolean()) refuse("must be true or false");
  return json_->get<bool>();
}

std::string ResultField::text() const {
  if (!json_->is_string()) refuse("must be text");
  return json_->get<std::string>();
}

std::vector<std::string> ResultField::texts() const { return each(&ResultField::text); }

std::size_t ResultField::word(const std::vector<std::string_view>& words) const {
  const std::string given = text();
  const auto found = std::find(words.begin(), words.end(), std::string_view(given));
  if (found == words.end()) refuse(fmt::format("must be one of {}", fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

std::string ResultField::metric() const {
  std::string name = text();
  if (!find_metric(name)) refuse("must be the name of a metric");
  return name;
}

double ResultField::number() const {
  if (!is_finite_number(*json_)) refuse("must be a number");
  return json_->get<double>();
}

double ResultField::number_or_nan() const { return optional_number().value_or(std::nan("")); }

double ResultField::number_or_word() const {
  if (json_->is_null()) return std::nan("");
  if (!json_->is_string()) return number();
  return word({"inf", "-inf"}) == 0 ? infinity : -infinity;
}

std::optional<double> ResultField::optional_number() const {
  // NaN is null as soon as the document is written.
  const bool none = json_->is_null() || (json_->is_number() && !is_finite_number(*json_));
  return none ? std::nullopt : std::optional(number());
}

std::vector<double> ResultField::numbers() const {
  std::vector<double> values;
  for (std::size_t i = 0; i < list().size(); ++i)
    values.push_back(is_finite_number((*json_)[i]) ? (*json_)[i].get<double>() : entry_at(i).number());
  return values;
}

std::vector<double> ResultField::numbers_or_nan() const {
  std::vector<double> values;
  for (std::size_t i = 0; i < list().size(); ++i)
    values.push_back(is_finite_number((*json_)[i]) ? (*json_)[i].get<double>() : entry_at(i).number_or_nan());
  return values;
}

Index ResultField::whole() const { return whole_up_to(most_counted); }

Index ResultField::whole_up_to(Index most) const {
  const bool large = json_->is_number_unsigned() && json_->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (!json_->is_number_integer() || large || json_->get<std::int64_t>() < 0 || json_->get<std::int64_t>() > most)
    refuse(fmt::format("must be a whole number from 0 to {}", most));
  return static_cast<Index>(json_->get<std::int64_t>());
}

std::size_t ResultField::place(std::size_t count) const {
  const Index value = whole();
  if (value >= static_cast<Index>(count)) refuse(fmt::format("must be a position in a list of {}", count));
  return static_cast<std::size_t>(value);
}

std::uint64_t ResultField::seed() const {
  if (json_->is_number_unsigned()) return json_->get<std::uint64_t>();
  if (!json_->is_number_integer() || json_->get<std::int64_t>() < 0) refuse("must be a whole number");
  return static_cast<std::uint64_t>(json_->get<std::int64_t>());
}

OptionValues ResultField::checked_options(const std::vector<OptionInfo>& infos) const {
  try {
    return complete_options(path_, infos, object());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::option) throw;
    file_error("bad_result", "{}: {}", origin_, error.what());
  }
}

}  // namespace ecotone
