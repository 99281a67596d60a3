#include "ecotone/choose/selection.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/refits.h"
#include "ecotone/methods/registry.h"
#include "ecotone/methods/select/selection_data.h"

namespace ecotone {
namespace {

const Stage& selector_of(const Pipeline& pipeline) {
  require_selector(pipeline);
  return pipeline.stages().back();
}

}  // namespace

std::vector<std::string> selector_names() {
  std::vector<std::string> names;
  for (const Method& each : methods())
    if (each.select) names.push_back(each.name);
  return names;
}

void require_selector(const Pipeline& pipeline) {
  const Method& last = *pipeline.stages().back().method;
  if (!last.select)
    option_error("not_a_selector", "select: the last stage must be {}, got '{}'", or_list(selector_names()), last.name);
}

FeatureSelection select_features(const Pipeline& pipeline, const Dataset& data, const SelectOptions& options,
                                 const Context& context) {
  const Stage& stage = selector_of(pipeline);
  const std::string& who = stage.method->name;
  if (!data.domain.partner.empty() && options.held_out)
    context.warn("pairs_held_out",
                 "{}: pairs with the held-out class stay in the training data, so the held-out columns are optimistic; "
                 "`ecotone evaluate` drops those pairs",
                 who);
  TrainView first = labelled_view(data, who, context);
  const bool has_stages_before = pipeline.stages().size() > 1;
  const TrainView view =
      Model::view_of_last(pipeline, has_stages_before ? first : std::move(first), data.schema, context);
  std::optional<Refits> refits;
  FitCache cache;
  if (has_stages_before)
    refits =
        refits_of(std::make_shared<const Upstream>(Upstream{pipeline.before_last(), first, data.schema, view.weight}),
                  context, cache);
  FeatureSelection result = stage.method->select(
      {.who = who, .view = &view, .refits = refits ? &*refits : nullptr, .held_out = options.held_out}, stage.options,
      context);
  if (!result.held_out_auroc.empty()) warn_below_chance("select", "the path", result.held_out_auroc.back(), context);
  result.pipeline = pipeline.text();
  for (std::size_t k = 0; k < result.of_class.size(); ++k) {
    FeatureSelection& each = result.of_class[k];
    each.pipeline = result.pipeline;
    if (!each.held_out_auroc.empty())
      warn_below_chance("select", fmt::format("the path of class '{}'", result.classes[k]), each.held_out_auroc.back(),
                        context);
  }
  return result;
}

FeatureSelection select_features(const Pipeline& pipeline, const Moments& moments, const std::string& origin,
                                 const SelectOptions& options, const Context& context) {
  const Stage& stage = selector_of(pipeline);
  if (pipeline.stages().size() > 1)
    option_error("needs_rows", "select: {} holds moments but no rows, so the stages before the last cannot run",
                 origin);
  FeatureSelection result = stage.method->select(
      {.who = stage.method->name, .moments = &moments, .held_out = options.held_out}, stage.options, context);
  result.pipeline = pipeline.text();
  return result;
}

TrainView labelled_view(const Dataset& data, std::string_view who, const Context& context) {
  if (!data.y) data_error("no_labels", "{}: there are no labels to learn from; name their column with --label", who);
  std::vector<bool> has(data.domain.names.size(), false);
  for (std::size_t i = 0; i < data.domain.index.size(); ++i)
    if (!data.y->missing(static_cast<Index>(i))) has[static_cast<std::size_t>(data.domain.index[i])] = true;
  std::vector<std::string> without;
  for (std::size_t d = 0; d < has.size(); ++d)
    if (data.role[d] == Role::source && !has[d]) without.push_back(data.domain.names[d]);
  if (std::find(has.begin(), has.end(), true) == has.end())
    data_error("no_labels", "{}: none of the {} rows has a label", who, data.rows());
  TrainView view = train_view(data, context);
  if (!without.empty())
    context.warn("domain_without_labels", "{}: no row of {} '{}' has a label, so those rows are left out", who,
                 without.size() == 1 ? "domain" : "the domains", fmt::join(without, "', '"));
  return view;
}

Moments gather_moments(const Dataset& data, const MomentsOptions& options, const Context& context) {
  const TrainView view = labelled_view(data, "moments", context);
  return SelectionData("moments", view).moments(options.gram, context);
}

}  // namespace ecotone
