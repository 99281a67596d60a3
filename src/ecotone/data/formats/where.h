#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {

/// One row filter: COLUMN(==|=|!=|<|<=|>|>=)VALUE. Numbers are compared as numbers, dates (2020-01-31) as dates, other
/// text for equality; an empty VALUE stands for a missing one. A missing value is unequal to every VALUE and satisfies
/// no ordering.
class Condition {
 public:
  /// The column is the first known name before an operator. Option error `bad_where`, data error `unknown_column`.
  static Condition parse(const std::string& text, const std::vector<std::string>& names, const std::string& origin);

  Index column() const { return column_; }
  bool holds(std::string_view field, NumberStyle style = {}) const;
  bool holds(double value) const;

 private:
  enum class Operator { equal, unequal, less, at_most, greater, at_least };
  bool compare(double value) const;

  Index column_ = 0;
  Operator operator_ = Operator::equal;
  std::string value_;
  bool missing_ = false;
  bool is_number_ = false;
  bool is_date_ = false;
  double number_ = 0;
};

/// All conditions of `--where`.
std::vector<Condition> parse_conditions(const std::vector<std::string>& texts, const std::vector<std::string>& names,
                                        const std::string& origin);

/// The rows of a data set that satisfy all conditions on features, label, domain, weight and time by name. Data error
/// `empty_data` if none is left.
Dataset filter_rows(Dataset data, const std::vector<std::string>& where, const std::string& origin,
                    const Context& context);

}  // namespace ecotone
