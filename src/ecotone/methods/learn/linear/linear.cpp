#include "ecotone/methods/learn/linear/linear.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/random.h"
#include "ecotone/methods/learn/linear/separation.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/select/selection_view.h"
#include "ecotone/solve/linear/loss.h"
#include "ecotone/solve/moments/least_squares.h"
#include "ecotone/solve/robust/robust.h"

namespace ecotone {
namespace {

bool is_stochastic(LinearSolver solver) { return solver == LinearSolver::sgd || solver == LinearSolver::prox_sgd; }

bool looks_at_domains(const LinearOptions& options) { return options.risk != LinearRisk::mean || options.anchor > 1; }

/// The same of the options of risks that look at domains.
void check_risk(LinearFamily family, const LinearOptions& options, const Context& context) {
  const LinearOptions defaults;
  const bool strength = options.risk == LinearRisk::vrex || options.risk == LinearRisk::irm;
  if (options.strength != defaults.strength && !strength)
    context.warn("unused_option", "{}: strength is for risk=vrex and risk=irm", family_text(family));
  if ((options.level != defaults.level || options.share != defaults.share) && options.risk != LinearRisk::cvar)
    context.warn("unused_option", "{}: level and share are for risk=cvar", family_text(family));
  if (!looks_at_domains(options)) return;
  const char* what = options.risk == LinearRisk::mean ? "anchor" : "risk";
  if (options.l1.is_auto() || *options.l1.value != 0)
    option_error("bad_option", "{}: {} cannot have l1; use l2", family_text(family), what);
  if (options.solver != LinearSolver::automatic)
    option_error("bad_option", "{}: {} has a solver of its own; use solver=auto, got {}", family_text(family), what,
                 solver_name(options.solver));
  if (options.penalise_offset)
    option_error("bad_option", "{}: {} leaves the offset free; use penalise_offset=false", family_text(family), what);
  if (options.anchor > 1 && options.risk != LinearRisk::mean)
    option_error("bad_option", "{}: anchor and risk cannot be combined; use one of them", family_text(family));
}

/// Refuses options that contradict each other and warns of those that do nothing.
void check_combination(LinearFamily family, const LinearOptions& options, const Context& context) {
  const bool lasso = options.solver == LinearSolver::automatic || options.solver == LinearSolver::prox_newton ||
                     options.solver == LinearSolver::prox_sgd;
  if (options.l1.is_auto() && !lasso) {
    option_error("bad_option", "{}: solver={} cannot have l1=auto; use solver=auto or solver=prox-newton",
                 family_text(family), solver_name(options.solver));
  }
  const LinearOptions defaults;
  const bool steps = options.step != defaults.step || options.schedule != defaults.schedule ||
                     options.batch != defaults.batch || options.reduce != defaults.reduce ||
                     options.epochs != defaults.epochs;
  if (steps && !is_stochastic(options.solver)) {
    context.warn("unused_option", "{}: step, schedule, batch, reduce and epochs are for solver=sgd and solver=prox-sgd",
                 family_text(family));
  }
  check_risk(family, options, context);
  if (options.rule != defaults.rule && !options.l1.is_auto() && !options.l2.is_auto())
    context.warn("unused_option", "{}: rule is for l1=auto and l2=auto", family_text(family));
}

LinearProblem problem_of(LinearFamily family, const TrainView& view, const LinearOptions& options) {
  LinearProblem problem{.x = view.labelled_x(), .cls = view.y.index, .classes = 2, .weight = view.weight};
  problem.classes = std::max<Index>(2, static_cast<Index>(view.y.classes.size()));
  problem.value = {view.y.value.data(), static_cast<std::size_t>(view.y.value.size())};
  problem.family = family;
  problem.l1 = options.l1.value.value_or(0.0);
  problem.l2 = options.l2.value.value_or(0.0);
  problem.offset = options.offset;
  problem.penalise_offset = options.penalise_offset;
  problem.norm_by_weights = options.norm == LinearNorm::sum;
  problem.max_iterations = options.max_iterations;
  problem.solver = options.solver;
  problem.tolerance = options.tol;
  problem.who = family_text(family);
  problem.sgd = {.step = options.step.value.value_or(0.0),
                 .schedule = options.schedule,
                 .batch = options.batch,
                 .reduce_sum = options.reduce == BatchReduce::sum,
                 .epochs = options.epochs};
  return problem;
}

template <class T>
std::uint64_t hashed(const T* values, Index count, std::uint64_t start) {
  return hash_text({reinterpret_cast<const char*>(values), static_cast<std::size_t>(count) * sizeof(T)}, start);
}

/// Names the fits that can start at each other's weights: those of one shape, on the same labels unless these grow.
std::string start_key(LinearFamily family, const TrainView& view, const LinearOptions& options, const FitCache& cache) {
  if (cache.growing())
    return fmt::format("start of {} on {} columns, offset {}, classes {}", family_text(family), view.x.cols(),
                       options.offset, fmt::join(view.y.classes, "|"));
  std::uint64_t labels = hash_text("labels");
  labels = hashed(view.y.index.data(), static_cast<Index>(view.y.index.size()), labels);
  labels = hashed(view.y.value.data(), view.y.value.size(), labels);
  return fmt::format("start of {} on {} x {}, offset {}, labels {:x}", family_text(family), view.labelled(),
                     view.x.cols(), options.offset, labels);
}

/// Calls the solver, and where it refuses tells the user what to do.
template <class Call>
auto explained(const LinearProblem& problem, const TrainView& view, const Context& context, Call&& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() == "separable") {
      data_error(
          "separable",
          "{}: the classes can be separated, perhaps with ties, so without a penalty there is no finite optimum; "
          "{}. Use l2=auto or a number such as l2=0.01, or leave such columns out",
          problem.who, separation_text(problem, view.y.classes, context));
    }
    if (error.code() == "one_class") require_two_classes(problem.who, view);
    throw;
  }
}

