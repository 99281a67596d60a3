#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/choose/guard.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

struct InspectFlags {
  std::string path;
};

void inspect_moments(const std::string& path, Session& session) {
  const Moments moments = load_moments(path);
  if (session.json()) return session.print(to_json(moments));
  session.say(moments_text(moments));
}

void run_inspect(const InspectFlags& flags, Session& session) {
  const std::string& path = flags.path;
  require_files({path});
  if (holds_moments(path)) return inspect_moments(path, session);
  const Model model = Model::load(path);
  const std::optional<GuardNote> guard = guard_note(model, path);
  if (session.json()) return session.print(model.inspect());
  session.say(model_text(model, guard, session.context()));
}

void declare_inspect(Flags& flags, InspectFlags& inputs) {
  flags.argument("FILE", inputs.path, "A model from `ecotone fit`, or moments from `ecotone moments`", Need::required);
}

}  // namespace

Verb inspect_verb() {
  return make_verb(
      {"inspect", "Show the contents of a model (pipeline, options, fitted values) or of a file of moments",
       "inspect FILE",
       "  ecotone inspect model.eco\n"
       "  ecotone inspect model.eco --json\n"
       "  ecotone inspect moments.eco\n"},
      declare_inspect, run_inspect);
}

}  // namespace ecotone::cli
