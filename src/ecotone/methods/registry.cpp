#include "ecotone/methods/registry.h"

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
    if (each.combines_classes()) each = with_multiclass(std::move(each));
  }
  return all;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = all_methods();
  return all;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& each : methods()) names.push_back(each.name);
  return names;
}

const Method& method(std::string_view name) {
  for (const Method& candidate : methods())
    if (candidate.name == name) return candidate;
  const std::vector<std::string> names = method_names();
  const std::string near = did_you_mean(name, names);
  if (near.empty())
    option_error("unknown_method", "unknown method '{}'; choose one of {}", name, fmt::join(names, ", "));
  option_error("unknown_method", "unknown method '{}'; did you mean '{}'?", name, near);
}

}  // namespace ecotone
