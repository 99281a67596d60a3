#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/json.h"

namespace ecotone {

enum class Task { classify, regress };
std::string_view task_name(Task task);

/// A column of dates is a number of days, see formats/date.h.
enum class ColumnKind { numeric, categorical, date };

/// How dates with slashes are read: 3/4/2020 is the third of April or the fourth of March. none: not at all.
enum class SlashOrder { none, day_first, month_first };

/// One input column of a table. A categorical column becomes one feature per level, `name=level`, or one feature `name`
/// of codes: the index of its level, NaN for a missing value or a level that is not among them. Codes are positions in
/// `levels`, so data whose levels differ are not comparable by their codes; readers match them by text.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<std::string> levels;        ///< sorted; categorical only
  SlashOrder slashes = SlashOrder::none;  ///< dates only
  bool coded = false;                     ///< categorical only: one feature of codes
  /// Whether it is a feature per level.
  bool one_hot() const { return kind == ColumnKind::categorical && !coded; }
  /// Number of features.
  std::size_t width() const { return one_hot() ? levels.size() : 1; }
  bool operator==(const Column&) const = default;
};

/// The meaning of the columns of a table; kept in the model so that new files are read the same way, by name, in any
/// column order.
struct Schema {
  std::vector<Column> columns;  ///< the inputs, in training order
  std::string label;            ///< column names; empty if there is none
  std::string domain;
  std::string weight;
  std::string group = {};
  std::string time = {};
  bool time_is_date = false;
  bool operator==(const Schema&) const = default;

  /// Names of the features: `name` or `name=level`, in order.
  std::vector<std::string> feature_names() const;
  /// The first feature of each column, and the number of features at the end.
  std::vector<std::size_t> first_features() const;
  /// Whether some column is one of codes.
  bool has_codes() const;
  /// Two columns that would produce features of the same name, such as a number `t=p` and a text column `t` with the
  /// category `p`: columns are found by name, so one of them would be taken for the other.
  struct Clash {
    std::string feature;
    std::string first;
    std::string second;
  };
  std::optional<Clash> clash() const;
  Json to_json() const;
  /// Checks everything. File error `bad_model`, which names `origin`, if anything is wrong.
  static Schema from_json(const Json& json, const std::string& origin);
};

}  // namespace ecotone
