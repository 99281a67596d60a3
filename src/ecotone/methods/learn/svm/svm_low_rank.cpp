#include "ecotone/methods/learn/svm/svm_low_rank.h"

#include <string>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/storage/derived_storage.h"
#include "ecotone/methods/learn/domain_map.h"
#include "ecotone/methods/learn/svm/svm_parts.h"
#include "ecotone/methods/learn/svm/svm_probability.h"
#include "ecotone/solve/svm/linear_svm.h"

namespace ecotone {
namespace {

/// A linear kernel is fitted by weights of the columns if there are at most so many columns and at least so many rows,
/// also per column.
constexpr Index most_columns = 1000;
constexpr Index fewest_rows = 1000;
constexpr Index rows_per_column = 4;
/// Most rows that `route=auto` fits exactly.
constexpr Index most_exact_rows = 50'000;
/// The relative duality gap at which weights are as good as coefficients that violate their conditions by 1.
constexpr double gap_share = 0.1;

const char* route_name(SvmPlan plan) { return plan == SvmPlan::linear ? "linear" : "low_rank"; }

Features mapped_by(const LowRankMap& map, const Features& x) {
  const auto rho = [map](ConstMatrixMap rows, MatrixView out) {
    LowRankMap::Workspace workspace;
    map.features(rows, out, workspace);
  };
  return {std::make_shared<DerivedStorage>(x.shared_storage(), map.rank(), rho), {}};
}

Status status_of(const LinearSvmFit& fit, const SvmProblem& problem) {
  const double primal = fit.gap - fit.objective;
  if (fit.converged)
    return {true, fmt::format("{} rows with a loss or on the margin, duality gap {:.2g} of {:.4g}", fit.support,
                              fit.gap, primal)};
  return {false,
          fmt::format("not converged after {} Newton steps: the duality gap is {:.2g} of {:.4g}, above the relative "
                      "tolerance of {:.2g}; scale the features, lower C or raise max_iterations",
                      fit.iterations, fit.gap, primal, problem.tolerance)};
}

}  // namespace

SvmPlan svm_plan(const SvmOptions& options, const Kernel& kernel, Index rows, Index cols) {
  if (options.route == SvmRoute::exact) return SvmPlan::exact;
  const bool weights = kernel.kind == KernelKind::linear && !options.distributional && cols <= most_columns;
  if (options.route == SvmRoute::low_rank) return weights ? SvmPlan::linear : SvmPlan::low_rank;
  if (weights && rows >= fewest_rows && rows >= rows_per_column * cols) return SvmPlan::linear;
  return rows > most_exact_rows ? SvmPlan::low_rank : SvmPlan::exact;
}

Features SvmLowRank::fit_map(const TrainView& view, const SvmOptions& options, const Context& context) {
  const Features x = view.labelled_x();
  if (plan_ == SvmPlan::linear) return x;
  if (options.route == SvmRoute::automatic)
    context.note("svm: more than {} rows, so route=low_rank with rank {}", most_exact_rows, options.rank);
  const LowRankOptions low_rank{.rank = options.rank};
  Features phi;
  if (options.distributional) {
    const DomainRowsOf rows = labelled_rows(view);
    DistributionMapFit fit = fit_domain_map("svm", kernel_, rows, options.sigma1, low_rank, context);
    notes_.residual = fit.residual;
    domain_map_.emplace(std::move(fit.map));
    phi = domain_map_->map(rows.rows(), fit.places);
  } else {
    LowRankFit fit = fit_low_rank(x, kernel_, low_rank, context);
    notes_.residual = fit.residual;
    map_ = std::move(fit.map);
    phi = mapped_by(map_, x);
  }
  warn_of_rough_map("svm", phi.cols(), notes_.residual, context);
  return phi;
}

StageResult SvmLowRank::fit(const TrainView& view, const SvmOptions& options, const Kernel& kernel, SvmPlan plan,
                            const SvmProblem& problem, std::optional<PlattMap> platt, const Context& context) {
  auto fitted = std::make_shared<SvmLowRank>();
  fitted->task_ = view.y.task;
  fitted->kernel_ = kernel;
  fitted->plan_ = plan;
  const Features phi = fitted->fit_map(view, options, context);
  SvmProblem of_weights = problem;
  of_weights.tolerance = gap_share * problem.tolerance;
  const LinearSvmFit fit = fit_linear_svm(of_weights, phi, context);
  if (!fit.kept && !phi.storage().in_file())
    context.note("svm: {} x {} numbers do not fit in half of the free memory; they are recomputed in every pass",
                 phi.rows(), phi.cols());
  fitted->platt_ = platt;
  if (!platt && options.probability && view.y.task == Task::classify) {
    const auto held_scores = [&](const SvmProblem& part, const InnerFold& fold) {
      const LinearSvmFit refit = fit_linear_svm(part, phi.take(fold.train), context);
      return linear_svm_scores(phi.take(fold.held), refit.weights, refit.offset, context);
    };
    fitted->platt_ = svm_probability(of_weights, view, held_scores, context);
  }
  fitted->weights_ = fit.weights;
  fitted->offset_ = fit.offset;
  fitted->notes_ = {fit.objective, fit.gap, fitted->notes_.residual, fit.support, fit.bounded, fit.iterations};
  return {std::move(fitted), view, status_of(fit, of_weights)};
}

Features SvmLowRank::mapped(const Batch& batch, const Context& context) const {
  if (plan_ == SvmPlan::linear) return batch.x;
  return domain_map_ ? batch_domain_map("svm", *domain_map_, batch_rows(batch), context) : mapped_by(map_, batch.x);
}

Prediction SvmLowRank::predict(const Batch& batch, const Context& context) const {
  return svm_prediction("svm", task_, platt_, linear_svm_scores(mapped(batch, context), weights_, offset_, context),
                        batch);
}

StageState SvmLowRank::save() const {
  StageState state;
  state.info["route"] = route_name(plan_);
  state.set("weights", weights_);
  state.info["offset"] = offset_;
  save_kernel(kernel_, state);
  if (domain_map_) save_domain_map(*domain_map_, state);
  if (map_.rank() > 0) save_landmarks("row", map_, state);
  save_platt(platt_, state);
  state.info["objective"] = notes_.objective;
  state.info["gap"] = notes_.gap;
  if (plan_ == SvmPlan::low_rank) state.info["residual"] = notes_.residual;
  state.info["support_rows"] = notes_.support;
  state.info["bounded"] = notes_.bounded;
  state.info["iterations"] = notes_.iterations;
  return state;
}

std::shared_ptr<const Fitted> SvmLowRank::load(const StageState& state, const SvmOptions& options,
                                               const StageInput& input) {
  auto fitted = std::make_shared<SvmLowRank>();
  fitted->task_ = input.task;
  fitted->kernel_ = load_kernel(kernel_options(options), state);
  const std::string route = state.text("route");
  fitted->plan_ = route == "linear" ? SvmPlan::linear : SvmPlan::low_rank;
  const bool linear = fitted->plan_ == SvmPlan::linear;
  if (route != route_name(fitted->plan_) || options.route == SvmRoute::exact ||
      (linear && (options.distributional || fitted->kernel_.kind != KernelKind::linear)))
    file_error("bad_model", "'route' is '{}', which its options do not allow", route);
  Index size = input.cols;
  if (!linear && options.distributional) {
    fitted->domain_map_.emplace(load_domain_map(fitted->kernel_, state, input.cols));
    size = fitted->domain_map_->rank();
  } else if (!linear) {
    fitted->map_ = load_landmarks("row", fitted->kernel_, state, input.cols);
    size = fitted->map_.rank();
  }
  fitted->weights_ = state.vector("weights", size);
  fitted->offset_ = state.number("offset");
  fitted->platt_ = load_platt(options.probability && input.task == Task::classify, state);
  fitted->notes_ = {state.number("objective"),   state.number("gap"),    linear ? 0.0 : state.number("residual"),
                    state.count("support_rows"), state.count("bounded"), state.count("iterations")};
  return fitted;
}

}  // namespace ecotone
