#include "cli/label_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/number.h"

namespace ecotone::cli {
namespace {

constexpr int deepest = 4;
constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_label = 1000;
constexpr Index highest_row = Index{1} << 52;

const Json& member_of(const Json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end()) data_error("bad_request", "the request has no \"{}\"", name);
  return *found;
}

const std::string& text_of(const Json& body, const char* name) {
  const Json& value = member_of(body, name);
  if (!value.is_string()) data_error("bad_request", "\"{}\" must be text", name);
  return value.get_ref<const std::string&>();
}

std::string label_of(const Json& body, Task task) {
  const Json& value = member_of(body, "label");
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > longest_label) data_error("bad_request", "\"label\" is longer than {} bytes", longest_label);
    return text;
  }
  if (!value.is_number() || task != Task::regress || !std::isfinite(value.get<double>()))
    data_error("bad_request", "\"label\" must be text{}", task == Task::regress ? " or a number" : "");
  return number_text(value.get<double>());
}

AnswerKind kind_of(const std::string& name) {
  for (const AnswerKind kind : {AnswerKind::label, AnswerKind::unsure, AnswerKind::skip})
    if (name == answer_name(kind)) return kind;
  data_error("bad_request", "\"kind\" must be label, unsure or skip");
}

Index checked_row(Index row) {
  if (row < 1 || row > highest_row) data_error("bad_request", "\"row\" must be a row number, from 1");
  return row - 1;
}

}  // namespace

bool is_json_type(std::string_view type) {
  return lower_case(std::string(trim(type.substr(0, type.find(';'))))) == "application/json";
}

Json parse_request(const std::string& body) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) data_error("bad_request", "the JSON is nested too deeply");
    return true;
  };
  Json json;
  try {
    json = Json::parse(body, shallow);
  } catch (const Json::exception&) {
    data_error("bad_request", "this is not JSON");
  }
  if (!json.is_object()) data_error("bad_request", "the JSON must be an object");
  return json;
}

std::string checked_name(std::string_view what, std::string name) {
  const bool plain = std::ranges::all_of(name, [](unsigned char c) { return c >= ' ' && c <= '~'; });
  if (name.empty() || name.size() > longest_name || !plain)
    data_error("bad_request", "\"{}\" must be 1 to {} characters of ASCII", what, longest_name);
  return name;
}

std::string request_name(const Json& body, const char* member) { return checked_name(member, text_of(body, member)); }

Index read_row(const std::string& text) {
  Index row = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row);
  return checked_row(error == std::errc{} && end == text.data() + text.size() ? row : 0);
}

Answer read_answer(const Json& body, const LabelTask& task) {
  Answer answer{request_name(body, "page"), request_name(body, "request"), 0, kind_of(text_of(body, "kind")), {}};
  const Json& row = member_of(body, "row");
  const bool fits = row.is_number_unsigned() && row.get<std::uint64_t>() <= static_cast<std::uint64_t>(highest_row);
  answer.origin = checked_row(fits ? row.get<Index>() : 0);
  if (answer.kind == AnswerKind::label) answer.label = label_of(body, task.task());
  return answer;
}

}  // namespace ecotone::cli
