#include "ecotone/label/questions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/methods/query/uncertainty.h"
#include "ecotone/solve/ratios/density_ratio.h"

namespace ecotone {
namespace {

/// What the stages before the learner make of these rows.
Matrix coordinates_of(const Dataset& data, const Model& model, std::span<const Index> rows, const Context& context) {
  return model.transform(batch(data, rows), context).to_matrix();
}

/// How much likelier the rows are in the target than among the labelled rows of the sources, (59.61).
Vector target_weights(const Dataset& data, const Model& model, std::span<const Index> labelled,
                      const Matrix& coordinates, const Context& context) {
  if (!data.has_target())
    data_error("no_target", "domain_aware: there is no target to spend the labels in; name it with --target");
  std::vector<Index> sources;
  std::ranges::copy_if(labelled, std::back_inserter(sources),
                       [&](Index row) { return data.role_of(row) == Role::source; });
  if (sources.empty()) data_error("no_labels", "domain_aware: no row of a source domain has a label");
  const Matrix source_rows = coordinates_of(data, model, sources, context);
  Matrix all(source_rows.rows() + coordinates.rows(), coordinates.cols());
  all << source_rows, coordinates;
  const RatioFit fit =
      logistic_ratio(Features::dense(std::move(all)), source_rows.rows(), RatioOptions{.who = "domain_aware"}, context);
  constexpr double most = 20;  // e^20: beyond it a row is as good as only in the target
  const double ratio = std::log(static_cast<double>(source_rows.rows()) / static_cast<double>(coordinates.rows()));
  Vector weight(coordinates.rows());
  for (Index i = 0; i < weight.size(); ++i) {
    const double s = coordinates.row(i).dot(fit.classifier.weights.row(0)) + fit.classifier.offset[0];
    weight[i] = std::exp(std::clamp(ratio - s, -most, most));
  }
  return weight;
}

}  // namespace

LabelRows label_rows(const Dataset& data, Hide hide) {
  const bool target = data.has_target();
  LabelRows result;
  for (Index row = 0; row < data.rows(); ++row) {
    const bool known = data.y && !data.y->missing(row);
    const bool askable = !target || data.role_of(row) == Role::target;
    if (askable && (hide == Hide::pool ? known : !known)) {
      result.pool.push_back(row);
    } else if (known && (!askable || hide == Hide::nothing) && data.role_of(row) != Role::unseen) {
      result.known.push_back(row);
    }
  }
  return result;
}

Ranked rank_rows(const Dataset& data, const Model& model, const Strategy& strategy, std::span<const Index> rows,
                 std::span<const Index> labelled, const Labels& y, const Context& context) {
  Ranked ranked{{rows.begin(), rows.end()}, Vector::Zero(static_cast<Index>(rows.size())), Matrix()};
  if (rows.empty()) return ranked;
  const QueryOptions& options = strategy.options;
  const bool votes = strategy.rule == QueryRule::neighbours;
  if (votes || options.domain_aware || (options.batch > 1 && options.apart > 0))
    ranked.coordinates = coordinates_of(data, model, rows, context);
  if (strategy.rule == QueryRule::random) return ranked;
  if (votes) {
    ranked.score = vote_uncertainty(ranked.coordinates, coordinates_of(data, model, labelled, context),
                                    y.take(labelled), options.k, context);
    // From -K (all agree) to 0: a share that weights can multiply.
    if (options.domain_aware && y.task == Task::classify)
      ranked.score.array() += static_cast<double>(std::min<Index>(options.k, std::ssize(labelled)));
  } else {
    const Prediction prediction = model.predict(batch(data, rows), context);
    ranked.score =
        options.domain_aware ? uncertainty_share(strategy.rule, prediction) : uncertainty(strategy.rule, prediction);
  }
  if (options.domain_aware)
    ranked.score.array() *= target_weights(data, model, labelled, ranked.coordinates, context).array();
  return ranked;
}

bool can_fit(const Labels& y, std::span<const Index> labelled) {
  if (y.task == Task::regress) return labelled.size() >= 2;
  return std::ranges::any_of(labelled, [&](Index row) { return y.index[at(row)] != y.index[at(labelled[0])]; });
}

Strategy default_strategy(Task task) {
  return {task == Task::classify ? QueryRule::least_confidence : QueryRule::neighbours, {}};
}

}  // namespace ecotone
