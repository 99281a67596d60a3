#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/index.h"
#include "ecotone/base/json.h"

/// Options are declared once, as a struct with member defaults and
///
///     static constexpr auto fields() {
///       return std::tuple{field("ridge", &CoralOptions::ridge, "Added to both covariances", at_least(0.0))};
///     }
///
/// From that come validation, pipeline text, JSON in model files, `ecotone methods NAME` and the reference pages.
namespace ecotone {

/// A number, or the word `auto`: the method chooses.
struct AutoNumber {
  std::optional<double> value;
  bool is_auto() const { return !value; }
  bool operator==(const AutoNumber&) const = default;
};

/// A number, or one of the words named by the limits.
struct WordOrNumber {
  std::optional<double> value;
  int word = 0;  ///< index of the word, from 0; used when there is no value
  bool is_word(int number) const { return !value && word == number; }
  bool operator==(const WordOrNumber&) const = default;
};

/// The path of a file named by the user.
struct FilePath {
  std::string path;
  bool operator==(const FilePath&) const = default;
};

/// The values that an option accepts: an interval for numbers, names for choices.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;
  bool open_high = false;
  std::array<const char*, 8> choices{};
  int n_choices = 0;
  bool numbers_too = false;     ///< the choices are words accepted in place of a number
  const char* shown = nullptr;  ///< what stands for the value on help pages of the program, such as COLUMN

  bool contains(double value) const;
  /// "must be > 0", "must be in [0, 1]", "must be one of mean, median", "must be auto, none or >= 1"; empty without
  /// limits.
  std::string text() const;
};

constexpr Limits anything() { return {}; }
constexpr Limits at_least(double low) { return {.low = low}; }
constexpr Limits above(double low) { return {.low = low, .open_low = true}; }
constexpr Limits between(double low, double high) { return {.low = low, .high = high}; }
/// Anything, shown on help pages as this word.
constexpr Limits shown_as(const char* word, Limits limits = {}) {
  limits.shown = word;
  return limits;
}
/// Names of an enum's values, in the order of the enum (which counts from 0).
template <class... Names>
constexpr Limits one_of(Names... names) {
  static_assert(sizeof...(names) <= 8);
  return {.choices = {names...}, .n_choices = sizeof...(names)};
}

/// A number within these limits or one of these words, for a WordOrNumber.
template <class... Words>
constexpr Limits or_words(Limits limits, Words... words) {
  static_assert(sizeof...(words) >= 1 && sizeof...(words) <= 8);
  limits.choices = {words...};
  limits.n_choices = sizeof...(words);
  limits.numbers_too = true;
  return limits;
}

template <class Struct, class T>
struct Field {
  const char* name;
  T Struct::*member;
  const char* help;
  Limits limits;
  bool common = false;
};

template <class Struct, class T>
constexpr Field<Struct, T> field(const char* name, T Struct::*member, const char* help, Limits limits = anything()) {
  return {name, member, help, limits};
}

/// An option that many methods share and few users change; reference pages list it after the method's own.
template <class Struct, class T>
constexpr Field<Struct, T> common_field(const char* name, T Struct::*member, const char* help,
                                        Limits limits = anything()) {
  return {name, member, help, limits, true};
}

/// How an option is written. Member types: bool, int, Index, double, AutoNumber, WordOrNumber, an enum class or an
/// optional one, std::vector<double>, std::vector<std::string>, std::string, FilePath.
enum class OptionType { boolean, integer, real, auto_real, word_or_real, choice, numbers, texts, text, file };
std::string_view type_name(OptionType type);

/// One option of one method, with its types erased.
struct OptionInfo {
  std::string name;
  OptionType type;
  std::string help;
  Limits limits;
  Json default_value;
  bool common = false;
};

/// The value of every option, in declaration order; made by `complete_options` and therefore always valid.
class OptionValues {
 public:
  void set(std::string name, Json value);
  const Json& at(std::string_view name) const;
  bool has(std::string_view name) const;
  const std::vector<std::pair<std::string, Json>>& items() const { return items_; }
  Json to_json() const;

 private:
  std::vector<std::pair<std::string, Json>> items_;
};

/// What the user gave: option names and texts, in order.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

/// Parses and checks `given` against the declarations and adds the defaults. Names of choices may be written with or
/// without _ and -: `lowrank`, as older pipelines and models have it, is `low_rank`. Throws option errors:
/// `unknown_option` ("unknown option 'l3' of logistic; did you mean 'l2'?"), `bad_option` ("logistic: l2 must be >= 0,
/// got -1") and `repeated_option`.
OptionValues complete_options(std::string_view who, const std::vector<OptionInfo>& infos, const OptionTexts& given);
/// The same from a JSON object (model files): every option is checked again; missing options get their defaults.
OptionValues complete_options(std::string_view who, const std::vector<OptionInfo>& infos, const Json& given);

