#include "ecotone/methods/adapt/dasvm/dasvm.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/learn/svm/svm_parts.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr const char* dasvm_name = "dasvm";

/// Balanced circular accuracy below which an adaptation should not be trusted. Plain accuracy would not do: with k
/// classes, one versus all, a model that assigns one class to all rows is right for about (k - 1) / k of them.
constexpr double trusted_accuracy = 0.7;

/// Rows per class and round: rounds do not grow with the rows, as the cost of each does.
Index rows_per_round(const DasvmOptions& options, Index sources, const Context& context) {
  constexpr Index fewest = 10;
  constexpr Index parts = 100;
  if (options.rho > 0) return options.rho;
  const Index rho = (sources + parts - 1) / parts;
  if (rho <= fewest) return fewest;
  context.note("dasvm: {} source rows, so rho={} of each class per round; a smaller rho takes longer", sources, rho);
  return rho;
}

void warn_of(const DasvmFit& fit, const Context& context) {
  if (fit.stop == DasvmStop::no_target_in_margin)
    context.warn("no_target_in_margin",
                 "dasvm: no target row lies inside the margin of the support vector machine of the source rows, so "
                 "self-training cannot start; scale the features or raise sigma, and only then lower C");
  if (fit.one_label())
    context.warn("target_one_class", "dasvm: all target rows are assigned one class: do not trust this adaptation");
  if (fit.circular_balanced && *fit.circular_balanced < trusted_accuracy)
    context.warn("untrusted_adaptation", "dasvm: balanced circular accuracy {:.2f}: do not trust this adaptation",
                 *fit.circular_balanced);
}

Status status_of(const DasvmFit& fit, double tolerance) {
  const auto rounds = std::ssize(fit.history);
  const char* plural = rounds == 1 ? "" : "s";
  if (!fit.converged)
    return {false, fmt::format("stopped after {} round{}: a fit violates the optimality conditions by more than "
                               "{:.2g}; scale the features, lower C or raise tolerance",
                               rounds, plural, tolerance)};
  if (fit.stop == DasvmStop::max_rounds)
    return {false, fmt::format("not settled after {} round{}; raise max_rounds or rho", rounds, plural)};
  return {true, fmt::format("{} after {} round{}", dasvm_stop_name(fit.stop), rounds, plural)};
}

}  // namespace

StageResult Dasvm::fit(const TrainView& view, const DasvmOptions& options, const Context& context, FitCache&) {
  require_classes(dasvm_name, view);
  require_two_classes(dasvm_name, view);
  require_target(dasvm_name, view);
  const Matrix x = view.x.to_matrix();
  const Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const std::vector<double> y = binary_targets(view.y);
  std::vector<double> weight;
  for (Index i = 0; i < view.labelled(); ++i) weight.push_back(view.weight_of(i));
  const DasvmFit fit = fit_dasvm({.x = x,
                                  .y = y,
                                  .weight = weight,
                                  .kernel = kernel,
                                  .cost = options.cost,
                                  .rho = rows_per_round(options, view.labelled(), context),
                                  .max_rounds = options.max_rounds,
                                  .tolerance = options.tolerance,
                                  .circular = options.circular,
                                  .who = dasvm_name},
                                 context);
  warn_of(fit, context);
  auto fitted = std::make_shared<Dasvm>();
  fitted->machine_ = support_vectors(kernel, x, fit.beta, fit.offset);
  const auto rounds = std::ssize(fit.history);
  fitted->notes_ = {.reason = std::string(dasvm_stop_name(fit.stop)),
                    .on_target = fit.on_target,
                    .kkt = fit.kkt,
                    .circular_accuracy = fit.circular_accuracy,
                    .circular_balanced = fit.circular_balanced,
                    .added = Vector(rounds),
                    .removed = Vector(rounds),
                    .flipped = Vector(rounds)};
  for (Index r = 0; r < rounds; ++r) {
    const DasvmRound& round = fit.history[at(r)];
    fitted->notes_.added[r] = static_cast<double>(round.added);
    fitted->notes_.removed[r] = static_cast<double>(round.removed);
    fitted->notes_.flipped[r] = static_cast<double>(round.flipped);
  }
  return {std::move(fitted), view, status_of(fit, options.tolerance)};
}

Prediction Dasvm::predict(const Batch& batch, const Context& context) const {
  return svm_prediction(dasvm_name, Task::classify, std::nullopt, support_scores(machine_, batch.x, context), batch);
}

StageState Dasvm::save() const {
  StageState state;
  save_support_vectors(machine_, state);
  state.info["rounds"] = notes_.added.size();
  state.info["reason"] = notes_.reason;
  state.info["on_target"] = notes_.on_target;
  state.info["kkt"] = notes_.kkt;
  state.info["circular_accuracy"] = notes_.circular_accuracy ? Json(*notes_.circular_accuracy) : Json(nullptr);
  state.info["circular_balanced_accuracy"] = notes_.circular_balanced ? Json(*notes_.circular_balanced) : Json(nullptr);
  state.set("added", notes_.added);
  state.set("removed", notes_.removed);
  state.set("flipped", notes_.flipped);
  return state;
}

std::shared_ptr<const Fitted> Dasvm::load(const StageState& state, const DasvmOptions& options,
                                          const StageInput& input) {
  require_binary_model(input);
  auto fitted = std::make_shared<Dasvm>();
  fitted->machine_ = load_support_vectors(state, load_kernel(kernel_options(options), state), input.cols);
  const Index rounds = state.count("rounds");
  Notes& notes = fitted->notes_;
  notes.reason = state.text("reason");
  const auto names = dasvm_stop_names();
  if (std::find(names.begin(), names.end(), notes.reason) == names.end())
    file_error("bad_model", "'reason' must be one of {}, got '{}'", fmt::join(names, ", "), notes.reason);
  notes.on_target = state.flag("on_target");
  notes.kkt = state.number("kkt");
  notes.circular_accuracy = state.number_or_null("circular_accuracy");
  notes.circular_balanced = state.number_or_null("circular_balanced_accuracy");
  notes.added = state.vector("added", rounds);
  notes.removed = state.vector("removed", rounds);
  notes.flipped = state.vector("flipped", rounds);
  return fitted;
}

Method dasvm_method() {
  return make_method<DasvmOptions, Dasvm::fit, Dasvm::load>(
      {.name = "dasvm",
       .family = Family::adapt,
       .summary = "Support vector machine that moves from source rows to target rows by self-training, a few labels at "
                  "a time.",
       .when = "when an unlabelled target is a gradual change of the source, such as a drift.",
       .example = "impute | scale | dasvm",
       .citation = "bruzzone2010",
       .learns = Learns::two_classes,
       .plain = PlainForm{.method = "svm"},
       .penalties = {{"C", true}},
       .without_rows = "a weight stage before a linear learner adapts without holding rows"});
}

}  // namespace ecotone
