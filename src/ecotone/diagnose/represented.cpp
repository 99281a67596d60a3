#include "ecotone/diagnose/represented.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/methods/model.h"

namespace ecotone {
namespace {

/// Target labels are never read, so a pipeline that needs labels needs a domain that is not a target.
void require_source(const Pipeline& pipeline, const Dataset& data) {
  if (!data.y || std::ranges::find(data.role, Role::source) != data.role.end()) return;
  for (const Stage& stage : pipeline.stages())
    if (stage.method->needs_labels())
      data_error("no_labels",
                 "diagnose: {} learns from labels, target labels are never read, and all {} domains are targets; omit "
                 "one from --target",
                 stage.method->name, data.domain.count());
}

}  // namespace

void require_representation(const Pipeline& pipeline) {
  for (std::size_t i = 0; i < pipeline.stages().size(); ++i)
    if (pipeline.predicts_at(i))
      option_error("unexpected_learner",
                   "diagnose: the pipeline ends in the learner '{}', which produces no features; drop it",
                   pipeline.stages()[i].method->name);
}

Dataset represented(const Dataset& data, const Pipeline& pipeline, const std::vector<std::string>& targets,
                    const Context& context) {
  require_representation(pipeline);
  Dataset roles = data;
  set_targets(roles, targets);
  require_source(pipeline, roles);
  const Model model = Model::fit(pipeline, train_view(roles, context), data.schema, context);
  Dataset result = data;
  result.x = model.transform({data.x, data.domain, data.origin}, context);
  if (result.x.cols() == 0)
    data_error("no_features", "diagnose: the pipeline '{}' leaves no feature to compare", pipeline.text());
  result.schema.columns.clear();
  for (const std::string& name : result.x.names()) result.schema.columns.push_back({name, ColumnKind::numeric, {}});
  return result;
}

}  // namespace ecotone