/// Canonical text of a value, as in a pipeline: numbers in shortest round-trip form, lists as a,b,c; quoted if needed
/// (with ', or with " if it contains '; the quote itself is doubled inside).
std::string option_text(const Json& value);

/// The one of `names` closest to a mistyped `name` (edit distance at most 2, or a prefix); empty if there is none.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

/// "a, b or c".
std::string or_list(const std::vector<std::string>& names);

namespace detail {

template <class T>
inline constexpr bool is_optional_enum = false;
template <class T>
inline constexpr bool is_optional_enum<std::optional<T>> = std::is_enum_v<T>;

template <class T>
constexpr OptionType option_type() {
  if constexpr (std::is_same_v<T, bool>)
    return OptionType::boolean;
  else if constexpr (std::is_enum_v<T> || is_optional_enum<T>)
    return OptionType::choice;
  else if constexpr (std::is_same_v<T, int> || std::is_same_v<T, Index>)
    return OptionType::integer;
  else if constexpr (std::is_same_v<T, double>)
    return OptionType::real;
  else if constexpr (std::is_same_v<T, AutoNumber>)
    return OptionType::auto_real;
  else if constexpr (std::is_same_v<T, WordOrNumber>)
    return OptionType::word_or_real;
  else if constexpr (std::is_same_v<T, std::vector<double>>)
    return OptionType::numbers;
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return OptionType::texts;
  else if constexpr (std::is_same_v<T, FilePath>)
    return OptionType::file;
  else {
    static_assert(std::is_same_v<T, std::string>, "not an option type");
    return OptionType::text;
  }
}

template <class T>
Json option_json(const T& value, const Limits& limits) {
  if constexpr (std::is_enum_v<T>)
    return limits.choices[static_cast<std::size_t>(value)];
  else if constexpr (is_optional_enum<T>)
    return value ? Json(limits.choices[static_cast<std::size_t>(*value)]) : Json(nullptr);
  else if constexpr (std::is_same_v<T, AutoNumber>)
    return value.value ? Json(*value.value) : Json("auto");
  else if constexpr (std::is_same_v<T, WordOrNumber>)
    return value.value ? Json(*value.value) : Json(limits.choices[static_cast<std::size_t>(value.word)]);
  else if constexpr (std::is_same_v<T, FilePath>)
    return value.path;
  else
    return value;
}

template <class T>
T option_value(const Json& value, const Limits& limits) {
  if constexpr (std::is_enum_v<T>) {
    const auto text = value.get<std::string>();
    for (int i = 0; i < limits.n_choices; ++i)
      if (text == limits.choices[static_cast<std::size_t>(i)]) return static_cast<T>(i);
    internal_error("option value '{}' was not checked", text);
  } else if constexpr (is_optional_enum<T>) {
    return value.is_null() ? T{} : T{option_value<typename T::value_type>(value, limits)};
  } else if constexpr (std::is_same_v<T, WordOrNumber>) {
    if (value.is_number()) return {.value = value.get<double>()};
    const auto text = value.get<std::string>();
    for (int i = 0; i < limits.n_choices; ++i)
      if (text == limits.choices[static_cast<std::size_t>(i)]) return {.value = std::nullopt, .word = i};
    internal_error("option value '{}' was not checked", text);
  } else if constexpr (std::is_same_v<T, AutoNumber>) {
    return value.is_string() ? AutoNumber{} : AutoNumber{value.get<double>()};
  } else if constexpr (std::is_same_v<T, FilePath>) {
    return FilePath{value.get<std::string>()};
  } else {
    return value.get<T>();
  }
}

}  // namespace detail

/// The declarations of an option struct.
template <class Options>
std::vector<OptionInfo> describe_options() {
  std::vector<OptionInfo> infos;
  const Options defaults{};
  std::apply(
      [&](const auto&... f) {
        (infos.push_back({f.name, detail::option_type<std::remove_cvref_t<decltype(defaults.*f.member)>>(), f.help,
                          f.limits, detail::option_json(defaults.*f.member, f.limits), f.common}),
         ...);
      },
      Options::fields());
  return infos;
}

/// The struct with the given values, which are complete and checked.
template <class Options>
Options read_options(const OptionValues& values) {
  Options options{};
  std::apply(
      [&](const auto&... f) {
        ((options.*f.member =
              detail::option_value<std::remove_cvref_t<decltype(options.*f.member)>>(values.at(f.name), f.limits)),
         ...);
      },
      Options::fields());
  return options;
}

}  // namespace ecotone
