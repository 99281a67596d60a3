#include "ecotone/methods/learn/svm/svm.h"

#include <span>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/svm/svm_grid.h"
#include "ecotone/methods/learn/svm/svm_low_rank.h"
#include "ecotone/methods/learn/svm/svm_parts.h"
#include "ecotone/methods/learn/svm/svm_probability.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

/// -1 and +1 for two classes, the labels themselves in regression.
std::vector<double> targets_of(const Labels& y) {
  if (y.task == Task::regress) return {y.value.begin(), y.value.end()};
  return binary_targets(y);
}

/// Labels that one constant predicts without loss: the model is that constant.
void warn_within_epsilon(const TrainView& view, const SvmOptions& options, const Context& context) {
  if (view.y.task != Task::regress || view.labelled() == 0) return;
  const double spread = view.y.value.maxCoeff() - view.y.value.minCoeff();
  if (spread <= 2 * options.epsilon)
    context.warn(
        "within_epsilon",
        "svm: all labels lie within epsilon = {:g} of one number, so it is predicted for every row; lower epsilon",
        options.epsilon);
}

void warn_unused_options(const TrainView& view, const SvmOptions& options, const Context& context) {
  if (options.probability && view.y.task != Task::classify)
    context.warn("unused_option", "svm: probability=true is for classes only; the label is a number to predict");
  if (!options.distributional && !options.sigma1.is_auto())
    context.warn("unused_option", "svm: sigma1 is used only with distributional=true");
}

SvmProblem problem_of(const TrainView& view, std::span<const double> y, const SvmOptions& options) {
  SvmProblem problem{.kind = view.y.task == Task::classify ? SvmKind::classes : SvmKind::numbers, .y = y};
  problem.weight = {view.weight.data(), static_cast<std::size_t>(view.weight.size())};
  problem.cost = options.cost;
  problem.epsilon = options.epsilon;
  problem.tolerance = options.tolerance;
  problem.max_iterations = options.max_iterations;
  problem.cache_bytes = static_cast<std::size_t>(options.cache_mb) << 20U;
  return problem;
}

Status status_of(const SvmFit& fit) {
  if (fit.converged)
    return {true, fmt::format("{} support vectors, duality gap {:.2g} of {:.4g}", fit.support, fit.gap,
                              fit.gap - fit.objective)};
  return {false, fmt::format("not converged after {} iterations, the optimality conditions are still violated by "
                             "{:.2g}; scale the features, lower C or raise max_iterations",
                             fit.iterations, fit.kkt)};
}

/// Fits as the learner does, but quietly and without probabilities.
SvmViewScores out_of_fold_scores(SvmOptions options, const Context& context) {
  options.probability = false;
  return [options, quiet = context.observed_by(nullptr)](const TrainView& train, const Batch& held) -> Vector {
    FitCache cache;
    return Svm::fit(train, options, quiet, cache).fitted->predict(held, quiet).score.col(0);
  };
}

StageResult fit_svm_with_refits(const TrainView& view, const Refits& refits, const OptionValues& values,
                                const Context& context, FitCache& cache) {
  return Svm::fit_refitting(view, &refits, read_options<SvmOptions>(values), context, cache);
}

}  // namespace

StageResult Svm::fit(const TrainView& view, const SvmOptions& options, const Context& context, FitCache& cache) {
  return fit_refitting(view, nullptr, options, context, cache);
}

StageResult Svm::fit_refitting(const TrainView& view, const Refits* refits, const SvmOptions& options,
                               const Context& context, FitCache& cache) {
  require_two_classes("svm", view);
  const TrainView kept = rows_with_weight("svm", view);
  require_two_classes("svm", kept, "labelled rows with a weight");
  warn_unused_options(view, options, context);
  warn_within_epsilon(kept, options, context);
  std::optional<PlattMap> platt;
  if (refits != nullptr && refits->stages && options.probability && view.y.task == Task::classify)
    platt = svm_probability(view, *refits, out_of_fold_scores(options, context), context);
  StageResult result = fit_rows(kept, options, platt, context, cache);
  result.next = view;
  return result;
}

