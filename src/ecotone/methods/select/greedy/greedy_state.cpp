#include <cmath>
#include <limits>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/base/json_number.h"
#include "ecotone/methods/select/greedy/greedy.h"
#include "ecotone/methods/select/selection_state.h"

/// The part of a path that a model file holds: the steps that were kept.
namespace ecotone {
namespace {

double number_of(const Json& item, const std::string& name) {
  if (item.is_null()) return std::nan("");
  if (item.is_number()) return item.get<double>();
  if (item == "inf") return std::numeric_limits<double>::infinity();
  if (item == "-inf") return -std::numeric_limits<double>::infinity();
  file_error("bad_model", "'{}' must hold numbers", name);
}

std::vector<double> loaded_list(const StageState& state, const std::string& name, Index size) {
  const auto found = state.info.find(name);
  if (found == state.info.end() || !found->is_array() || static_cast<Index>(found->size()) != size)
    file_error("bad_model", "'{}' must be a list of {} numbers", name, size);
  std::vector<double> list;
  for (const Json& item : *found) list.push_back(number_of(item, name));
  return list;
}

}  // namespace

StageState Greedy::save() const {
  StageState state;
  state.set("indices", as_vector(path_.indices));
  state.set("mu", as_vector(path_.mu));
  state.set("sigma", as_vector(path_.sigma));
  state.set("gain", as_vector(path_.gain));
  state.set("loss", as_vector(path_.loss));
  state.set("support", as_vector(support()));
  state.set("weights", weights());
  state.info["T"] = json_or_words(path_.t);
  state.info["pvalue"] = json_or_words(path_.pvalue);
  state.info["offset"] = offset();
  state.info["route"] = route_;
  state.info["stopped_early"] = path_.stopped_early;
  save_first(state);
  return state;
}

std::shared_ptr<const Fitted> Greedy::load(const StageState& state, const GreedyOptions&, const StageInput& input) {
  auto fitted = std::make_shared<Greedy>();
  PathResult& path = fitted->path_;
  path.indices = loaded_columns(state, "indices", input.cols);
  const Index steps = path.steps();
  path.mu = loaded_array(state, "mu", steps);
  path.sigma = loaded_array(state, "sigma", steps);
  path.gain = loaded_array(state, "gain", steps);
  path.loss = loaded_array(state, "loss", steps);
  path.t = loaded_list(state, "T", steps);
  path.pvalue = loaded_list(state, "pvalue", steps);
  path.support = loaded_columns(state, "support", input.cols);
  const std::set<Index> different(path.support.begin(), path.support.end());
  if (different.size() != path.support.size() || different != std::set<Index>(path.indices.begin(), path.indices.end()))
    file_error("bad_model", "array 'support' must hold every column of 'indices' once");
  fitted->load_columns(state, input, path.support);
  fitted->route_ = state.text("route");
  path.stopped_early = state.flag("stopped_early");
  return fitted;
}

}  // namespace ecotone
