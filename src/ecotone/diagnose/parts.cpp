#include "ecotone/diagnose/parts.h"

#include <algorithm>
#include <cmath>

namespace ecotone {
namespace {

/// A column of the table: features [first, first + features), as many as it has categories.
struct TableColumn {
  std::string name;
  Index first;
  Index features;
  bool categorical;
};

std::vector<TableColumn> table_columns(const Dataset& data) {
  std::vector<TableColumn> columns;
  if (data.schema.feature_names().size() != static_cast<std::size_t>(data.x.cols())) {
    for (Index j = 0; j < data.x.cols(); ++j) columns.push_back({data.x.name(j), j, 1, false});
    return columns;
  }
  Index next = 0;
  for (const Column& column : data.schema.columns) {
    const auto features = static_cast<Index>(column.width());
    columns.push_back({column.name, next, features, column.one_hot()});
    next += features;
  }
  return columns;
}

/// Rows of a domain that have a value in a column.
double present(const DomainMoments& moments, Index domain, const TableColumn& column) {
  if (!column.categorical) return moments.count(domain, column.first);
  double rows = 0;
  for (Index k = column.first; k < column.first + column.features; ++k)
    rows += moments.count(domain, k) * moments.mean(domain, k);
  return std::round(rows);
}

DomainLabels class_shares(const Labels& y, const std::vector<Index>& rows) {
  DomainLabels result;
  std::vector<double> count(y.classes.size(), 0);
  for (const Index row : rows) {
    if (y.missing(row)) continue;
    ++result.rows;
    count[static_cast<std::size_t>(y.index[static_cast<std::size_t>(row)])] += 1;
  }
  if (result.rows == 0) return result;
  for (double& value : count) value /= static_cast<double>(result.rows);
  result.share = std::move(count);
  return result;
}

DomainLabels number_moments(const Labels& y, const std::vector<Index>& rows) {
  DomainLabels result;
  double mean = 0, m2 = 0;
  for (const Index row : rows) {
    if (y.missing(row)) continue;
    ++result.rows;
    const double d = y.value[row] - mean;
    mean += d / static_cast<double>(result.rows);
    m2 += d * (y.value[row] - mean);
  }
  if (result.rows > 0) result.mean = mean;
  if (result.rows > 1) result.sd = std::sqrt(m2 / static_cast<double>(result.rows - 1));
  return result;
}

}  // namespace

std::vector<bool> category_flags(const Dataset& data) {
  std::vector<bool> flags;
  for (const TableColumn& column : table_columns(data))
    flags.insert(flags.end(), static_cast<std::size_t>(column.features), column.categorical);
  return flags;
}

void add_labels(Diagnosis& diagnosis, const Dataset& data) {
  if (!data.y) return;
  diagnosis.task = data.y->task;
  diagnosis.classes = data.y->classes;
  diagnosis.label = data.schema.label.empty() ? "label" : data.schema.label;
  for (Index d = 0; d < data.domain.count(); ++d) {
    const auto rows = data.domain.rows_of(d);
    DomainLabels labels = data.y->task == Task::classify ? class_shares(*data.y, rows) : number_moments(*data.y, rows);
    labels.domain = data.domain.names[static_cast<std::size_t>(d)];
    diagnosis.labels.push_back(std::move(labels));
  }
}

void add_missing(Diagnosis& diagnosis, const Dataset& data, const DomainMoments& moments) {
  for (const TableColumn& column : table_columns(data)) {
    MissingShift shift{column.name, {}, 0};
    double missing = 0;
    for (Index d = 0; d < data.domain.count(); ++d) {
      const auto rows = static_cast<double>(diagnosis.domain_rows[static_cast<std::size_t>(d)]);
      const double absent = rows - present(moments, d, column);
      missing += absent;
      shift.share.push_back(absent / rows);
    }
    if (missing == 0) continue;
    diagnosis.missing_values += static_cast<Index>(missing);
    const auto [low, high] = std::minmax_element(shift.share.begin(), shift.share.end());
    shift.spread = *high - *low;
    diagnosis.missing.push_back(std::move(shift));
  }
  std::stable_sort(diagnosis.missing.begin(), diagnosis.missing.end(),
                   [](const MissingShift& a, const MissingShift& b) { return a.spread > b.spread; });
}

}  // namespace ecotone
