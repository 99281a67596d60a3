#include "ecotone/methods/learn/trees/trees.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/learn/trees/tree_arrays.h"
#include "ecotone/methods/refits.h"
#include "ecotone/solve/linear/loss.h"
#include "ecotone/solve/trees/contributions.h"
#include "ecotone/solve/trees/importance.h"
#include "ecotone/solve/trees/refit.h"

namespace ecotone {

namespace {

std::string rounds_and_leaves(const TreesChoice& choice) {
  return fmt::format("{} round{} of trees with up to {} leaves", choice.rounds, choice.rounds == 1 ? "" : "s",
                     choice.leaves);
}

Status status_of(const TreesChoice& choice, bool any_split) {
  if (!any_split) return {true, "no split gains anything, so all rows get the same prediction"};
  if (choice.left_out.empty()) return {true, rounds_and_leaves(choice)};
  return {true, fmt::format("{}, chosen on left-out {}", rounds_and_leaves(choice), choice.left_out)};
}

/// Source domains: labelled rows come first, and domains are numbered in the order of their first rows.
Index labelled_domain_count(const TrainView& view) {
  std::int32_t most = -1;
  for (Index i = 0; i < view.labelled(); ++i) most = std::max(most, view.domain.index[at(i)]);
  return most + 1;
}

/// Refuses domain rules that so few domains cannot satisfy.
void require_domains(const TreesOptions& options, Index domains) {
  if (options.splits == SplitRule::agree && domains < 2)
    data_error("needs_two_domains", "trees: splits=agree compares domains, and there is one to train on");
  if (options.min_domains > domains)
    option_error("bad_option", "trees: min_domains={}, but there {} {} domain{} to train on", options.min_domains,
                 domains == 1 ? "is" : "are", domains, domains == 1 ? "" : "s");
}

/// ln p / (1 - p), p = Phi(score)
Vector probit_log_odds(const Vector& score) {
  return score.unaryExpr([](double f) { return probit_terms(-f).loss - probit_terms(f).loss; });
}

Prediction softmax_prediction(Matrix score) {
  Prediction prediction;
  prediction.index.resize(at(score.rows()));
  prediction.probability.resize(score.rows(), score.cols());
  for (Index i = 0; i < score.rows(); ++i) {
    Index best = 0;
    const double top = score.row(i).maxCoeff(&best);
    double sum = 0;
    for (Index k = 0; k < score.cols(); ++k) sum += prediction.probability(i, k) = std::exp(score(i, k) - top);
    prediction.probability.row(i) /= sum;
    prediction.index[at(i)] = static_cast<std::int32_t>(best);
  }
  prediction.score = std::move(score);
  return prediction;
}

Prediction number_prediction(Vector value) {
  Prediction prediction;
  prediction.task = Task::regress;
  prediction.value = std::move(value);
  return prediction;
}

}  // namespace

StageResult Trees::fit(const TrainView& view, const TreesOptions& options, const Context& context, FitCache&) {
  return fit_refitting(view, no_refits(view, context), options, context);
}

StageResult Trees::fit_refitting(const TrainView& view, const Refits& refits, const TreesOptions& options,
                                 const Context& context) {
  const TreeLabels labels = tree_labels(view, options, context);
  TreeOptions growth = growth_of(options, view);
  require_domains(options, labelled_domain_count(view));
  auto fitted = std::make_shared<Trees>();
  fitted->choice_ = choose_trees(view, labels, refits, options, context);
  growth.leaves = fitted->choice_.leaves;
  fitted->loss_ = labels.loss;
  fitted->rate_ = options.rate;
  fitted->monotone_ = !growth.monotone.empty();
  TreeRows data = bin_rows(view.labelled_x(), labels.weight, view.categories, options.max_bins, context);
  const TreeDomains domains{
      view.domain.index, labelled_domain_count(view), {labels.weight.data(), at(labels.weight.size())}};
  fitted->domains_.assign(view.domain.names.begin(), view.domain.names.begin() + domains.count);
  fitted->importance_ = Vector::Zero(view.x.cols());
  fitted->domain_importance_ = Matrix::Zero(domains.count, view.x.cols());
  Progress progress(context.observer(), "trees", fitted->choice_.rounds);
  const auto after_round = [&](Index, const std::vector<GrownTree>&, const Matrix&) { progress.advance(); };
  const auto after_tree = [&](const GrownTree& grown, const Gradients& gradients) {
    add_gains(grown.tree, fitted->importance_);
    if (domains.count > 1) add_domain_gains(grown, gradients, domains, growth.lam, context, fitted->domain_importance_);
  };
  fitted->model_ = boost_trees(data, labels, domains, fitted->choice_.rounds, growth, context, after_round, after_tree);
  if (domains.count == 1) fitted->domain_importance_.row(0) = fitted->importance_.transpose();
  note_rare_levels("trees", data.column, view.x, context);
  fitted->columns_ = std::move(data.column);
  for (TreeColumn& column : fitted->columns_) column.edge.clear();  // thresholds are in the trees
  Status status = status_of(fitted->choice_, fitted->importance_.maxCoeff() > 0);
  if (!(fitted->importance_.maxCoeff() > 0)) context.warn("empty_model", "trees: {}", status.text);
  return {std::move(fitted), view, std::move(status)};
}

Prediction Trees::predict(const Batch& batch, const Context& context) const {
  Matrix score = tree_scores(model_, columns_, batch.x, context);
  switch (loss_) {
    case TreeLoss::logistic:
      return binary_prediction(score.col(0), score.col(0));
    case TreeLoss::probit:
      return binary_prediction(score.col(0), probit_log_odds(score.col(0)));
    case TreeLoss::softmax:
      return softmax_prediction(std::move(score));
    case TreeLoss::poisson:
      return number_prediction(score.col(0).unaryExpr([](double f) { return std::exp(f); }));
    default:
      return number_prediction(score.col(0));
  }
}

Matrix Trees::contributions(const Batch& batch, const Context& context) const {
  return tree_contributions(model_, columns_, batch.x, context);
}

std::shared_ptr<const Fitted> Trees::refitted(const TrainView& view, double strength, const Context& context) const {
  TreeLabels labels;
  labels.loss = loss_;
  labels.classes = model_.outputs;
  labels.weight = view.weight;
  if (labels.by_quantile())
    option_error("cannot_refit", "refit: trees fitted with loss=absolute or loss=quantile cannot be refitted");
  if (monotone_) option_error("cannot_refit", "refit: trees with monotone columns would lose that; fit them again");
  labels.y = view.y.value;
  require_counts(labels, view);
  if (view.y.task == Task::classify) {
    labels.y.resize(view.labelled());
    for (Index i = 0; i < labels.y.size(); ++i) labels.y[i] = view.y.index[at(i)];
  }
  require_summable("refit", labels);
  auto moved = std::make_shared<Trees>(*this);
  moved->model_ = refit_trees(model_, columns_, view.labelled_x(), labels, rate_, strength, context);
  return moved;
}

namespace {

StageResult fit_trees_with_refits(const TrainView& view, const Refits& refits, const OptionValues& values,
                                  const Context& context, FitCache&) {
  return Trees::fit_refitting(view, refits, read_options<TreesOptions>(values), context);
}

}  // namespace

Method trees_method() {
  return make_method<TreesOptions, Trees::fit, Trees::load>(
      {.name = "trees",
       .family = Family::learn,
       .summary =
           "Gradient-boosted trees on histograms, for classes, numbers and counts, with rounds and size of trees "
           "chosen inside the training data.",
       .when = "for tables with missing values, categories, steps or interactions; the results are the same bytes for "
               "any number of threads.",
       .example = "trees",
       .citation = "friedman2001",
       .routes = {{Route::ranks}},
       .learns = Learns::classes,
       .takes_missing = true,
       .takes_categories = true,
       .has_contributions = true,
       .fit_with_refits = fit_trees_with_refits});
}

}  // namespace ecotone