/// Sets the penalties that are left to auto.
void set_penalties(const TrainView& view, const Refits& refits, const LinearOptions& options, LinearProblem& problem,
                   Linear::Notes& notes, const Context& context) {
  const PenaltyChoice choice{options.l1.is_auto(), options.l2.is_auto(), options.rule};
  if (!choice.l1 && !choice.l2) return;
  const bool affordable = choice.l1 || can_afford_path(problem, refits);
  if (affordable) {
    notes.path = explained(problem, view, context, [&] { return choose_penalties(problem, refits, choice, context); });
  }
  if (notes.path) {
    problem.l1 = notes.path->l1[notes.path->chosen];
    problem.l2 = notes.path->l2[notes.path->chosen];
    return;
  }
  if (choice.l1) {
    data_error("no_folds",
               "{}: no domain (or fold of rows) can be left out so that all classes remain in the others, so penalties "
               "cannot be chosen; set l1 and l2 to numbers",
               problem.who);
  }
  problem.l2 = notes.fixed_l2 = fixed_l2(problem);
  if (affordable) {
    context.note(
        "{}: l2=auto took 1 / (2 rows), because no domain (or fold of rows) can be left out so that the others can be "
        "fitted",
        problem.who);
  } else if (!can_afford_refits(refits)) {
    context.note(
        "{}: l2=auto took 1 / (2 rows), because fitting the stages before it again in each of {} folds of {} rows "
        "would "
        "take long; tune with l2={{...}} tries penalties",
        problem.who, refits.folds, problem.x.rows());
  } else {
    context.note(
        "{}: l2=auto took 1 / (2 rows), because trying penalties would take long on so many values ({} rows, {} "
        "columns, {} folds{}); tune with l2={{...}} tries them",
        problem.who, problem.x.rows(), problem.x.cols(), refits.folds,
        refits.problems > 1 ? fmt::format(", {} binary problems", refits.problems) : "");
  }
}

/// Penalties that a fit chose on fewer rows.
struct GrownPenalties {
  Index rows = 0;
  double l1 = 0;
  double l2 = 0;
};

/// The same while rows are added: what was chosen stays until they have grown by a quarter.
void set_growing_penalties(const TrainView& view, const Refits& refits, const LinearOptions& options,
                           LinearProblem& problem, Linear::Notes& notes, const Context& context, FitCache& cache) {
  if (!options.l1.is_auto() && !options.l2.is_auto()) return;
  const std::string key = "penalties of a growing fit, " + start_key(problem.family, view, options, cache);
  const auto last = cache.last<GrownPenalties>(key);
  if (last && 4 * view.labelled() <= 5 * last->rows) {
    problem.l1 = last->l1;
    problem.l2 = last->l2;
    notes.fixed_l2 = last->l2;
    return;
  }
  set_penalties(view, refits, options, problem, notes, context);
  cache.leave(key, GrownPenalties{view.labelled(), problem.l1, problem.l2});
}

RobustRisk robust_risk(const LinearOptions& options) {
  switch (options.risk) {
    case LinearRisk::vrex:
      return RobustRisk::vrex;
    case LinearRisk::irm:
      return RobustRisk::irm;
    case LinearRisk::cvar:
      return options.level == RiskLevel::row ? RobustRisk::cvar_rows : RobustRisk::cvar_domains;
    case LinearRisk::mean:
      break;
  }
  return RobustRisk::anchor;
}

