#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/base/json.h"
#include "ecotone/base/options.h"

namespace ecotone {

/// A field of a result that was saved as JSON, and its path for messages. What is missing or wrong is a file error
/// (`bad_result`): "results.json: pipelines[1].domains[0].rows must be a whole number, got 'many'". A field refers to
/// the document and to the name of its file, which must outlive it.
class ResultField {
 public:
  /// The whole document; `origin` names its file.
  ResultField(const Json& json, std::string_view origin) : ResultField(json, origin, {}) {}

  /// Whether an object has a field of this name, be it null.
  bool has(const std::string& name) const;
  /// A field of an object.
  ResultField at(const std::string& name) const;
  /// The same; empty if there is none.
  std::optional<ResultField> find(const std::string& name) const;
  /// All fields of an object, in order.
  std::vector<std::pair<std::string, ResultField>> members() const;
  /// The entries of a list.
  std::vector<ResultField> items() const;
  /// What `read` makes of each entry of a list.
  template <class Read>
  auto each(Read read) const {
    std::vector<std::remove_cvref_t<std::invoke_result_t<Read&, const ResultField&>>> results;
    for (const ResultField& entry : items()) results.push_back(std::invoke(read, entry));
    return results;
  }
  /// This list, which must have as many entries.
  ResultField sized(std::size_t count) const;

  bool is_null() const { return json_->is_null(); }
  bool flag() const;
  std::string text() const;
  std::vector<std::string> texts() const;
  /// The position of a text among these words.
  std::size_t word(const std::vector<std::string_view>& words) const;
  /// The value of an enum with this name.
  template <class Enum>
  Enum choice(std::initializer_list<Enum> values, std::string_view (*name_of)(Enum)) const {
    std::vector<std::string_view> names;
    for (const Enum value : values) names.push_back(name_of(value));
    return *(values.begin() + word(names));
  }
  /// The name of a metric.
  std::string metric() const;

  /// A finite number.
  double number() const;
  /// A finite number, or NaN for null.
  double number_or_nan() const;
  /// What json_or_word wrote.
  double number_or_word() const;
  /// What json_number wrote.
  std::optional<double> optional_number() const;
  std::vector<double> numbers() const;
  std::vector<double> numbers_or_nan() const;
  /// A number of things, at most 10^12: sums of such numbers do not overflow.
  Index whole() const;
  Index whole_up_to(Index most) const;
  /// A position in a list of `count` entries.
  std::size_t place(std::size_t count) const;
  std::uint64_t seed() const;

  /// Options of a struct that declares them; missing ones have their defaults.
  template <class Options>
  Options options() const {
    return read_options<Options>(checked_options(describe_options<Options>()));
  }

  /// Refuses the value: "must be a number" is followed by what it is.
  [[noreturn]] void refuse(std::string_view rule) const;
  /// Refuses what does not go with another part of the document.
  [[noreturn]] void fail(std::string_view problem) const;

 private:
  ResultField(const Json& json, std::string_view origin, std::string path)
      : json_(&json), origin_(origin), path_(std::move(path)) {}

  const Json* json_;
  std::string_view origin_;
  std::string path_;

  const Json& object() const;
  const Json& list() const;
  ResultField member(const std::string& name, const Json& json) const;
  ResultField entry_at(std::size_t number) const;
  std::string shown() const;
  OptionValues checked_options(const std::vector<OptionInfo>& infos) const;
};

}  // namespace ecotone
