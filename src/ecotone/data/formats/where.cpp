#include "ecotone/data/formats/where.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/formats/date.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/take_rows.h"

namespace ecotone {

namespace {

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

/// A column of a data set by name, as text or number.
struct NamedColumn {
  std::string name;
  Index feature = -1;                      // a column of x
  std::function<std::string(Index)> text;  // otherwise one of these
  std::function<double(Index)> number;
  std::optional<std::vector<std::string>> levels = {};  // of a column of codes
};

/// Whether a condition holds for a value of x.
bool holds_for(const Condition& condition, const NamedColumn& column, double value) {
  return column.levels ? condition.holds(level_text(*column.levels, value)) : condition.holds(value);
}

std::vector<NamedColumn> named_columns(const Dataset& data) {
  std::vector<NamedColumn> columns;
  const std::vector<std::string> names = data.x.names();
  for (std::size_t j = 0; j < names.size(); ++j) columns.push_back({names[j], static_cast<Index>(j), {}, {}});
  const std::vector<std::size_t> first = data.schema.first_features();
  for (std::size_t c = 0; c < data.schema.columns.size() && first.back() == names.size(); ++c)
    if (data.schema.columns[c].coded) columns[first[c]].levels = data.schema.columns[c].levels;
  if (data.y && data.y->task == Task::classify) {
    columns.push_back({data.schema.label.empty() ? "label" : data.schema.label,
                       -1,
                       [&y = *data.y](Index i) {
                         const auto c = y.index[at(i)];
                         return c < 0 ? std::string() : y.classes[at(c)];
                       },
                       {}});
  } else if (data.y) {
    columns.push_back({data.schema.label.empty() ? "label" : data.schema.label, -1, {}, [&y = *data.y](Index i) {
                         return y.value[i];
                       }});
  }
  columns.push_back({data.schema.domain.empty() ? "domain" : data.schema.domain,
                     -1,
                     [&d = data.domain](Index i) { return d.names[at(d.index[at(i)])]; },
                     {}});
  if (data.weight.size() > 0)
    columns.push_back({data.schema.weight.empty() ? "weight" : data.schema.weight, -1, {}, [&w = data.weight](Index i) {
                         return w[i];
                       }});
  if (data.time.size() > 0)
    columns.push_back(
        {data.schema.time.empty() ? "time" : data.schema.time, -1, {}, [&t = data.time](Index i) { return t[i]; }});
  return columns;
}

void apply(const Condition& condition, const NamedColumn& column, const Features& x, std::vector<char>& keep,
           const Context& context) {
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const Index first = x.first_row(b);
    if (column.feature >= 0) {
      const RowBlock read = x.block(b, scratch);
      for (Index i = 0; i < x.rows_in(b); ++i)
        if (!holds_for(condition, column, read.x(i, column.feature))) keep[at(first + i)] = 0;
      return;
    }
    for (Index i = first; i < first + x.rows_in(b); ++i)
      if (!(column.text ? condition.holds(std::string_view(column.text(i))) : condition.holds(column.number(i))))
        keep[at(i)] = 0;
  });
}

}  // namespace

Condition Condition::parse(const std::string& text, const std::vector<std::string>& names, const std::string& origin) {
  struct Sign {
    std::string_view text;
    Operator op;
  };
  static constexpr Sign signs[] = {{"==", Operator::equal},    {"!=", Operator::unequal}, {"<=", Operator::at_most},
                                   {">=", Operator::at_least}, {"=", Operator::equal},    {"<", Operator::less},
                                   {">", Operator::greater}};
  Condition result;
  std::size_t first = std::string::npos;
  bool known = false;
  for (std::size_t i = 0; i < text.size() && !known; ++i) {
    const auto sign =
        std::ranges::find_if(signs, [&](const Sign& s) { return text.compare(i, s.text.size(), s.text) == 0; });
    if (sign == std::end(signs)) continue;
    const auto found = std::ranges::find(names, trim(std::string_view(text).substr(0, i)));
    if (first == std::string::npos) first = i;
    if (found == names.end()) continue;
    known = true;
    result.column_ = found - names.begin();
    result.operator_ = sign->op;
    result.value_ = unquoted(std::string_view(text).substr(i + sign->text.size()));
  }
  if (first == std::string::npos || first == 0)
    option_error("bad_where", "where must be COLUMN OPERATOR VALUE with ==, !=, <, <=, > or >=, got '{}'", text);
  if (!known) find_column(names, std::string(trim(std::string_view(text).substr(0, first))), origin);
  result.missing_ = is_missing(result.value_);
  result.is_number_ = !result.missing_ && parse_number(result.value_, result.number_) && !std::isnan(result.number_);
  result.is_date_ = !result.missing_ && parse_date(result.value_, SlashOrder::none, result.number_);
  result.is_number_ |= result.is_date_;
  if (!result.is_number_ && result.operator_ != Operator::equal && result.operator_ != Operator::unequal)
    option_error("bad_where", "where '{}' compares with '{}', which is neither a number nor a date", text,
                 result.value_);
  return result;
}

bool Condition::compare(double value) const {
  switch (operator_) {
    case Operator::equal:
      return value == number_;
    case Operator::unequal:
      return value != number_;
    case Operator::less:
      return value < number_;
    case Operator::at_most:
      return value <= number_;
    case Operator::greater:
      return value > number_;
    case Operator::at_least:
      return value >= number_;
  }
  return false;
}

bool Condition::holds(double value) const {
  if (missing_) return std::isnan(value) == (operator_ == Operator::equal);
  if (is_number_) return compare(value);
  return operator_ == Operator::unequal;
}

bool Condition::holds(std::string_view field, NumberStyle style) const {
  const bool field_missing = is_missing(field);
  if (missing_) return field_missing == (operator_ == Operator::equal);
  double value = std::numeric_limits<double>::quiet_NaN();
  const bool comparable =
      is_date_ ? parse_date(field, SlashOrder::none, value) : is_number_ && parse_value(field, style, value);
  if (comparable && !field_missing) return compare(value);
  if (operator_ == Operator::equal) return !field_missing && field == value_;
  if (operator_ == Operator::unequal) return field_missing || field != value_;
  return false;
}

std::vector<Condition> parse_conditions(const std::vector<std::string>& texts, const std::vector<std::string>& names,
                                        const std::string& origin) {
  std::vector<Condition> conditions;
  for (const std::string& text : texts) conditions.push_back(Condition::parse(text, names, origin));
  return conditions;
}

Dataset filter_rows(Dataset data, const std::vector<std::string>& where, const std::string& origin,
                    const Context& context) {
  if (where.empty()) return data;
  const std::vector<NamedColumn> columns = named_columns(data);
  std::vector<std::string> names;
  for (const NamedColumn& column : columns) names.push_back(column.name);
  std::vector<char> keep(static_cast<std::size_t>(data.rows()), 1);
  for (const Condition& condition : parse_conditions(where, names, origin))
    apply(condition, columns[at(condition.column())], data.x, keep, context);
  std::vector<Index> rows;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) rows.push_back(static_cast<Index>(i));
  if (rows.empty()) data_error("empty_data", "{}: no row satisfies where", origin);
  data.dropped += data.rows() - std::ssize(rows);
  return take_rows(std::move(data), rows);
}

}  // namespace ecotone
