#include "ecotone/methods/select/selected_columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/weighted_sum.h"

namespace ecotone {

std::vector<Index> in_turns(const std::vector<std::vector<Index>>& lists) {
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  std::vector<Index> result;
  std::set<Index> seen;
  for (std::size_t turn = 0; turn < longest; ++turn)
    for (const auto& list : lists)
      if (turn < list.size() && seen.insert(list[turn]).second) result.push_back(list[turn]);
  return result;
}

Features taken_columns(const Features& x, const std::vector<Index>& columns, const Context& context) {
  std::vector<std::string> names;
  for (const Index j : columns) names.push_back(x.name(j));
  return x.columns(columns, std::move(names), context);
}

void SelectedColumns::take(Task task, const PathResult& path, std::optional<Index> first) {
  task_ = task;
  support_ = path.support;
  weights_ = path.weights_after(path.steps());
  offset_ = path.offset_after(path.steps());
  first_ = first;
}

std::vector<Index> SelectedColumns::passed_on() const {
  return support_.empty() && first_ ? std::vector<Index>{*first_} : support_;
}

Features SelectedColumns::transform(const Batch& batch, const Context& context) const {
  return taken_columns(batch.x, passed_on(), context);
}

RowSums SelectedColumns::passed_on_sums(const RowSums& sums) const {
  const std::vector<Index> columns = passed_on();
  std::vector<std::string> names;
  for (const Index j : columns) names.push_back(sums.moments.features[at(j)]);
  return taken_sums(sums, columns, names);
}

Prediction SelectedColumns::predict(const Batch& batch, const Context& context) const {
  Vector w = Vector::Zero(batch.x.cols());
  w(support_) = weights_;
  return weighted_sum(batch.x, w, offset_, task_, context);
}

void SelectedColumns::save_first(StageState& state) const {
  if (first_) state.info["first"] = *first_;
}

void SelectedColumns::load_columns(const StageState& state, const StageInput& input, std::vector<Index> support) {
  require_binary_or_regression_model(input);
  task_ = input.task;
  support_ = std::move(support);
  weights_ = state.vector("weights", std::ssize(support_));
  offset_ = state.number("offset");
  if (!state.info.contains("first")) return;
  first_ = state.count("first");
  if (!support_.empty() || *first_ >= input.cols)
    file_error("bad_model", "'first' must be a column of {}, of a path without steps", input.cols);
}

}  // namespace ecotone
