#include "ecotone/evaluate/represented.h"

#include "ecotone/base/error.h"
#include "ecotone/methods/model.h"

namespace ecotone {

void require_representation(const Pipeline& pipeline) {
  for (std::size_t i = 0; i < pipeline.stages().size(); ++i)
    if (pipeline.predicts_at(i))
      option_error("unexpected_learner",
                   "diagnose: the pipeline ends in the learner '{}', which has no features; leave it out",
                   pipeline.stages()[i].method->name);
}

Dataset represented(const Dataset& data, const Pipeline& pipeline, const std::vector<std::string>& targets,
                    const Context& context) {
  require_representation(pipeline);
  Dataset roles = data;
  set_targets(roles, targets);
  const Model model = Model::fit(pipeline, train_view(roles, context), data.schema, context);
  Dataset result = data;
  result.x = model.transform({data.x, data.domain, data.origin}, context);
  result.schema.columns.clear();
  for (const std::string& name : result.x.names()) result.schema.columns.push_back({name, ColumnKind::numeric, {}});
  return result;
}

}  // namespace ecotone
