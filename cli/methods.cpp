#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/query/strategy.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct MethodsFlags {
  std::string name;
  bool markdown = false;
  bool metrics = false;
  bool strategies = false;
};

void run_metrics(const MethodsFlags& flags, Session& session) {
  if (!flags.name.empty()) option_error("usage", "methods: NAME or --metrics, not both");
  if (flags.markdown) return session.say(metrics_markdown());
  Json all = Json::array();
  for (const MetricInfo& metric : metric_infos()) all.push_back(to_json(metric));
  session.say(metrics_text());
  session.print({{"metrics", all}});
}

void run_strategies(const MethodsFlags& flags, Session& session) {
  if (!flags.name.empty() || flags.metrics)
    option_error("usage", "methods: NAME, --metrics or --strategies, one of them");
  if (flags.markdown) return session.say(strategies_markdown());
  Json all = Json::array();
  for (const StrategyInfo& info : strategy_infos()) all.push_back(to_json(info));
  session.say(strategies_text());
  session.print({{"strategies", all}, {"options", to_json(describe_options<QueryOptions>())}});
}

/// The names of strategies are looked for here, too.
void point_to_strategies(const std::string& name) {
  for (const StrategyInfo& info : strategy_infos())
    if (info.name == name)
      option_error("unknown_method", "'{}' is a strategy of label, not a stage; see ecotone methods --strategies",
                   name);
}

void run_methods(const MethodsFlags& flags, Session& session) {
  if (flags.markdown && session.json()) option_error("usage", "methods: --markdown or --json, not both");
  if (flags.strategies) return run_strategies(flags, session);
  if (flags.metrics) return run_metrics(flags, session);
  if (flags.markdown) return session.say(methods_markdown());
  if (!flags.name.empty()) {
    point_to_strategies(flags.name);
    const Method& m = method(flags.name);
    session.say(method_text(m));
    return session.print(to_json(m));
  }
  Json all = Json::array();
  for (const Method& m : methods()) all.push_back(to_json(m));
  session.say(methods_text());
  session.print({{"methods", all}});
}

void declare_methods(Flags& flags, MethodsFlags& inputs) {
  flags.argument("NAME", inputs.name, "The method to show in full");
  flags.complete_arguments({method_names(), false});
  flags.flag("--metrics", inputs.metrics, "Show the metrics of evaluate instead, with their formulas");
  flags.flag("--strategies", inputs.strategies, "Show the strategies of label instead, with their options");
  flags.flag("--markdown", inputs.markdown,
             "Print the reference page docs/methods.md, or that of --metrics or --strategies");
}

}  // namespace

Verb methods_verb() {
  return make_verb(
      {"methods", "Show the stages that pipelines are made of, with their options", "methods [NAME] [flags]",
       "  ecotone methods\n"
       "  ecotone methods logistic\n"
       "  ecotone methods --metrics\n"
       "  ecotone methods --strategies\n"
       "  ecotone methods --json\n"},
      declare_methods, run_methods);
}

}  // namespace ecotone::cli
