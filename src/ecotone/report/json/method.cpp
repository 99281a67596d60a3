#include <cmath>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/query/strategy.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/citations.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

Json to_json(const std::vector<OptionInfo>& options) {
  const auto limit = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json list = Json::array();
  for (const OptionInfo& option : options) {
    const Limits& limits = option.limits;
    Json choices = Json::array();
    for (int i = 0; i < limits.n_choices; ++i) choices.push_back(limits.choices[static_cast<std::size_t>(i)]);
    list.push_back({{"name", option.name},
                    {"type", type_name(option.type)},
                    {"default", option.default_value},
                    {"help", option.help},
                    {"low", limit(limits.low)},
                    {"high", limit(limits.high)},
                    {"open_low", limits.open_low},
                    {"open_high", limits.open_high},
                    {"choices", std::move(choices)},
                    {"common", option.common}});
  }
  return list;
}

Json to_json(const MetricInfo& metric) {
  constexpr const char* best[] = {"highest", "lowest", "one", "zero"};
  return {{"name", metric.name},
          {"title", metric.title},
          {"task", task_name(metric.task)},
          {"best", best[static_cast<std::size_t>(metric.best)]},
          {"help", metric.help},
          {"formula", metric.formula},
          {"two_classes", metric.two_classes},
          {"at_threshold", metric.at_threshold}};
}

Json to_json(const StrategyInfo& strategy) {
  return {{"name", strategy.name}, {"summary", strategy.summary}, {"citation", strategy.citation}};
}

namespace {

/// The options that each route needs, by its name.
Json routes_json(const Method& method) {
  Json routes = Json::object();
  for (const MethodRoute& one : method.all_routes()) routes[std::string(route_name(one.route))] = one.options;
  return routes;
}

}  // namespace

Json to_json(const Method& method) {
  return {{"name", method.name},
          {"family", family_name(method.family)},
          {"summary", method.summary},
          {"when", "Use it " + method.when},
          {"example", method.example},
          {"citation", method.citation},
          {"reference", full_citation(method.citation)},
          {"needs_labels", method.needs_labels()},
          {"follows_learner", method.follows_learner()},
          {"learner_when_last", method.predicts_when_last()},
          {"routes", routes_json(method)},
          {"options", to_json(method.options)}};
}

}  // namespace ecotone
