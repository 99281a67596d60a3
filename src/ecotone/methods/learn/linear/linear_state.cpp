#include <algorithm>
#include <optional>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/linear/linear.h"

namespace ecotone {
namespace {

std::vector<DomainRisk> loaded_domains(const StageState& state) {
  std::vector<DomainRisk> domains;
  const auto found = state.info.find("domain_losses");
  if (found == state.info.end()) return domains;
  if (!found->is_array()) file_error("bad_model", "'domain_losses' must be a list");
  for (const Json& item : *found) {
    if (!item.is_object()) file_error("bad_model", "'domain_losses' must be a list of objects");
    StageState one;
    one.info = item;
    domains.push_back({one.text("domain"), one.number("loss"),
                       item.contains("share") ? std::optional(one.number("share")) : std::nullopt});
  }
  return domains;
}

}  // namespace

StageState Linear::save() const {
  StageState state;
  if (fit_.weights.rows() == 1) {
    state.set("weights", Vector(fit_.weights.row(0).transpose()));
    state.info["offset"] = fit_.offset[0];
  } else {
    state.set("weights", fit_.weights);
    state.set("offset", fit_.offset);
  }
  state.info["risk"] = fit_.risk;
  state.info["kkt"] = fit_.kkt;
  state.info["iterations"] = fit_.iterations;
  if (!notes_.solver.empty()) state.info["solver"] = notes_.solver;
  if (fit_.step > 0) state.info["step_size"] = fit_.step;
  if (notes_.path) {
    const PenaltyPath& path = *notes_.path;
    state.set("path_l1", path.l1);
    state.set("path_l2", path.l2);
    state.set("path_loss", path.loss);
    state.set("path_error", path.error);
    state.info["path_chosen"] = path.chosen;
    state.info["path_folds"] = path.folds;
    state.info["chosen_l1"] = path.l1[path.chosen];
    state.info["chosen_l2"] = path.l2[path.chosen];
  }
  if (notes_.fixed_l2 > 0) state.info["fixed_l2"] = notes_.fixed_l2;
  for (const DomainRisk& each : notes_.domains) {
    Json item = {{"domain", each.domain}, {"loss", each.loss}};
    if (each.share) item["share"] = *each.share;
    state.info["domain_losses"].push_back(std::move(item));
  }
  if (notes_.lower) state.info["lower"] = *notes_.lower;
  return state;
}

std::shared_ptr<const Fitted> Linear::load(LinearFamily family, const StageState& state, const StageInput& input) {
  const auto classes = static_cast<Index>(input.classes.size());
  const char* name = family_text(family);
  if (learns_classes(family) &&
      (input.task != Task::classify || classes < 2 || (family == LinearFamily::probit && classes > 2)))
    file_error("bad_model", "{} cannot have {} classes", name, classes);
  LinearFit fit;
  if (family == LinearFamily::softmax || classes > 2) {
    fit.weights = state.matrix("weights", classes, input.cols);
    fit.offset = state.vector("offset", classes);
  } else {
    fit.weights = state.vector("weights", input.cols).transpose();
    fit.offset = Vector::Constant(1, state.number("offset"));
  }
  fit.risk = state.number("risk");
  fit.kkt = state.number("kkt");
  fit.iterations = static_cast<int>(std::min<Index>(state.count("iterations"), 1'000'000'000));
  if (state.info.contains("step_size")) fit.step = state.number("step_size");
  // Models of earlier versions do not record it.
  Notes notes{state.info.contains("solver") ? state.text("solver") : "", std::nullopt,
              state.info.contains("fixed_l2") ? state.number("fixed_l2") : 0, loaded_domains(state),
              state.info.contains("lower") ? std::optional(state.number("lower")) : std::nullopt};
  if (state.has("path_loss")) {
    PenaltyPath path;
    path.l1 = state.vector("path_l1", -1);
    path.l2 = state.vector("path_l2", path.l1.size());
    path.loss = state.vector("path_loss", path.l1.size());
    path.error = state.vector("path_error", path.l1.size());
    path.chosen = state.count("path_chosen");
    path.folds = state.count("path_folds");
    if (path.chosen >= path.l1.size())
      file_error("bad_model", "{}: penalty {} of {}", name, path.chosen, path.l1.size());
    notes.path = std::move(path);
  }
  return std::make_shared<Linear>(family, std::move(fit), std::move(notes));
}

}  // namespace ecotone
