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
  model.seed_ = context.seed();
  model.version_.clear();
  model.notes_ = Json::object();
  Index cols = first_stage_cols(model.pipeline_, model.schema_);
  for (const auto& stage : model.fitted_) cols = stage->output_cols(cols);
  check_columns(pipeline, sums, cols);
  RowSums current = sums;
  for (const Stage& stage : pipeline.stages()) {
    context.check_cancelled();
    if (current.cols() == 0)
      data_error("nothing_selected", "{}: the stages before it left no feature to learn from", stage.method->name);
    SumsResult result = stage.method->sums.fit(current, stage.options, context);
    model.fitted_.push_back(std::move(result.fitted));
    model.statuses_.push_back(std::move(result.status));
    current = std::move(result.next);
  }
  return model;
}

}  // namespace ecotone
