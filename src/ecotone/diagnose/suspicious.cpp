#include "ecotone/diagnose/suspicious.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/measure/telling.h"

namespace ecotone {

namespace {

constexpr Index fewest_telling_rows = 30;
constexpr Index most_looked_at_rows = 20'000;
constexpr Index most_looked_at_values = 4'000'000;
constexpr Index most_looked_at_columns = 20'000;
/// The square is 0.999: all but a thousandth of the label's variance.
constexpr double nearly_one = 0.9995;

std::vector<Index> source_rows(const Dataset& data) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i)
    if (data.role.empty() || data.role_of(i) == Role::source) rows.push_back(i);
  return rows;
}

/// One number per row: the value, or that of the category; NaN: missing.
std::vector<double> values_of(const Matrix& x, const Column& column, Index first) {
  std::vector<double> values(at(x.rows()), std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < x.rows(); ++i) {
    if (!column.one_hot())
      values[at(i)] = x(i, first);
    else
      for (std::size_t k = 0; k < column.levels.size(); ++k)
        if (x(i, first + static_cast<Index>(k)) > 0.5) values[at(i)] = static_cast<double>(k);
  }
  return values;
}

/// Different whole numbers, or texts, in all rows. Measurements may differ by chance, so numbers must also ascend with
/// the rows, lie close together, or be very many.
bool is_id_like(const std::vector<double>& values, const Column& column) {
  if (column.kind == ColumnKind::date) return false;
  const auto whole = [](double v) { return std::isfinite(v) && v == std::trunc(v); };
  if (!std::ranges::all_of(values, whole)) return false;
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return false;
  const auto n = static_cast<double>(values.size());
  return column.kind == ColumnKind::categorical || sorted == values || sorted.back() - sorted.front() < 20 * n ||
         n >= 1000;
}

std::string label_name(const Dataset& data) { return data.schema.label.empty() ? "label" : data.schema.label; }

/// What a column says of the labels of the labelled rows, if that is almost everything.
std::optional<std::string> leak(const std::vector<double>& values, const Labels& y) {
  std::vector<double> known;
  std::vector<std::int32_t> classes;
  std::vector<double> label;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (y.missing(static_cast<Index>(i))) continue;
    known.push_back(values[i]);
    if (y.task == Task::classify)
      classes.push_back(y.index[i]);
    else
      label.push_back(y.value[static_cast<Index>(i)]);
  }
  if (static_cast<Index>(known.size()) < fewest_telling_rows) return std::nullopt;
  if (y.task == Task::regress) {
    const double found = number_telling(known, label);
    if (found < nearly_one) return std::nullopt;
    return fmt::format("a correlation of {:.4f}", found);
  }
  const ClassTelling found = class_telling(known, classes, static_cast<Index>(y.classes.size()));
  if (!found.nearly_exact()) return std::nullopt;
  return fmt::format("right in {} of {} rows", found.rows - found.errors, found.rows);
}

std::optional<SuspiciousColumn> look_at(const std::vector<double>& values, const Column& column,
                                        const std::optional<Labels>& y, const std::string& label) {
  if (is_id_like(values, column))
    return SuspiciousColumn{
        column.name, "id_like",
        fmt::format("column '{}' has another {} in every row, like an id; leave it out with --id {} or --ignore {}",
                    column.name, column.kind == ColumnKind::categorical ? "text" : "whole number", column.name,
                    column.name)};
  const auto found = y ? leak(values, *y) : std::nullopt;
  if (!found) return std::nullopt;
  return SuspiciousColumn{column.name, "label_leak",
                          fmt::format("column '{}' alone tells '{}' ({}); if it is not known before the label, leave "
                                      "it out with --ignore {}",
                                      column.name, label, *found, column.name)};
}

}  // namespace

std::vector<SuspiciousColumn> suspicious_columns(const Dataset& data, const Context& context) {
  if (data.x.cols() == 0 || data.x.cols() > most_looked_at_columns) return {};
  const std::vector<Index> rows =
      spread_over(source_rows(data), std::min(most_looked_at_rows, most_looked_at_values / data.x.cols()));
  if (static_cast<Index>(rows.size()) < fewest_telling_rows) return {};
  const Matrix x = data.x.copy(rows);
  const std::optional<Labels> y = data.y ? std::optional(data.y->take(rows)) : std::nullopt;
  const std::vector<Column> columns = data.table_columns();
  std::vector<Index> first(columns.size(), 0);
  for (std::size_t j = 1; j < columns.size(); ++j) first[j] = first[j - 1] + static_cast<Index>(columns[j - 1].width());
  std::vector<std::optional<SuspiciousColumn>> found(columns.size());
  context.parallel(static_cast<Index>(columns.size()), [&](Index j) {
    found[at(j)] = look_at(values_of(x, columns[at(j)], first[at(j)]), columns[at(j)], y, label_name(data));
  });
  std::vector<SuspiciousColumn> result;
  for (const auto& one : found)
    if (one) result.push_back(*one);
  return result;
}

void warn_suspicious(const Dataset& data, bool strict, const Context& context) {
  std::string all;
  for (const std::string& name : data.left_out)
    all +=
        fmt::format("{}column '{}' has another text in every row, like an id; leave it out with --id {} or --ignore {}",
                    all.empty() ? "" : "; ", name, name, name);
  for (const SuspiciousColumn& one : suspicious_columns(data, context)) {
    if (!strict) context.warn(one.code, "{}", one.message);
    all += (all.empty() ? "" : "; ") + one.message;
  }
  if (strict && !all.empty()) data_error("suspicious_columns", "{}", all);
}

}  // namespace ecotone
