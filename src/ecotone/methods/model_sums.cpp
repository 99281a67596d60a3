#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/categories.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/sums/sums_route.h"

namespace ecotone {
namespace {

Pipeline joined(const Pipeline& first, const Pipeline& second) {
  if (first.predicts())
    option_error("behind_predicts", "--behind: the model \"{}\" predicts, so nothing can be learned behind it",
                 first.text());
  std::vector<Stage> stages = first.stages();
  stages.insert(stages.end(), second.stages().begin(), second.stages().end());
  return Pipeline(std::move(stages));
}

/// Whoever made the sums, they must be of the columns that the first stage will see.
void check_columns(const Pipeline& pipeline, const RowSums& sums, Index cols) {
  const bool drawn = pipeline.stages().front().method->sums.drawn != nullptr;
  if (sums.row_cols != cols || (!drawn && sums.cols() != cols))
    data_error("different_sums", "sums: they are of rows of {} columns, but the first stage will see {}", sums.row_cols,
               cols);
}

/// Products of larger sums would leave the range of numbers.
void require_moderate(const RowSums& sums) {
  constexpr double largest = 1e150;
  const auto check = [](double value) {
    if (!(std::abs(value) <= largest))
      data_error("non_finite", "sums: a sum of {:g} is too large to learn from; divide columns or labels by a number",
                 value);
  };
  for (const Moments* moments : {&sums.moments, &sums.targets}) {
    for (const Matrix* part : {&moments->x1, &moments->xy, &moments->xx})
      for (Index i = 0; i < part->size(); ++i) check(part->data()[i]);
    for (const double value : moments->yy) check(value);
    for (const SymmetricTiles<double>& gram : moments->gram)
      for (const double value : gram.values()) check(value);
  }
  for (const Moments& own : sums.of_class)
    for (Index i = 0; i < own.x1.size(); ++i) check(own.x1.data()[i]);
}

bool has_non_finite_number(const Json& value) {
  if (value.is_number_float()) return !std::isfinite(value.get<double>());
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_non_finite_number);
}

/// Sums that no rows have may end in what is no number; a model must not.
void require_numbers(const std::string& who, const Fitted& fitted) {
  const StageState state = fitted.save();
  bool finite = !has_non_finite_number(state.info);
  for (const auto& [name, array] : state.arrays())
    finite = finite && std::ranges::all_of(array.values, [](double value) { return std::isfinite(value); });
  if (!finite) data_error("non_finite", "{}: these sums cannot be of rows: they lead to what is no number", who);
}

}  // namespace

Model Model::from_sums(const Pipeline& pipeline, const RowSums& sums, const Schema& schema, const Model* behind,
                       const Context& context) {
  require_sums(pipeline);
  Model model = behind != nullptr ? *behind : Model(pipeline, schema);
  if (behind != nullptr) model.pipeline_ = joined(behind->pipeline_, pipeline);
  model.task_ = sums.task;
  model.classes_ = sums.classes;
  model.features_ = model.schema_.feature_names();
  model.domains_ = sums.moments.groups;
  model.domains_.insert(model.domains_.end(), sums.targets.groups.begin(), sums.targets.groups.end());
  model.seed_ = context.seed();
  model.version_.clear();
  model.notes_ = Json::object();
  Index cols = first_stage_cols(model.pipeline_, model.schema_);
  for (const auto& stage : model.fitted_) cols = stage->output_cols(cols);
  check_columns(pipeline, sums, cols);
  require_moderate(sums);
  RowSums current = sums;
  for (const Stage& stage : pipeline.stages()) {
    context.check_cancelled();
    if (current.cols() == 0)
      data_error("nothing_selected", "{}: the stages before it left no feature to learn from", stage.method->name);
    SumsResult result = stage.method->sums.fit(current, stage.options, context);
    require_numbers(stage.method->name, *result.fitted);
    model.fitted_.push_back(std::move(result.fitted));
    model.statuses_.push_back(std::move(result.status));
    current = std::move(result.next);
  }
  return model;
}

}  // namespace ecotone
