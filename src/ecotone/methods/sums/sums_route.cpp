#include "ecotone/methods/sums/sums_route.h"

#include <fmt/ranges.h>

#include "ecotone/base/error.h"
#include "ecotone/methods/registry.h"

namespace ecotone {

std::vector<std::string> sums_method_names() {
  std::vector<std::string> names;
  for (const Method& each : methods())
    if (each.from_sums()) names.push_back(each.name);
  return names;
}

void require_sums(const Pipeline& pipeline) {
  for (std::size_t i = 0; i < pipeline.stages().size(); ++i) {
    const Stage& stage = pipeline.stages()[i];
    const Method& method = *stage.method;
    if (!method.from_sums())
      option_error("needs_rows", "{}: it cannot be learned from sums over rows, only {} can; {}", method.name,
                   fmt::join(sums_method_names(), ", "),
                   method.predicts() ? "use fit where the rows are"
                                     : "fit it where some rows are and give the model with --behind");
    if (method.has_class_options() && stage.options.at("class_weight") != "none")
      option_error("needs_rows", "{}: sums count every row alike, so class_weight must be none", method.name);
    if (method.sums.check != nullptr) method.sums.check(stage.options);
    if (method.sums.drawn != nullptr && i > 0)
      option_error("needs_rows",
                   "{}: its features are drawn for the rows as they come, so it must stand first; finish \"{}\" alone "
                   "and give that model with --behind",
                   method.name, pipeline.first(i).text());
  }
}

}  // namespace ecotone
