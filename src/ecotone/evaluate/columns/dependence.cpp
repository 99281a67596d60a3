#include "ecotone/evaluate/columns/dependence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/memory.h"
#include "ecotone/data/storage/replaced_storage.h"
#include "ecotone/evaluate/fits_at_once.h"

namespace ecotone {
namespace {

constexpr Index most_curve_rows = 500;
constexpr std::size_t most_curve_points = 33;
constexpr Index values_at_once = Index{1} << 23;  // of columns whose quantiles are looked for

/// The distinct finite values, or as many quantiles of all of them as a curve has points; values that occur.
std::vector<double> curve_values(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::ranges::sort(values);
  std::vector<double> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= most_curve_points) return distinct;
  std::vector<double> quantiles;
  for (std::size_t k = 0; k < most_curve_points; ++k) {
    const double value = values[(k * (values.size() - 1) + (most_curve_points - 1) / 2) / (most_curve_points - 1)];
    if (quantiles.empty() || value > quantiles.back()) quantiles.push_back(value);
  }
  return quantiles;
}

/// The values or levels at which the curves have points. Reads a few columns at a time, so that the table is never
/// copied.
void set_points(ColumnEffects& effects, const std::vector<ColumnPlace>& places, const Features& x,
                const Context& context) {
  const auto is_text = [&](std::size_t c) { return places[c].column.kind == ColumnKind::categorical; };
  const auto at_once = static_cast<std::size_t>(std::max<Index>(1, values_at_once / x.rows()));
  for (std::size_t first = 0; first < places.size();) {
    if (is_text(first)) {
      effects.columns[first].levels = places[first].column.levels;
      ++first;
      continue;
    }
    std::size_t last = first + 1;
    while (last < places.size() && last - first < at_once && !is_text(last) &&
           places[last].first == places[last - 1].first + 1)
      ++last;
    const auto count = static_cast<Index>(last - first);
    const Matrix table = values_of_columns(x, places[first].first, count, context);
    context.parallel(count, [&](Index j) {
      effects.columns[first + at(j)].values = curve_values({table.col(j).begin(), table.col(j).end()});
    });
    first = last;
  }
}

/// Rows of a domain that are predicted together, and those of them in which a column is set.
struct CurveRows {
  Batch rows;
  std::vector<Index> changed;
};

CurveRows curve_rows(const Model& model, const Dataset& data, Index domain, Index most_rows) {
  const bool together = model.needs_domain_sample();
  CurveRows sample;
  const std::vector<Index> rows = spread_over(data.domain.rows_of(domain), together ? most_rows : most_curve_rows);
  sample.rows = batch(data, rows);
  sample.changed.resize(rows.size());
  std::iota(sample.changed.begin(), sample.changed.end(), Index{0});
  if (together)
    sample.changed =
        spread_over(sample.changed, std::clamp<Index>(static_cast<Index>(rows.size()) / 10, 1, most_curve_rows));
  return sample;
}

/// The decision values of a classification, or the predicted numbers. Of learners that answer with probabilities alone
/// these themselves, since the logarithm of a share of 0 would drown all others.
Matrix scores_of(const Prediction& prediction) {
  if (prediction.task == Task::regress) return prediction.value;
  if (prediction.score.size() > 0) return prediction.score;
  return prediction.probability.cols() == 2 ? Matrix(prediction.probability.col(1)) : prediction.probability;
}

/// The mean scores of the changed rows with the column set to its value number `point`.
Vector mean_scores(const Model& model, const CurveRows& sample, const ColumnPlace& place, const ColumnEffect& effect,
                   std::size_t point, const Context& context) {
  Matrix values = values_of_columns(sample.rows.x, place.first, place.width(), context);
  for (const Index row : sample.changed) {
    if (place.column.coded) {
      values(row, 0) = static_cast<double>(point);
    } else if (effect.kind == ColumnKind::categorical) {
      values.row(row).setZero();
      values(row, static_cast<Index>(point)) = 1;
    } else {
      values(row, 0) = effect.values[point];
    }
  }
  Batch changed = sample.rows;
  changed.x = with_values(sample.rows.x, place.first, std::move(values));
  const Matrix scores = scores_of(model.predict(changed, context));
  Vector sum = Vector::Zero(scores.cols());
  for (const Index row : sample.changed) sum += scores.row(row).transpose();
  return sum / static_cast<double>(sample.changed.size());
}

/// A point of a curve.
struct CurvePoint {
  std::size_t column;
  std::size_t point;
};

std::vector<CurvePoint> all_points(const ColumnEffects& effects) {
  std::vector<CurvePoint> points;
  for (std::size_t c = 0; c < effects.columns.size(); ++c)
    for (std::size_t p = 0; p < effects.columns[c].points(); ++p) points.push_back({c, p});
  return points;
}

/// Room for the curves of all domains and of all rows.
void make_curves(ColumnEffects& effects, std::size_t points) {
  const std::size_t domains = effects.domains.size(), scores = effects.scores.size();
  require_memory((domains + 1) * points * scores * sizeof(double), "inspect",
                 "the curves of all columns in all domains", "look at fewer columns with --columns");
  for (ColumnEffect& effect : effects.columns) {
    effect.pooled.assign(scores, std::vector<double>(effect.points(), 0.0));
    effect.curves.assign(domains, effect.pooled);
  }
}

/// The curves of all rows: those of the domains, each by its rows.
void pool_curves(ColumnEffects& effects) {
  double rows = 0;
  for (const EffectDomain& domain : effects.domains) rows += static_cast<double>(domain.rows);
  for (ColumnEffect& effect : effects.columns)
    for (std::size_t d = 0; d < effects.domains.size(); ++d)
      for (std::size_t s = 0; s < effect.pooled.size(); ++s)
        for (std::size_t p = 0; p < effect.points(); ++p)
          effect.pooled[s][p] += effect.curves[d][s][p] * (static_cast<double>(effects.domains[d].rows) / rows);
}

}  // namespace

void add_dependence(ColumnEffects& effects, const std::vector<ColumnPlace>& places, const Model& model,
                    const Dataset& data, const EffectOptions& options, const Context& context) {
  set_points(effects, places, data.x, context);
  const std::vector<CurvePoint> points = all_points(effects);
  make_curves(effects, points.size());
  const auto domains = static_cast<Index>(effects.domains.size());
  Progress progress(context.observer(), "dependence", domains * static_cast<Index>(points.size()));
  const Context silent = context.observed_by(nullptr);
  for (Index d = 0; d < domains; ++d) {
    const CurveRows sample = curve_rows(model, data, d, options.rows);
    silent.parallel(
        static_cast<Index>(points.size()),
        [&](Index i) {
          const auto [c, p] = points[at(i)];
          ColumnEffect& effect = effects.columns[c];
          const Vector scores = mean_scores(model, sample, places[c], effect, p, silent);
          for (Index s = 0; s < scores.size(); ++s) effect.curves[at(d)][at(s)][p] = scores[s];
          progress.advance();
        },
        fits_at_once(sample.rows.x));
  }
  pool_curves(effects);
}

}  // namespace ecotone
