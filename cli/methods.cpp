#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct MethodsFlags {
  std::string name;
  bool markdown = false;
};

void run_methods(const MethodsFlags& flags, Session& session) {
  if (flags.markdown && session.json()) option_error("usage", "methods: --markdown or --json, not both");
  if (flags.markdown) return session.say(methods_markdown());
  if (!flags.name.empty()) {
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
  flags.flag("--markdown", inputs.markdown, "Print the reference page docs/methods.md");
}

}  // namespace

Verb methods_verb() {
  return make_verb({"methods", "Show the stages that pipelines are made of, with their options", "methods [NAME]",
                    "  ecotone methods\n"
                    "  ecotone methods logistic\n"
                    "  ecotone methods --json\n"},
                   declare_methods, run_methods);
}

}  // namespace ecotone::cli
