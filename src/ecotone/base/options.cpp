#include "ecotone/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ecotone {

namespace {

/// Text as written in a pipeline: bare where the parser reads it back unchanged, otherwise quoted.
std::string quoted_if_needed(std::string_view text) {
  const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && std::string_view("|={}'\"\\\x7f").find(c) == std::string_view::npos;
  });
  if (bare) return std::string(text);
  const char quote =
      text.find('\'') == std::string_view::npos ? '\'' : (text.find('"') == std::string_view::npos ? '"' : '\'');
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += quote;  // a doubled quote stands for one
    result += c;
  }
  return result + quote;
}

std::string number_text(double value) { return fmt::format("{}", value); }

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Without _ and -, which spellings of one name may differ in.
std::string joined(std::string name) {
  std::erase_if(name, [](char c) { return c == '_' || c == '-'; });
  return name;
}

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

/// The parts of a comma list; a part may be "quoted".
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      parts.push_back(std::exchange(part, {}));
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  std::erase(parts, "");
  return parts;
}

/// Checks one value of one option; knows the option's owner for the messages.
class Checker {
 public:
  Checker(std::string_view who, const OptionInfo& info) : who_(who), info_(info) {}

  /// The JSON value of a text, checked.
  Json from_text(const std::string& text) const {
    if (!is_utf8(text)) option_error("bad_option", "{}: {} must be UTF-8 text", who_, info_.name);
    switch (info_.type) {
      case OptionType::boolean:
        if (text != "true" && text != "false") refuse("must be true or false", text);
        return text == "true";
      case OptionType::integer:
        return integer_from_text(text);
      case OptionType::real:
        return real(parse_real(text), "must be a number", text);
      case OptionType::auto_real:
        return text == "auto" ? Json(text) : real(parse_real(text), "must be a number or auto", text);
      case OptionType::word_or_real:
        return is_choice(text) ? Json(text) : real(parse_real(text), info_.limits.text(), text);
      case OptionType::numbers:
        return numbers_from_text(text);
      case OptionType::texts:
        return split_list(text);
      case OptionType::choice:
      case OptionType::text:
      case OptionType::file:
        break;
    }
    return named(text);
  }

  /// A JSON value, checked.
  Json from_json(const Json& value) const {
    switch (info_.type) {
      case OptionType::boolean:
        if (!value.is_boolean()) refuse_json("must be true or false", value);
        return value;
      case OptionType::integer:
        return integer_from_json(value);
      case OptionType::real:
        return real(number_of(value), "must be a number", shown(value));
      case OptionType::auto_real:
        if (value == "auto") return value;
        return real(number_of(value), "must be a number or auto", shown(value));
      case OptionType::word_or_real:
        if (value.is_string() && is_choice(value.get<std::string>())) return value;
        return real(number_of(value), info_.limits.text(), shown(value));
      case OptionType::numbers:
        return numbers_from_json(value);
      case OptionType::texts:
        return texts_from_json(value);
      case OptionType::choice:
      case OptionType::text:
      case OptionType::file:
        break;
    }
    if (!value.is_string()) refuse_json(info_.limits.n_choices > 0 ? info_.limits.text() : "must be text", value);
    if (!is_utf8(value.get<std::string>())) option_error("bad_option", "{}: {} must be UTF-8 text", who_, info_.name);
    return named(value.get<std::string>());
  }

 private:
  std::string_view who_;
  const OptionInfo& info_;

  [[noreturn]] void refuse(std::string_view rule, std::string_view got, std::string_view hint = "") const {
    option_error("bad_option", "{}: {} {}, got {}{}", who_, info_.name, rule, quoted_if_needed(got), hint);
  }
  [[noreturn]] void refuse_json(std::string_view rule, const Json& got) const {
    option_error("bad_option", "{}: {} {}, got {}", who_, info_.name, rule, shown(got));
  }