/// Domains with labelled rows of positive weight.
Index domains_with_weight(const TrainView& view) {
  std::vector<bool> has(view.domain.names.size());
  for (Index i = 0; i < view.labelled(); ++i)
    if (view.weight_of(i) > 0) has[at(view.domain.index[at(i)])] = true;
  return std::ranges::count(has, true);
}

/// The fit of a risk that looks at domains.
StageResult fit_domains(LinearFamily family, const TrainView& view, const LinearOptions& options,
                        const LinearProblem& problem, Linear::Notes notes, const Context& context) {
  const RobustProblem robust{.linear = problem,
                             .domain = std::span(view.domain.index).first(at(view.labelled())),
                             .domains = view.domain.count(),
                             .risk = robust_risk(options),
                             .lam = options.strength,
                             .share = options.share,
                             .gamma = options.anchor,
                             .subtracted = {},
                             .max_iterations = std::max(problem.max_iterations, 100)};
  RobustFit found = fit_robust(robust, context);
  for (Index e = 0; e < found.losses.size(); ++e) {
    if (std::isnan(found.losses[e])) continue;
    notes.domains.push_back({view.domain.names[at(e)], found.losses[e],
                             found.mixture.size() > 0 ? std::optional(found.mixture[e]) : std::nullopt});
  }
  notes.lower = found.lower;
  notes.solver = solver_name(found.fit.solver);
  Status status;
  if (!found.fit.converged)
    status = {false,
              fmt::format("not converged after {} iterations, the gradient is still {:.2g}{}", found.fit.iterations,
                          found.fit.kkt,
                          options.risk == LinearRisk::irm ? "; irm is not convex, and a smaller strength may help"
                                                          : "; use l2 > 0 or raise max_iterations")};
  return {std::make_shared<Linear>(family, std::move(found.fit), std::move(notes)), view, std::move(status)};
}

Status status_of(const LinearFit& fit) {
  if (fit.converged) return {};
  if (is_stochastic(fit.solver)) {
    return {false,
            fmt::format("{} epochs with step {:.3g} ended where the gradient is still {:.2g}; use more epochs, another "
                        "step, or scale the features",
                        fit.iterations, fit.step, fit.kkt)};
  }
  return {false, fmt::format("not converged after {} iterations, the gradient is still {:.2g}; features of very "
                             "different size need scale, or raise max_iterations",
                             fit.iterations, fit.kkt)};
}

/// Phi(score)
double normal_distribution(double score) { return 0.5 * std::erfc(-score * M_SQRT1_2); }

void predict_two(double score, double p0, double p1, Index row, Prediction& prediction) {
  prediction.score(row, 0) = score;
  prediction.probability(row, 0) = p0;
  prediction.probability(row, 1) = p1;
  // A score of 0 goes to the second class, which is +1.
  prediction.index[at(row)] = score >= 0 ? 1 : 0;
}

void predict_softmax(ConstVectorView score, Index row, Prediction& prediction) {
  Index best = 0;
  const double top = score.maxCoeff(&best);
  // p_k = exp(s_k - max s) / sum_l exp(s_l - max s), by loops that do not depend on where the row lies in memory
  auto p = prediction.probability.row(row);
  double sum = 0;
  for (Index k = 0; k < score.size(); ++k) sum += p[k] = std::exp(score[k] - top);
  for (Index k = 0; k < score.size(); ++k) p[k] /= sum;
  prediction.score.row(row) = score.transpose();
  prediction.index[at(row)] = static_cast<std::int32_t>(best);
}

}  // namespace

const char* family_text(LinearFamily family) {
  constexpr const char* names[] = {"logistic", "softmax", "probit", "poisson", "least_squares"};
  return names[static_cast<std::size_t>(family)];
}

Linear::Linear(LinearFamily family, LinearFit fit, Notes notes)
    : family_(family), fit_(std::move(fit)), notes_(std::move(notes)), columns_(fit_.weights.transpose()) {}