StageResult Svm::fit_rows(const TrainView& view, const SvmOptions& options, std::optional<PlattMap> platt,
                          const Context& context, FitCache& cache) {
  const Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const std::vector<double> y = targets_of(view.y);
  const SvmProblem problem = problem_of(view, y, options);
  const SvmPlan plan = svm_plan(options, kernel, view.labelled(), view.x.cols());
  if (plan != SvmPlan::exact) return SvmLowRank::fit(view, options, kernel, plan, problem, platt, context);
  auto fitted = std::make_shared<Svm>();
  fitted->task_ = view.y.task;
  const DomainSample sample = labelled_sample(view);
  Matrix k1;
  std::optional<SvmGroups> groups;
  if (options.distributional) {
    DistributionFit domains = fit_domain_kernel("svm", kernel, sample, options.sigma1, context);
    k1 = std::move(domains.k1);
    groups.emplace(SvmGroups{sample.domain, k1});
    fitted->domains_.emplace(std::move(domains.kernel));
  }
  const SvmGroups* const of_domains = groups ? &*groups : nullptr;
  const SvmFit fit = fit_svm_in_grid(problem, kernel, sample.x, of_domains, cache, context);
  fitted->platt_ = platt;
  if (!platt && options.probability && view.y.task == Task::classify)
    fitted->platt_ = svm_probability(problem, kernel, sample.x, of_domains, view, context);
  fitted->machine_ = support_vectors(kernel, sample.x, fit.beta, fit.offset);
  if (groups)
    for (const Index i : support_rows(fit.beta)) fitted->support_domain_.push_back(sample.domain[at(i)]);
  fitted->notes_ = {fit.objective, fit.gap, fit.kkt, fit.bounded, fit.iterations};
  return {std::move(fitted), view, status_of(fit)};
}

Vector Svm::scores(const Batch& batch, const Context& context) const {
  if (!domains_) return support_scores(machine_, batch.x, context);
  const DomainSample sample = batch_sample(batch);
  const Matrix k1 = batch_domain_kernel("svm", *domains_, sample, context);
  return svm_scores(machine_.kernel, machine_.rows, machine_.coefficients, machine_.offset, sample.x,
                    {support_domain_, k1, sample.domain}, context);
}

Prediction Svm::predict(const Batch& batch, const Context& context) const {
  return svm_prediction("svm", task_, platt_, scores(batch, context), batch);
}

StageState Svm::save() const {
  StageState state;
  state.info["route"] = "exact";
  save_support_vectors(machine_, state);
  if (domains_) {
    save_domain_kernel(*domains_, state);
    save_domains(support_domain_, "support_domain", state);
  }
  save_platt(platt_, state);
  state.info["objective"] = notes_.objective;
  state.info["gap"] = notes_.gap;
  state.info["kkt"] = notes_.kkt;
  state.info["bounded"] = notes_.bounded;
  state.info["iterations"] = notes_.iterations;
  return state;
}

std::shared_ptr<const Fitted> Svm::load(const StageState& state, const SvmOptions& options, const StageInput& input) {
  require_binary_or_regression_model(input);
  // Models that were saved before there were routes do not name theirs.
  if (state.info.contains("route") && state.text("route") != "exact") return SvmLowRank::load(state, options, input);
  if (options.route == SvmRoute::low_rank) file_error("bad_model", "it was not fitted with route=low_rank");
  auto fitted = std::make_shared<Svm>();
  fitted->task_ = input.task;
  const Kernel kernel = load_kernel(kernel_options(options), state);
  fitted->machine_ = load_support_vectors(state, kernel, input.cols);
  if (options.distributional) {
    fitted->domains_.emplace(load_domain_kernel(kernel, state, input.cols));
    fitted->support_domain_ =
        load_domains(state, "support_domain", fitted->machine_.rows.rows(), fitted->domains_->domains());
  }
  fitted->platt_ = load_platt(options.probability && input.task == Task::classify, state);
  fitted->notes_ = {state.number("objective"), state.number("gap"), state.number("kkt"), state.count("bounded"),
                    state.count("iterations")};
  return fitted;
}

Method svm_method() {
  return make_method<SvmOptions, Svm::fit, Svm::load>(
      {.name = "svm",
       .family = Family::learn,
       .summary = "Support vector machine with a kernel and row weights, for classification and regression.",
       .when =
           "when the boundary is curved; distributional=true where domains are many and each brings rows to predict.",
       .example = "impute | scale | svm C=10",
       .citation = "fan2005",
       .routes = {{Route::streamed, "kernel=linear route=low_rank"}, {Route::ranks, "kernel=linear"}},
       .learns = Learns::two_classes,
       .penalties = {{"C", true}},
       .without_rows = "kernel=linear route=low_rank holds weights of the columns instead, also behind kpca "
                       "route=low_rank map=fourier",
       .fit_with_refits = fit_svm_with_refits});
}

}  // namespace ecotone