  static std::string shown(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

  static std::optional<double> number_of(const Json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
    return value.get<double>();
  }

  bool is_choice(const std::string& text) const {
    const auto* begin = info_.limits.choices.data();
    return std::any_of(begin, begin + info_.limits.n_choices, [&](const char* choice) { return text == choice; });
  }

  void check_limits(double value, std::string_view got) const {
    if (info_.limits.contains(value)) return;
    refuse(info_.limits.text() + (info_.type == OptionType::auto_real ? " or auto" : ""), got);
  }

  Json real(std::optional<double> value, std::string_view rule, std::string_view got) const {
    if (!value) refuse(rule, got);
    check_limits(*value, got);
    return *value;
  }

  /// Limits first: for a number far outside them the limit is a better explanation than the size of an int.
  Json integer(double approximate, std::optional<int> value, std::string_view got) const {
    check_limits(approximate, got);
    if (!value)
      refuse(fmt::format("must be in [{}, {}]", std::numeric_limits<int>::min(), std::numeric_limits<int>::max()), got);
    return *value;
  }

  Json integer_from_text(const std::string& text) const {
    const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
      refuse("must be a whole number", text);
    // More digits than a double holds: beyond any limit, in the direction of the sign.
    const double huge = text[0] == '-' ? std::numeric_limits<double>::lowest() : std::numeric_limits<double>::max();
    return integer(parse_real(text).value_or(huge), parse_whole<int>(text), text);
  }

  Json integer_from_json(const Json& value) const {
    if (!value.is_number_integer()) refuse_json("must be a whole number", value);
    std::optional<int> fits;
    if (value.is_number_unsigned()) {
      if (std::in_range<int>(value.get<std::uint64_t>())) fits = static_cast<int>(value.get<std::uint64_t>());
    } else if (std::in_range<int>(value.get<std::int64_t>())) {
      fits = static_cast<int>(value.get<std::int64_t>());
    }
    return integer(value.get<double>(), fits, shown(value));
  }

  Json numbers_from_text(const std::string& text) const {
    Json list = Json::array();
    if (text.empty()) return list;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      list.push_back(real(parse_real(std::string_view(text).substr(begin, end - begin)),
                          "must be a list of numbers such as 1,2.5", text));
      begin = end + 1;
    }
    return list;
  }

  Json numbers_from_json(const Json& value) const {
    if (!value.is_array()) refuse_json("must be a list of numbers", value);
    Json list = Json::array();
    for (const Json& item : value) list.push_back(real(number_of(item), "must be a list of numbers", shown(value)));
    return list;
  }

  Json texts_from_json(const Json& value) const {
    const bool texts =
        value.is_array() && std::ranges::all_of(value, [](const Json& each) { return each.is_string(); });
    if (!texts) refuse_json("must be a list of texts", value);
    return value;
  }

  Json named(const std::string& text) const {
    if (info_.limits.n_choices == 0) return text;
    const auto* begin = info_.limits.choices.data();
    const std::vector<std::string> choices(begin, begin + info_.limits.n_choices);
    for (const std::string& choice : choices)
      if (joined(choice) == joined(text)) return choice;
    const std::string near = did_you_mean(text, choices);
    refuse(info_.limits.text(), text, near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }
};

const OptionInfo& find_option(std::string_view who, const std::vector<OptionInfo>& infos, const std::string& name) {
  std::vector<std::string> names;
  for (const OptionInfo& info : infos) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  if (names.empty()) option_error("unknown_option", "unknown option '{}' of {}; it has no options", name, who);
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) option_error("unknown_option", "unknown option '{}' of {}; did you mean '{}'?", name, who, near);
  option_error("unknown_option", "unknown option '{}' of {}; its options are {}", name, who, fmt::join(names, ", "));
}

/// The given values in declaration order, with defaults for the others.
OptionValues in_order(const std::vector<OptionInfo>& infos, const OptionValues& found) {
  OptionValues values;
  for (const OptionInfo& info : infos)
    values.set(info.name, found.has(info.name) ? found.at(info.name) : info.default_value);
  return values;
}

