#include "ecotone/reproduce/kinds/query_walk.h"

#include <algorithm>

#include "ecotone/methods/query/pick.h"
#include "ecotone/methods/query/uncertainty.h"
#include "ecotone/solve/linear/linear.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

namespace {

SgdOptions steps_of(const QueryProblem& problem) { return plain_steps(problem.step, problem.l2, false, false); }

}  // namespace

LogisticDraw draw_logistic_rows(const QueryProblem& problem, const Context& context) {
  LogisticDraw draw;
  Random random = context.random("rows");
  draw.truth.resize(problem.features);
  for (double& value : draw.truth) value = random.normal();
  draw.x.resize(problem.rows, problem.features);
  for (Index i = 0; i < draw.x.rows(); ++i) {
    for (double& value : draw.x.row(i)) value = random.normal();
    draw.cls.push_back(draw.x.row(i).dot(draw.truth) >= 0);
  }
  return draw;
}

LearningCurve learning_curve(const QueryProblem& problem, const LogisticDraw& draw, const Context& context) {
  LinearProblem linear{.x = Features::dense(draw.x), .cls = draw.cls, .classes = 2, .weight = Vector()};
  linear.l2 = problem.l2;
  linear.offset = false;
  const LinearFit best = fit_linear(linear, context);
  LearningCurve curve;
  curve.optimum = best.weights.row(0).transpose();
  const auto risk = [&](const Vector& w) {
    return problem.l2 * w.squaredNorm() + mean_loss(linear, {w.transpose(), Vector::Zero(1)}, context);
  };
  const double smallest = risk(curve.optimum);
  LogisticSteps steps(draw.x, draw.cls, {}, steps_of(problem));
  const std::vector<Index> rows = first_rows(problem.rows);
  for (int epoch = 0; epoch <= problem.epochs; ++epoch) {
    curve.excess.push_back(std::max(risk(steps.weights()) - smallest, 1e-300));
    Random random = context.random("epoch", static_cast<std::uint64_t>(epoch));
    if (epoch < problem.epochs) steps.pass(rows, random);
  }
  const double largest = std::ranges::max(curve.excess);
  for (double& value : curve.excess) value /= largest;
  return curve;
}

QueryWalk::QueryWalk(const QueryProblem& problem, const LogisticDraw& draw, int passes, const Context& context)
    : problem_(problem),
      draw_(draw),
      context_(context),
      random_(context.random("queries")),
      steps_(draw.x, draw.cls, {}, steps_of(problem)) {
  const std::vector<Index> order = context.random("seed").permutation(problem.rows);
  labelled_.assign(order.begin(), order.begin() + problem.seed);
  pool_.assign(order.begin() + problem.seed, order.end());
  for (int pass = 0; pass < passes; ++pass) {
    Random random = context.random("seed order", static_cast<std::uint64_t>(pass));
    steps_.pass(labelled_, random);
  }
}

Index QueryWalk::choice(const Strategy& strategy, const std::vector<Index>& candidates) {
  const Vector score = scores(strategy, candidates);
  return candidates[at(pick({score, Matrix()}, strategy, 1, random_).front().place)];
}

void QueryWalk::learn(Index place) {
  const Index row = pool_[at(place)];
  pool_.erase(pool_.begin() + place);
  labelled_.push_back(row);
  steps_.step(row);
}

Matrix QueryWalk::features_of(const std::vector<Index>& rows) const {
  Matrix x(std::ssize(rows), draw_.x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) x.row(static_cast<Index>(i)) = draw_.x.row(rows[i]);
  return x;
}

Vector QueryWalk::scores(const Strategy& strategy, const std::vector<Index>& candidates) const {
  std::vector<Index> rows;
  for (const Index place : candidates) rows.push_back(pool_[at(place)]);
  const Matrix x = features_of(rows);
  if (strategy.rule == QueryRule::random) return Vector::Zero(x.rows());
  if (strategy.rule == QueryRule::neighbours) {
    Labels y{.task = Task::classify, .classes = {"-1", "1"}, .index = {}, .value = {}};
    for (const Index row : labelled_) y.index.push_back(draw_.cls[at(row)]);
    return vote_uncertainty(x, features_of(labelled_), y, strategy.options.k, context_);
  }
  Prediction prediction;
  prediction.score = x * steps_.weights();
  prediction.probability.resize(x.rows(), 2);
  for (Index i = 0; i < x.rows(); ++i) {
    const double p = sigmoid(prediction.score(i, 0));  // (59.31)
    prediction.probability.row(i) << 1 - p, p;
    prediction.index.push_back(p >= 0.5);
  }
  return uncertainty(strategy.rule, prediction);
}

}  // namespace ecotone
