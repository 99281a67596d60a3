#include "ecotone/methods/adapt/joint/joint.h"

#include <algorithm>
#include <utility>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/weight/weighting.h"
#include "ecotone/solve/ratios/domain_auroc.h"

namespace ecotone {
namespace {

constexpr const char* joint_name = "adapt.joint";

/// z = w'h + offset as a logistic model.
LinearFit label_scores(const JointFit& joint) {
  LinearFit fit;
  fit.weights = joint.weights.transpose();
  fit.offset = Vector::Constant(1, joint.offset);
  return fit;
}

/// Effective sample size of the importance weights times the given ones.
double effective_rows(const JointFit& joint, const Vector& given) {
  Vector weights = (joint.log_weight.array() - joint.log_weight.maxCoeff()).exp();
  if (given.size() > 0) weights.array() *= given.array() / std::max(given.maxCoeff(), 1e-300);
  return effective_sample_size(weights);
}

}  // namespace

JointModel::JointModel(JointFit fit, Notes notes)
    : fit_(std::move(fit)), notes_(notes), linear_(LinearFamily::logistic, label_scores(fit_), {}) {}

StageResult JointModel::fit(const TrainView& view, const JointOptions& options, const Context& context, FitCache&) {
  require_classes(joint_name, view);
  require_target(joint_name, view);
  const Index sources = view.labelled();
  JointFit joint = fit_joint({.x = view.x,
                              .sources = sources,
                              .cls = view.y.index,
                              .weight = view.weight,
                              .l2 = options.l2,
                              .lam = options.lam,
                              .domain_l2 = options.domain_l2,
                              .offset = options.offset,
                              .who = joint_name},
                             context);
  const Notes notes{.rows = sources,
                    .ess = effective_rows(joint, view.weight),
                    .auroc = domain_auroc(view.x, sources, {.who = joint_name, .group = view.group}, context)};
  warn_of_weights({.rows = sources, .ess_raw = notes.ess, .ess = notes.ess, .auroc = notes.auroc},
                  {.who = joint_name, .cols = view.x.cols(), .targets = view.x.rows() - sources, .asked = {}}, context);
  Status status;
  if (!joint.converged) {
    status = {false,
              fmt::format("not converged after {} iterations, gradient {:.1e}", joint.iterations, joint.gradient)};
  }
  return {std::make_shared<JointModel>(std::move(joint), notes), view, std::move(status)};
}

Prediction JointModel::predict(const Batch& batch, const Context& context) const {
  return linear_.predict(batch, context);
}

StageState JointModel::save() const {
  StageState state;
  state.set("weights", fit_.weights);
  state.set("domain_weights", fit_.domain_weights);
  state.info["offset"] = fit_.offset;
  state.info["domain_offset"] = fit_.domain_offset;
  state.info["risk"] = fit_.risk;
  state.info["gradient"] = fit_.gradient;
  state.info["iterations"] = fit_.iterations;
  state.info["rows"] = notes_.rows;
  state.info["ess"] = notes_.ess;
  state.info["auroc"] = notes_.auroc ? Json(*notes_.auroc) : Json(nullptr);
  return state;
}

std::shared_ptr<const Fitted> JointModel::load(const StageState& state, const JointOptions&, const StageInput& input) {
  require_binary_model(input);
  JointFit fit;
  fit.weights = state.vector("weights", input.cols);
  fit.domain_weights = state.vector("domain_weights", input.cols);
  fit.offset = state.number("offset");
  fit.domain_offset = state.number("domain_offset");
  fit.risk = state.number("risk");
  fit.gradient = state.number("gradient");
  fit.iterations = static_cast<int>(std::min<Index>(state.count("iterations"), 1'000'000'000));
  const Notes notes{.rows = state.count("rows"), .ess = state.number("ess"), .auroc = saved_auroc(state)};
  return std::make_shared<JointModel>(std::move(fit), notes);
}

Method adapt_joint_method() {
  return make_method<JointOptions, JointModel::fit, JointModel::load>(
      {.name = "adapt.joint",
       .family = Family::adapt,
       .summary = "Logistic regression learned jointly with its importance weights.",
       .when = "to compare with weight.logistic; expect no gain over it.",
       .example = "impute | scale | adapt.joint",
       .citation = "bickel2007",
       .routes = {{Route::streamed}},
       .learns = Learns::two_classes,
       .plain = PlainForm{.method = "logistic"},
       .penalties = {{"l2"}}});
}

}  // namespace ecotone
