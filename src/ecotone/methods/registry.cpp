#include "ecotone/methods/registry.h"

#include <cmath>
#include <string>
#include <utility>

#include "ecotone/methods/multiclass/multiclass.h"

namespace ecotone {

#define METHOD(id) Method id##_method();
#include "ecotone/methods/methods.def"
#undef METHOD

namespace {

/// Those that learn two classes get the rest from the combinator.
std::vector<Method> all_methods() {
  std::vector<Method> all = {
#define METHOD(id) id##_method(),
#include "ecotone/methods/methods.def"
#undef METHOD
  };
  for (Method& each : all) {
    if (each.binary) each = with_multiclass(std::move(each));
  }
  return all;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = all_methods();
  return all;
}

const Method& method(std::string_view name) {
  std::vector<std::string> names;
  for (const Method& candidate : methods()) {
    if (candidate.name == name) return candidate;
    names.push_back(candidate.name);
  }
  const std::string near = did_you_mean(name, names);
  if (near.empty()) option_error("unknown_method", "unknown method '{}'; there are {}", name, fmt::join(names, ", "));
  option_error("unknown_method", "unknown method '{}'; did you mean '{}'?", name, near);
}

namespace {

Json limit_json(double limit) { return std::isfinite(limit) ? Json(limit) : Json(nullptr); }

Json option_json(const OptionInfo& option) {
  Json choices = Json::array();
  for (int i = 0; i < option.limits.n_choices; ++i)
    choices.push_back(option.limits.choices[static_cast<std::size_t>(i)]);
  return {{"name", option.name},
          {"type", type_name(option.type)},
          {"default", option.default_value},
          {"help", option.help},
          {"low", limit_json(option.limits.low)},
          {"high", limit_json(option.limits.high)},
          {"open_low", option.limits.open_low},
          {"open_high", option.limits.open_high},
          {"choices", std::move(choices)}};
}

}  // namespace

Json method_json(const Method& method) {
  Json options = Json::array();
  for (const OptionInfo& option : method.options) options.push_back(option_json(option));
  return {{"name", method.name},
          {"family", family_name(method.family)},
          {"summary", method.summary},
          {"citation", method.citation},
          {"needs_labels", method.needs_labels},
          {"reads_scores", method.reads_scores()},
          {"learner_when_last", method.learner_when_last},
          {"options", std::move(options)}};
}

}  // namespace ecotone