/// Edit distance in which swapping two neighbouring letters is one step.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

bool Limits::contains(double value) const {
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

std::string Limits::text() const {
  if (numbers_too) {
    const std::string number = Limits{low, high, open_low, open_high}.text();
    return fmt::format("must be {} or {}", fmt::join(choices.data(), choices.data() + n_choices, ", "),
                       number.empty() ? "a number" : number.substr(std::string_view("must be ").size()));
  }
  if (n_choices > 0)
    return fmt::format("must be one of {}", fmt::join(choices.data(), choices.data() + n_choices, ", "));
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high)
    return fmt::format("must be in {}{}, {}{}", open_low ? "(" : "[", number_text(low), number_text(high),
                       open_high ? ")" : "]");
  if (has_low) return fmt::format("must be {} {}", open_low ? ">" : ">=", number_text(low));
  if (has_high) return fmt::format("must be {} {}", open_high ? "<" : "<=", number_text(high));
  return "";
}

std::string_view type_name(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "boolean";
    case OptionType::integer:
      return "integer";
    case OptionType::real:
      return "real";
    case OptionType::auto_real:
      return "real or auto";
    case OptionType::word_or_real:
      return "real or word";
    case OptionType::choice:
      return "choice";
    case OptionType::numbers:
      return "numbers";
    case OptionType::texts:
      return "texts";
    case OptionType::text:
      return "text";
    case OptionType::file:
      break;
  }
  return "file";
}

void OptionValues::set(std::string name, Json value) {
  for (auto& item : items_) {
    if (item.first != name) continue;
    item.second = std::move(value);
    return;
  }
  items_.emplace_back(std::move(name), std::move(value));
}

const Json& OptionValues::at(std::string_view name) const {
  for (const auto& item : items_)
    if (item.first == name) return item.second;
  internal_error("option '{}' has no value", name);
}

bool OptionValues::has(std::string_view name) const {
  return std::any_of(items_.begin(), items_.end(), [&](const auto& item) { return item.first == name; });
}

Json OptionValues::to_json() const {
  Json json = Json::object();
  for (const auto& [name, value] : items_) json[name] = value;
  return json;
}

OptionValues complete_options(std::string_view who, const std::vector<OptionInfo>& infos, const OptionTexts& given) {
  OptionValues found;
  for (const auto& [name, text] : given) {
    const OptionInfo& info = find_option(who, infos, name);
    if (found.has(name)) option_error("repeated_option", "{}: {} is given twice", who, name);
    found.set(name, Checker(who, info).from_text(text));
  }
  return in_order(infos, found);
}

OptionValues complete_options(std::string_view who, const std::vector<OptionInfo>& infos, const Json& given) {
  if (!given.is_object())
    option_error("bad_option", "{}: options must be a JSON object, got {}", who, given.type_name());
  OptionValues found;
  for (const auto& [name, value] : given.items())
    found.set(name, Checker(who, find_option(who, infos, name)).from_json(value));
  return in_order(infos, found);
}

std::string option_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return number_text(value.get<double>());
  if (value.is_number()) return value.dump();
  if (value.is_string()) return quoted_if_needed(value.get<std::string>());
  if (!value.is_array()) internal_error("an option value of JSON type {}", value.type_name());
  if (value.empty()) return "''";
  std::vector<std::string> items;
  for (const Json& item : value) items.push_back(option_text(item));
  return fmt::format("{}", fmt::join(items, ","));
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = 3;
  for (const std::string& candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    // Any two words of two letters are at most two steps apart: at least one letter must match.
    if (distance >= least || distance >= std::max(name.size(), candidate.size())) continue;
    least = distance;
    nearest = candidate;
  }
  if (!nearest.empty() || name.empty()) return nearest;
  const auto longer =
      std::find_if(names.begin(), names.end(), [&](const std::string& n) { return n.starts_with(name); });
  return longer == names.end() ? "" : *longer;
}

std::string or_list(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace ecotone
