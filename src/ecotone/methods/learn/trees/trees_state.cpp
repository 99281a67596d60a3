#include <algorithm>
#include <stdexcept>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/trees/tree_arrays.h"
#include "ecotone/methods/learn/trees/trees.h"

namespace ecotone {

namespace {

/// The loss of that name, which must suit the task and the classes.
TreeLoss loss_named(const std::string& name, const StageInput& input) {
  const auto found = std::ranges::find(tree_loss_names, name);
  if (found == tree_loss_names.end()) file_error("bad_model", "'loss' is '{}'", name);
  const auto loss = static_cast<TreeLoss>(found - tree_loss_names.begin());
  const bool binary = loss == TreeLoss::logistic || loss == TreeLoss::probit;
  const bool classes = binary || loss == TreeLoss::softmax;
  const bool enough = input.classes.size() >= (binary ? 2 : 3);
  if (classes != (input.task == Task::classify) || (classes && (!enough || binary != (input.classes.size() == 2))))
    file_error("bad_model", "loss '{}' does not suit the task", name);
  return loss;
}

/// The curves of all numbers of leaves that were tried, one a row.
Matrix stacked_curves(const TreesChoice& choice) {
  Matrix curves(std::ssize(choice.curves), choice.curves.empty() ? 0 : choice.curves.front().size());
  for (std::size_t s = 0; s < choice.curves.size(); ++s)
    curves.row(static_cast<Index>(s)) = choice.curves[s].transpose();
  return curves;
}

constexpr int most_tried = 1 << 16;  // leaves of a tree, or folds

/// An integer of a list of choices.
int choice_number(const Json& value) {
  if (!value.is_number_integer()) throw std::out_of_range("not an integer");
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= most_tried)) throw std::out_of_range("too large");
  return static_cast<int>(number);
}

/// What was chosen and how; only for reading.
TreesChoice read_choice(const StageState& state) {
  TreesChoice choice;
  const auto stop = state.info.find("stop");
  try {
    choice.left_out = stop.value().at("left_out").get<std::string>();
    choice.folds = choice_number(stop.value().at("folds"));
    for (const Json& leaves : stop.value().at("tried")) choice.tried.push_back(choice_number(leaves));
  } catch (const std::exception&) {
    file_error("bad_model", "'stop' must say left_out, folds and tried");
  }
  choice.leaves = static_cast<int>(state.count("leaves"));
  choice.rounds = state.count("rounds");
  const Matrix curves = state.matrix("stop_loss", -1, -1);
  if ((curves.rows() > 0 && curves.cols() == 0) || curves.rows() > std::ssize(choice.tried))
    file_error("bad_model", "array 'stop_loss' must have a curve for each number of leaves that was tried");
  for (const auto& curve : curves.rowwise()) choice.curves.emplace_back(curve.transpose());
  return choice;
}

}  // namespace

StageState Trees::save() const {
  StageState state;
  state.info["loss"] = tree_loss_name(loss_);
  state.info["rate"] = rate_;
  state.info["monotone"] = monotone_;
  state.info["rounds"] = model_.rounds();
  state.info["leaves"] = choice_.leaves;
  state.info["stop"] = {{"left_out", choice_.left_out}, {"folds", choice_.folds}, {"tried", choice_.tried}};
  state.set("stop_loss", stacked_curves(choice_));
  state.info["domains"] = domains_;
  state.set("start", model_.start);
  state.set("importance", importance_);
  state.set("importance_domain", domain_importance_);
  write_trees(model_.trees, columns_, state);
  return state;
}

std::shared_ptr<const Fitted> Trees::load(const StageState& state, const TreesOptions&, const StageInput& input) {
  auto fitted = std::make_shared<Trees>();
  fitted->loss_ = loss_named(state.text("loss"), input);
  fitted->rate_ = state.number("rate");
  if (!(fitted->rate_ > 0)) file_error("bad_model", "'rate' must be above 0, is {}", fitted->rate_);
  fitted->monotone_ = state.flag("monotone");
  const bool softmax = fitted->loss_ == TreeLoss::softmax;
  fitted->model_.outputs = softmax ? std::ssize(input.classes) : 1;
  fitted->model_.start = state.vector("start", fitted->model_.outputs);
  TreeArrays arrays = read_trees(state, input.cols);
  if (std::ssize(arrays.trees) != state.count("rounds") * fitted->model_.outputs)
    file_error("bad_model", "there are {} trees for {} rounds", arrays.trees.size(), state.count("rounds"));
  fitted->model_.trees = std::move(arrays.trees);
  fitted->columns_ = std::move(arrays.columns);
  if (!state.info.contains("stop") || !state.info["stop"].is_object()) file_error("bad_model", "'stop' is missing");
  fitted->choice_ = read_choice(state);
  const auto domains = state.info.find("domains");
  if (domains == state.info.end() || !domains->is_array()) file_error("bad_model", "'domains' must be a list");
  for (const Json& name : *domains) {
    if (!name.is_string()) file_error("bad_model", "'domains' must hold names");
    fitted->domains_.push_back(name.get<std::string>());
  }
  fitted->importance_ = state.vector("importance", input.cols);
  fitted->domain_importance_ = state.matrix("importance_domain", std::ssize(fitted->domains_), input.cols);
  return fitted;
}

}  // namespace ecotone
