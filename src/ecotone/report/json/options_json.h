#pragma once

#include <tuple>

#include "ecotone/base/json.h"
#include "ecotone/base/options.h"

namespace ecotone {

/// The values of the options that a struct declares, by name.
template <class Options>
Json options_json(const Options& options) {
  Json json = Json::object();
  std::apply([&](const auto&... f) { ((json[f.name] = detail::option_json(options.*f.member, f.limits)), ...); },
             Options::fields());
  return json;
}

}  // namespace ecotone
