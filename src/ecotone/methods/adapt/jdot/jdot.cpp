#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ecotone/base/memory.h"
#include "ecotone/methods/domain_places.h"
#include "ecotone/methods/learn/linear/linear.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/transport/network_simplex.h"
#include "ecotone/solve/transport/sinkhorn.h"

namespace ecotone {
namespace {

constexpr const char* jdot_name = "adapt.jdot";
constexpr double largest_gradient = 1e-8;  // of a fit that rounding keeps from its tolerance

struct JdotOptions {
  AutoNumber alpha{};
  double l2 = 1e-3;
  int rounds = 50;

  static constexpr auto fields() {
    return std::tuple{
        field("alpha", &JdotOptions::alpha,
              "Weight of the squared distance of rows beside the loss of labels; auto: 1 over its mean", above(0.0)),
        field("l2", &JdotOptions::l2,
              "Penalty l2 ||w||^2 added to the mean loss: logistic for classes, squared (not half) for numbers",
              at_least(0.0)),
        field("rounds", &JdotOptions::rounds, "Largest number of rounds: a plan and a fit each", between(1, 10000))};
  }
};

struct JdotNotes {
  std::vector<double> history;  ///< objective after each round
  double alpha = 0;
  double cost = 0;  ///< of the last plan: distances and losses
};

/// A linear model fitted to labels that optimal transport gives the target rows.
class Jdot : public Fitted {
 public:
  Jdot(std::shared_ptr<const Fitted> model, JdotNotes notes) : model_(std::move(model)), notes_(std::move(notes)) {}

  Prediction predict(const Batch& batch, const Context& context) const override {
    return model_->predict(batch, context);
  }
  StageState save() const override {
    StageState state = model_->save();
    state.set("history", notes_.history);
    state.info["alpha"] = notes_.alpha;
    state.info["cost"] = notes_.cost;
    return state;
  }

 private:
  std::shared_ptr<const Fitted> model_;
  JdotNotes notes_;
};

/// Plan and model in turn; neither step raises the objective.
class JdotRounds {
 public:
  JdotRounds(const TrainView& view, const JdotOptions& options, const Context& context)
      : view_(view), options_(options), context_(context), numbers_(view.y.task == Task::regress) {
    const Matrix all = view.x.to_matrix();
    source_ = all.topRows(view.labelled());
    target_ = all.bottomRows(all.rows() - view.labelled());
    a_ = Vector::Constant(source_.rows(), 1.0 / static_cast<double>(source_.rows()));
    if (view.weight.size() > 0) {
      if (!(view.weight.sum() > 0)) data_error("zero_weights", "{}: all row weights are 0", jdot_name);
      a_ = view.weight / view.weight.sum();
    }
    b_ = Vector::Constant(target_.rows(), 1.0 / static_cast<double>(target_.rows()));
    const double mean = mean_pair_cost(source_, target_, a_, b_);
    if (!std::isfinite(mean))
      data_error("non_finite", "{}: the distances overflow; scale the features first", jdot_name);
    notes_.alpha = options.alpha.value.value_or(mean > 0 ? 1 / mean : 1.0);
    classes_ = numbers_ ? 1 : static_cast<Index>(view.y.classes.size());
    if (!numbers_) {
      // Every target row once for each class, whose share is its weight.
      std::vector<Index> rows;
      for (Index c = 0; c < classes_; ++c)
        for (Index j = 0; j < target_.rows(); ++j) {
          rows.push_back(j);
          repeated_class_.push_back(static_cast<std::int32_t>(c));
        }
      repeated_ = Features::dense(Matrix(target_(rows, Eigen::all)));
    } else {
      repeated_ = Features::dense(target_);
    }
  }

  StageResult run() {
    LinearFit fit = on_source();
    bool settled = false, rounded = false;
    for (int round = 0; round < options_.rounds && !settled; ++round) {
      context_.check_cancelled();
      const Matrix losses = target_losses(fit);
      const ExactPlan plan = exact_transport(a_, b_, costs(losses), jdot_name, context_);
      fit = on_target(plan);
      const double objective = objective_of(plan, fit);
      if (!notes_.history.empty()) {
        const double before = notes_.history.back();
        settled = before - objective < 1e-10 * std::max(std::abs(before), 1e-300);
      }
      notes_.history.push_back(objective);
      notes_.cost = plan.cost;
      rounded = plan.rounded();
    }
    Status status;
    if (!settled)
      status = {false, fmt::format("the objective has not settled after {} round{}; raise rounds", options_.rounds,
                                   options_.rounds == 1 ? "" : "s")};
    if (!fit.converged && fit.kkt > largest_gradient)
      status = {false, fmt::format("the last fit stopped after {} iterations; use a larger l2", fit.iterations)};
    if (rounded) status = {false, "the costs of the plan are rounded: some rows are very far from all others"};
    auto model = std::make_shared<Linear>(family(), std::move(fit), Linear::Notes{.solver = "", .path = {}});
    return {std::make_shared<Jdot>(std::move(model), std::move(notes_)), view_, std::move(status)};
  }

 private:
  const TrainView& view_;
  const JdotOptions& options_;
  const Context& context_;
  bool numbers_;
  Matrix source_;
  Matrix target_;
  Vector a_;
  Vector b_;
  Index classes_ = 1;
  Features repeated_;
  std::vector<std::int32_t> repeated_class_;
  JdotNotes notes_;

  LinearFamily family() const { return numbers_ ? LinearFamily::least_squares : LinearFamily::logistic; }

