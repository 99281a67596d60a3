#include "ecotone/diagnose/population.h"

#include <algorithm>
#include <cmath>

#include "ecotone/data/categories.h"
#include "ecotone/diagnose/domain_moments.h"

namespace ecotone {
namespace {

constexpr std::size_t most_columns = 60;

/// `moments` are those of each feature of the column.
ColumnFigures figures_of(const Column& column, const std::vector<SampleMoments>& moments, double rows) {
  ColumnFigures figures;
  if (column.kind == ColumnKind::categorical) {
    double known = 0;
    for (const SampleMoments& level : moments) {
      figures.share.push_back(rows > 0 ? level.count * level.mean / rows : 0);
      known += figures.share.back();
    }
    figures.missing = std::clamp(1 - known, 0.0, 1.0);
    if (figures.missing < 1e-9) figures.missing = 0;
    return figures;
  }
  const SampleMoments& number = moments.front();
  figures.missing = rows > 0 ? 1 - number.count / rows : 0;
  if (number.count >= 1) figures.mean = number.mean;
  if (number.count >= 2) figures.sd = std::sqrt(number.m2 / (number.count - 1));
  return figures;
}

void add_population_labels(Population& population, const Dataset& data) {
  if (!data.y) return;
  const Labels& y = *data.y;
  const std::size_t domains = population.domains.size();
  population.label = data.schema.label.empty() ? "label" : data.schema.label;
  population.classes = y.classes;
  population.labelled.assign(domains, 0);
  std::vector<std::vector<double>> count(domains, std::vector<double>(std::max<std::size_t>(1, y.classes.size()), 0.0));
  for (Index row = 0; row < data.rows(); ++row) {
    if (y.missing(row)) continue;
    const std::size_t domain = at(data.domain.index[at(row)]);
    ++population.labelled[domain];
    if (y.task == Task::classify) {
      ++count[domain][at(y.index[at(row)])];
    } else {
      count[domain].front() += y.value[row];
    }
  }
  for (std::size_t d = 0; d < domains; ++d) {
    const auto labelled = static_cast<double>(population.labelled[d]);
    for (double& each : count[d]) each /= labelled;
    if (y.task == Task::classify) {
      population.class_share.push_back(labelled > 0 ? count[d] : std::vector<double>());
    } else {
      population.label_mean.push_back(labelled > 0 ? std::optional(count[d].front()) : std::nullopt);
    }
  }
}

}  // namespace

Population population_of(const Dataset& given, const Context& context) {
  const Dataset data = levels_to_compare(given, context.observed_by(nullptr));
  Population population;
  population.domain_word = data.schema.domain.empty() ? "domain" : data.schema.domain;
  population.domains = data.domain.names;
  population.rows = data.domain.sizes();
  add_population_labels(population, data);
  if (data.rows() == 0) return population;
  const DomainMoments moments = domain_moments(data, context);
  const std::vector<Column> columns = data.table_columns();
  Index feature = 0;
  for (const Column& column : columns) {
    if (population.columns.size() == most_columns) break;
    ColumnSummary summary{column.name, column.kind, column.levels, {}, {}};
    const auto of = [&](auto&& moments_of, Index rows) {
      std::vector<SampleMoments> each;
      for (std::size_t k = 0; k < column.width(); ++k) each.push_back(moments_of(feature + static_cast<Index>(k)));
      return figures_of(column, each, static_cast<double>(rows));
    };
    for (Index d = 0; d < data.domain.count(); ++d)
      summary.of_domain.push_back(of([&](Index f) { return moments.of(d, f); }, population.rows[at(d)]));
    summary.of_all = of([&](Index f) { return moments.without(-1, f); }, data.rows());
    population.columns.push_back(std::move(summary));
    feature += static_cast<Index>(column.width());
  }
  population.further_columns = std::ssize(given.table_columns()) - std::ssize(population.columns);
  return population;
}

}  // namespace ecotone
