#include "ecotone/label/row_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/label/column_facts.h"

namespace ecotone {
namespace {

constexpr Index most_fields = 40;         // shown of one row
constexpr Index most_tried = 2000;        // columns whose effect is looked at
constexpr Index most_varied = 4'000'000;  // values of the rows that are varied for it
constexpr double most_values = 4e5;       // of labelled rows that are looked at
constexpr double differing = 0.5;         // standard deviations
constexpr std::size_t most_important = 5;

Matrix rows_of(const Dataset& data, std::span<const Index> rows) { return data.x.copy(rows); }

bool is_target(const Dataset& data, Index row) { return data.role_of(row) == Role::target; }

/// How far apart two answers are: decision values, probabilities of several classes, or numbers.
double change(const Prediction& prediction, Index row) {
  if (prediction.task == Task::regress) return std::abs(prediction.value[row] - prediction.value[0]);
  if (prediction.probability.cols() == 2) {
    const Matrix score = decision_scores(prediction);
    return std::abs(score(row, 0) - score(0, 0));
  }
  return (prediction.probability.row(row) - prediction.probability.row(0)).cwiseAbs().maxCoeff();
}

}  // namespace

struct RowFacts::State {
  Dataset data;
  ColumnFacts columns;
  double usual_distance = 0;  ///< 95% of rows are nearer than this to the nearest of a sample

  State(const Dataset& given, const Context& context) : data(given), columns(data, context) { measure_distances(); }

  void measure_distances() {
    constexpr Index asked = 200, others = 1000;
    const std::vector<Index> sample = columns.sample_rows(asked + others);
    if (std::ssize(sample) < 3) return;
    const Matrix x = rows_of(data, sample);
    // Every k-th row is asked, the others are compared with.
    const Index every = std::max<Index>(2, x.rows() / asked);
    std::vector<double> nearest;
    for (Index i = 0; i < x.rows(); i += every) {
      double least = INFINITY;
      for (Index k = 0; k < x.rows(); ++k)
        if (k % every != 0) least = std::min(least, columns.distance(x.row(i), x.row(k)));
      nearest.push_back(least);
    }
    std::ranges::sort(nearest);
    usual_distance = nearest[nearest.size() * 95 / 100] * (1 + 1e-9);
  }

  /// The effect of every column on the answer for a row: how much it changes if the value is the usual one.
  std::vector<double> effects(Index row, const Matrix& x, const Model& model, const Context& context) const {
    const Index affordable = std::max<Index>(1, most_varied / std::max<Index>(1, x.cols()));
    const Index tried = std::min({columns.count(), most_tried, affordable});
    Matrix varied = x.replicate(tried + 1, 1);
    for (Index c = 0; c < tried; ++c) columns.make_usual(c, data.domain.index[at(row)], varied, c + 1);
    const std::vector<Index> same(at(tried + 1), row);
    const Batch batch{Features::dense(std::move(varied), data.x.names()), data.domain.take(same), {}};
    const Prediction prediction = model.predict(batch, context);
    std::vector<double> effect(at(columns.count()), 0.0);
    for (Index c = 0; c < tried; ++c) effect[at(c)] = change(prediction, c + 1);
    return effect;
  }

  /// The labelled rows to look at: all of the target, and of the sources as many as fit, at equal distances.
  std::vector<Index> looked_at(std::span<const Index> labelled) const {
    std::vector<Index> target, source;
    for (const Index row : labelled) (is_target(data, row) ? target : source).push_back(row);
    const auto most =
        static_cast<Index>(std::max(100.0, most_values / static_cast<double>(std::max<Index>(1, data.x.cols()))));
    target = spread_over(target, most);
    source = spread_over(source, most);
    target.insert(target.end(), source.begin(), source.end());
    return target;
  }
};

RowFacts::RowFacts(const Dataset& data, const Context& context)
    : state_(std::make_shared<const State>(data, context)) {}

std::vector<FieldFact> RowFacts::fields(Index row, const Model* model, const Context& context) const {
  const ColumnFacts& columns = state_->columns;
  const Index rows[] = {row};
  const Matrix x = rows_of(state_->data, rows);
  std::vector<double> effect(at(columns.count()), 0.0);
  // A model that looks at all rows of a domain together has no effect of one row's column.
  if (model != nullptr && !model->needs_domain_sample()) effect = state_->effects(row, x, *model, context);
  std::vector<Index> order(at(columns.count()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](Index c) { return effect[at(c)]; });
  if (std::ssize(order) > most_fields) order.resize(at(most_fields));
  std::vector<FieldFact> facts;
  for (const Index c : order) {
    FieldFact fact = columns.fact(c, state_->data.domain.index[at(row)], x.row(0));
    const double share = effect[at(order[0])] > 0 ? effect[at(c)] / effect[at(order[0])] : 0;
    fact.important = share >= 0.2 && facts.size() < most_important;
    facts.push_back(std::move(fact));
  }
  return facts;
}

NearRows RowFacts::near(Index row, std::span<const Index> labelled, const Labels& y, Index count,
                        const std::vector<FieldFact>& fields) const {
  const Dataset& data = state_->data;
  const ColumnFacts& columns = state_->columns;
  const std::vector<Index> others = state_->looked_at(labelled);
  if (others.empty()) return {{}, false};
  const Index rows[] = {row};
  const Matrix here = rows_of(data, rows);
  const Matrix there = rows_of(data, others);
  std::vector<std::pair<double, Index>> nearest;
  for (Index i = 0; i < there.rows(); ++i)
    if (others[at(i)] != row) nearest.emplace_back(columns.distance(here.row(0), there.row(i)), i);
  std::ranges::sort(nearest);
  std::vector<Index> shown;
  for (const FieldFact& field : fields) shown.push_back(columns.find(field.name));
  NearRows result;
  result.new_region = nearest.empty() || nearest[0].first > state_->usual_distance;
  for (const bool target : {false, true}) {
    Index left = count;
    for (const auto& [distance, i] : nearest) {
      const Index other = others[at(i)];
      if (left == 0) break;
      if (is_target(data, other) != target) continue;
      --left;
      NeighbourFact fact{other, data.domain.names[at(data.domain.index[at(other)])], target, label_text(y, other), {}};
      for (const Index c : shown)
        fact.fields.push_back({columns.text(c, there.row(i)), columns.differ(c, here.row(0), there.row(i), differing)});
      result.rows.push_back(std::move(fact));
    }
  }
  return result;
}

}  // namespace ecotone