StageResult Linear::fit(LinearFamily family, const TrainView& view, const Refits& refits, const LinearOptions& options,
                        const Context& context, FitCache& cache) {
  if (learns_classes(family)) require_classes(family_text(family), view);
  check_combination(family, options, context);
  LinearProblem problem = problem_of(family, view, options);
  Notes notes;
  if (cache.growing()) {
    set_growing_penalties(view, refits, options, problem, notes, context, cache);
  } else {
    set_penalties(view, refits, options, problem, notes, context);
  }
  const bool one_domain = looks_at_domains(options) && domains_with_weight(view) < 2;
  const bool rows_alone = options.risk == LinearRisk::cvar && options.level == RiskLevel::row;
  if (looks_at_domains(options) && (!one_domain || rows_alone))
    return fit_domains(family, view, options, problem, std::move(notes), context);
  // Where a stochastic solver starts is part of its result, so it does not.
  const bool warm = (cache.in_order() || cache.growing()) && !is_stochastic(options.solver);
  const std::string key = warm ? start_key(family, view, options, cache) : "";
  const auto start = warm ? cache.last<LinearScores>(key) : nullptr;
  problem.start = start.get();
  problem.grows = warm && cache.growing();
  const auto curvature = problem.grows ? cache.last<LinearCurvature>("curvature, " + key) : nullptr;
  problem.curvature = curvature.get();
  LinearFit fit = explained(problem, view, context, [&] { return fit_linear(problem, context); });
  if (warm && fit.converged) {
    cache.leave(key, LinearScores{fit.weights, fit.offset});
    if (fit.curvature) cache.leave("curvature, " + key, *fit.curvature);
  } else if (problem.grows) {
    cache.leave("curvature, " + key, LinearCurvature{});
  }
  fit.curvature.reset();  // it is the size of the rows, and a model need not hold it
  notes.solver = solver_name(fit.solver);
  Status status = status_of(fit);
  if (one_domain && status.converged)
    status.text = "one_domain: the plain fit, because there are no domains to compare";
  return {std::make_shared<Linear>(family, std::move(fit), std::move(notes)), view, std::move(status)};
}

SumsResult Linear::fit_on_sums(const RowSums& sums, const LinearOptions& options, const Context& context) {
  const char* who = family_text(LinearFamily::least_squares);
  if (sums.task != Task::regress) data_error("needs_numbers", "{}: the label is a class, not a number to predict", who);
  warn_lost_digits(who, sums.moments, {.x = options.offset, .y = options.offset}, context);
  MomentLeastSquares found = least_squares_of(sums.moments, options.l2.value.value_or(0), options.offset, who, context);
  LinearFit fit;
  fit.weights = found.weights.transpose();
  fit.offset = Vector::Constant(1, found.offset);
  fit.risk = found.risk;
  fit.kkt = found.kkt;
  fit.iterations = 1;
  fit.converged = true;
  fit.solver = LinearSolver::newton;
  Notes notes{.solver = std::string(solver_name(fit.solver)), .path = {}, .fixed_l2 = 0};
  return {std::make_shared<Linear>(LinearFamily::least_squares, std::move(fit), std::move(notes)), sums};
}

void Linear::predict_rows(const Matrix& scores, Index first, Prediction& prediction) const {
  for (Index i = 0; i < scores.rows(); ++i) {
    const Index row = first + i;
    const double score = scores.cols() == 2 ? scores(i, 1) - scores(i, 0) : scores(i, 0);
    if (family_ == LinearFamily::poisson) {
      prediction.value[row] = std::exp(score);
    } else if (family_ == LinearFamily::least_squares) {
      prediction.value[row] = score;
    } else if (family_ == LinearFamily::probit) {
      predict_two(score, normal_distribution(-score), normal_distribution(score), row, prediction);
    } else if (scores.cols() <= 2) {
      predict_two(score, sigmoid(-score), sigmoid(score), row, prediction);
    } else {
      predict_softmax(scores.row(i).transpose(), row, prediction);
    }
  }
}

Prediction Linear::predict(const Batch& batch, const Context& context) const {
  const Features& x = batch.x;
  const Index outputs = columns_.cols();
  Prediction prediction;
  if (!learns_classes(family_)) {
    prediction.task = Task::regress;
    prediction.value.resize(x.rows());
  } else {
    prediction.index.resize(static_cast<std::size_t>(x.rows()));
    prediction.probability.resize(x.rows(), std::max<Index>(2, outputs));
    prediction.score.resize(x.rows(), outputs > 2 ? outputs : 1);
  }
  context.parallel(x.blocks(), [&](Index b) {
    // score = W x + offset
    Matrix scores(x.rows_in(b), outputs);
    x.multiply(b, columns_, scores);
    scores.rowwise() += fit_.offset.transpose();
    require_finite_scores(family_text(family_), scores, batch, x.first_row(b));
    predict_rows(scores, x.first_row(b), prediction);
  });
  if (!learns_classes(family_) && !prediction.value.allFinite()) {
    data_error("non_finite", "{}: a predicted value overflows", family_text(family_));
  }
  return prediction;
}

}  // namespace ecotone
