#include <fmt/ranges.h>

#include "ecotone/base/error.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/registry.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {

namespace {

[[noreturn]] void refuse_contributions(const std::string& who) {
  std::vector<std::string> able;
  for (const Method& method : methods())
    if (method.has_contributions) able.push_back(method.name);
  option_error("no_contributions",
               "{}: it cannot say what each column adds to a score; as the last stage {} can (of several "
               "classes with multiclass=softmax)",
               who, fmt::join(able, " or "));
}

}  // namespace

Contributions Model::contributions(const Batch& batch, const Context& context) const {
  const Method& learner = *pipeline_.stages().back().method;
  if (!learner.has_contributions) refuse_contributions(learner.name);
  Batch current = aligned(batch, context);
  for (std::size_t i = 0; i + 1 < fitted_.size(); ++i) {
    context.check_cancelled();
    current.x = fitted_[i]->transform(current, context);
  }
  if (learner.reads_features && !learner.takes_missing)
    require_finite_features(learner.name, current.x, current.origin, context);
  Contributions result{current.x.names(), fitted_.back()->contributions(current, context)};
  if (result.values.cols() == 0) refuse_contributions(learner.name);
  return result;
}

}  // namespace ecotone
