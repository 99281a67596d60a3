#include "ecotone/methods/learn/forest/forest.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/trees/tree_arrays.h"
#include "ecotone/methods/learn/trees/trees.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/trees/importance.h"

namespace ecotone {

namespace {

constexpr const char* forest_name = "forest";
constexpr double least = 1e-12;  // of the largest weight: what is smaller divides nothing

TreeLabels forest_labels(const TrainView& view, const Context& context) {
  TreeLabels labels;
  labels.weight = view.weight;
  if (view.weight.size() > 0 && !(view.weight.maxCoeff() > 0))
    data_error("zero_weights", "{}: all rows have weight 0", forest_name);
  if (view.y.task == Task::regress) {
    require_finite_labels(forest_name, view.y);
    labels.y = view.y.value;
    require_summable(forest_name, labels);
    warn_labels_span(forest_name, "use trees loss=absolute", labels, context);
    return labels;
  }
  require_two_classes(forest_name, view);
  labels.classes = std::ssize(view.y.classes);
  labels.loss = labels.classes > 2 ? TreeLoss::softmax : TreeLoss::logistic;
  labels.y = Vector(view.labelled());
  for (Index i = 0; i < labels.y.size(); ++i) labels.y[i] = view.y.index[at(i)];
  require_summable(forest_name, labels);
  if (!can_start(labels)) data_error("zero_weights", "{}: all rows of a class have weight 0", forest_name);
  return labels;
}

Index given_or(const AutoNumber& option, const char* name, Index otherwise) {
  if (option.is_auto()) return otherwise;
  if (*option.value != std::trunc(*option.value))
    option_error("bad_option", "{}: {} must be a whole number, got {}", forest_name, name, *option.value);
  return static_cast<Index>(*option.value);
}

ForestOptions engine_options(const TrainView& view, const ForestLearnerOptions& options, const Context& context) {
  const bool classes = view.y.task == Task::classify;
  const auto cols = static_cast<double>(view.x.cols());
  ForestOptions engine;
  engine.trees = options.trees;
  engine.bootstrap = options.bootstrap;
  const auto usual = static_cast<Index>(classes ? std::sqrt(cols) : cols / 3);
  const Index columns = given_or(options.columns, "columns", usual);
  engine.columns = std::clamp<Index>(columns, 1, view.x.cols());
  if (columns > engine.columns)
    context.warn("rounded_option", "{}: there are {} columns to draw from: {} instead of {}", forest_name,
                 view.x.cols(), engine.columns, columns);
  engine.growth.min_rows = given_or(options.min_rows, "min_rows", classes ? 1 : 5);
  engine.growth.depth = options.depth;
  engine.growth.lam = 0;
  engine.growth.min_hessian = view.weight.size() == 0 ? least : least * view.weight.maxCoeff();
  engine.growth.cat_lam = 0;
  engine.growth.cat_smooth = engine.growth.min_hessian;
  engine.growth.cat_min_rows = 1;
  engine.growth.cat_most = most_tree_bins;
  return engine;
}

/// Shares of the classes; of more than two, each from trees of its own, they are made to add up to 1.
Prediction share_prediction(const Matrix& share) {
  Prediction prediction;
  const Index classes = std::max<Index>(2, share.cols());
  prediction.probability.resize(share.rows(), classes);
  prediction.index.resize(at(share.rows()));
  for (Index i = 0; i < share.rows(); ++i) {
    auto p = prediction.probability.row(i);
    for (Index k = 0; k < share.cols(); ++k) p[k] = std::clamp(share(i, k), 0.0, 1.0);
    if (share.cols() == 1) {
      p[1] = p[0];
      p[0] = 1 - p[1];
      prediction.index[at(i)] = p[1] >= 0.5 ? 1 : 0;
      continue;
    }
    double sum = 0;  // by a loop that does not depend on where the row lies in memory
    for (Index k = 0; k < classes; ++k) sum += p[k];
    for (Index k = 0; k < classes; ++k) p[k] = sum > 0 ? p[k] / sum : 1 / static_cast<double>(classes);
    Index best = 0;
    p.maxCoeff(&best);
    prediction.index[at(i)] = static_cast<std::int32_t>(best);
  }
  return prediction;
}

}  // namespace

StageResult Forest::fit(const TrainView& view, const ForestLearnerOptions& options, const Context& context, FitCache&) {
  const TreeLabels labels = forest_labels(view, context);
  auto fitted = std::make_shared<Forest>();
  fitted->task_ = view.y.task;
  TreeRows data = bin_rows(view.labelled_x(), labels.weight, view.categories, options.max_bins, context);
  fitted->model_ = grow_forest(data, labels, engine_options(view, options, context), context);
  fitted->importance_ = Vector::Zero(view.x.cols());
  for (const DecisionTree& tree : fitted->model_.trees) add_gains(tree, fitted->importance_);
  note_rare_levels(forest_name, data.column, view.x, context);
  fitted->columns_ = std::move(data.column);
  for (TreeColumn& column : fitted->columns_) column.edge.clear();
  Status status{true, fmt::format("{} trees", fitted->model_.trees.size())};
  if (!(fitted->importance_.maxCoeff() > 0)) {
    status.text = "no split gains anything, so all rows get the same prediction";
    context.warn("empty_model", "{}: {}", forest_name, status.text);
  }
  return {std::move(fitted), view, std::move(status)};
}

Prediction Forest::predict(const Batch& batch, const Context& context) const {
  const Matrix mean = tree_scores(model_, columns_, batch.x, context) / static_cast<double>(model_.rounds());
  if (task_ == Task::classify) return share_prediction(mean);
  Prediction prediction;
  prediction.task = Task::regress;
  prediction.value = mean.col(0);
  return prediction;
}

StageState Forest::save() const {
  StageState state;
  state.info["trees"] = model_.rounds();
  state.set("importance", importance_);
  write_trees(model_.trees, columns_, state);
  return state;
}

std::shared_ptr<const Fitted> Forest::load(const StageState& state, const ForestLearnerOptions&,
                                           const StageInput& input) {
  auto fitted = std::make_shared<Forest>();
  fitted->task_ = input.task;
  if (input.task == Task::classify && input.classes.size() < 2) file_error("bad_model", "a forest needs two classes");
  const bool several = input.task == Task::classify && input.classes.size() > 2;
  fitted->model_.outputs = several ? std::ssize(input.classes) : 1;
  fitted->model_.start = Vector::Zero(fitted->model_.outputs);
  TreeArrays arrays = read_trees(state, input.cols);
  if (arrays.trees.empty() || std::ssize(arrays.trees) != state.count("trees") * fitted->model_.outputs)
    file_error("bad_model", "there are {} trees, not {} for each class", arrays.trees.size(), state.count("trees"));
  fitted->model_.trees = std::move(arrays.trees);
  fitted->columns_ = std::move(arrays.columns);
  fitted->importance_ = state.vector("importance", input.cols);
  return fitted;
}

Method forest_method() {
  return make_method<ForestLearnerOptions, Forest::fit, Forest::load>(
      {.name = "forest",
       .family = Family::learn,
       .summary = "Random forest: the mean of trees that are grown to the end, each on a bootstrap sample of the rows.",
       .when =
           "beside 'trees' as a second opinion: nothing has to be chosen, and its probabilities are seldom extreme.",
       .example = "forest",
       .citation = "breiman2001",
       .learns = Learns::classes,
       .takes_missing = true,
       .takes_categories = true});
}

}  // namespace ecotone