  LinearFit solve(LinearProblem problem) const {
    problem.family = family();
    // The engine's squared loss is half of ours.
    problem.l2 = numbers_ ? 0.5 * options_.l2 : options_.l2;
    problem.tolerance = 1e-11;
    problem.who = jdot_name;
    return fit_linear(problem, context_);
  }

  LinearFit on_source() const {
    LinearProblem problem{
        .x = view_.labelled_x(), .cls = view_.y.index, .classes = std::max<Index>(classes_, 2), .weight = view_.weight};
    problem.norm_by_weights = true;
    problem.value = {view_.y.value.data(), static_cast<std::size_t>(view_.y.value.size())};
    return solve(problem);
  }

  LinearFit on_target(const ExactPlan& plan) const {
    const Index m = target_.rows();
    if (numbers_) {
      // y_j = sum_i P_ij y_i / b_j
      Vector value = Vector::Zero(m);
      for (const TransportMass& each : plan.moved) value[each.to] += each.mass * view_.y.value[each.from] / b_[each.to];
      LinearProblem problem{.x = repeated_, .cls = {}, .weight = Vector()};
      problem.value = {value.data(), static_cast<std::size_t>(m)};
      return solve(problem);
    }
    Vector weight = Vector::Zero(repeated_.rows());
    for (const TransportMass& each : plan.moved)
      weight[view_.y.index[at(each.from)] * m + each.to] += static_cast<double>(m) * each.mass;
    LinearProblem problem{.x = repeated_, .cls = repeated_class_, .classes = classes_, .weight = weight};
    problem.norm = static_cast<double>(m);
    return solve(problem);
  }

  /// The loss that each class would have in each target row; of numbers the predictions, one row of them.
  Matrix target_losses(const LinearFit& fit) const {
    Matrix scores = fit.weights * target_.transpose();
    scores.colwise() += fit.offset;
    if (numbers_) return scores;
    Matrix losses(classes_, target_.rows());
    for (Index j = 0; j < losses.cols(); ++j) {
      Vector score = scores.col(j);
      if (score.size() == 1) score = Vector{{0.0, scores(0, j)}};
      const double top = score.maxCoeff();
      const double total = top + std::log((score.array() - top).exp().sum());
      losses.col(j) = total - score.array();
    }
    return losses;
  }

  TransportCosts costs(const Matrix& losses) const {
    const TransportCosts distances = squared_distance_costs(source_, target_);
    return [this, distances, &losses](Index i, Index from, Index count, double* out) {
      distances(i, from, count, out);
      for (Index k = 0; k < count; ++k) out[k] = notes_.alpha * out[k] + label_loss(losses, i, from + k);
    };
  }

  double label_loss(const Matrix& losses, Index i, Index j) const {
    if (!numbers_) return losses(view_.y.index[at(i)], j);
    const double apart = view_.y.value[i] - losses(0, j);
    return apart * apart;
  }

  double objective_of(const ExactPlan& plan, const LinearFit& fit) const {
    const Matrix losses = target_losses(fit);
    const TransportCosts all = costs(losses);
    double sum = options_.l2 * fit.weights.squaredNorm();
    for (const TransportMass& each : plan.moved) {
      double cost = 0;
      all(each.from, each.to, 1, &cost);
      sum += each.mass * cost;
    }
    return sum;
  }
};

StageResult fit_jdot(const TrainView& view, const JdotOptions& options, const Context& context, FitCache&) {
  require_target(jdot_name, view);
  if (view.y.task == Task::classify)
    require_two_classes(jdot_name, view);
  else
    require_finite_labels(jdot_name, view.y);
  const Index targets = view.x.rows() - view.labelled();
  for (const Index rows : {view.labelled(), targets})
    if (rows > most_exact_transport)
      data_error("too_many_rows",
                 "{}: an exact plan between {} and {} rows takes too long, {} is the most; use fewer rows", jdot_name,
                 view.labelled(), targets, most_exact_transport);
  const auto copies = static_cast<Index>(std::max<std::size_t>(view.y.classes.size(), 1)) + 2;
  require_memory(static_cast<std::size_t>(copies * view.x.rows() * view.x.cols()) * sizeof(double), jdot_name,
                 "copies of all rows", "use fewer rows or columns");
  warn_of_few_targets(jdot_name, targets, view.x.cols(), "all labels are carried", context);
  tell_class_shares(jdot_name, view, context);
  return JdotRounds(view, options, context).run();
}

std::shared_ptr<const Fitted> load_jdot(const StageState& state, const JdotOptions&, const StageInput& input) {
  const LinearFamily family = input.task == Task::regress ? LinearFamily::least_squares : LinearFamily::logistic;
  const Vector history = state.vector("history", -1);
  JdotNotes notes{{history.begin(), history.end()}, state.number("alpha"), state.number("cost")};
  return std::make_shared<Jdot>(Linear::load(family, state, input), std::move(notes));
}

}  // namespace

Method adapt_jdot_method() {
  return make_method<JdotOptions, fit_jdot, load_jdot>(
      {.name = "adapt.jdot",
       .family = Family::adapt,
       .summary = "Gives target rows the labels of source rows by optimal transport, and fits a linear model to them.",
       .when =
           "as a candidate for `fit --guard`, with a few thousand rows at most. Assumes that classes (or the values of "
           "numbers) have the same shares in source and target; where they differ, target rows get wrong labels. "
           "In our study it was better than nothing in 3 and worse in 21 of 24 new domains.",
       .example = "impute | scale | adapt.jdot",
       .citation = "courty2017jdot",
       .learns = Learns::classes,
       .plain = PlainForm{.method = "logistic", .of_numbers = "least_squares", .l2_of_numbers = 0.5},
       .penalties = {{"l2"}}});
}

}  // namespace ecotone
