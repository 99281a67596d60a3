#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/choose/guard.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

void run_moments(const std::string& path, Session& session) {
  const Moments moments = load_moments(path);
  if (session.json()) return session.print(to_json(moments));
  session.say(moments_text(moments));
}

void run_inspect(const std::string& path, Session& session) {
  require_files({path});
  if (holds_moments(path)) return run_moments(path, session);
  const Model model = Model::load(path);
  const std::optional<GuardNote> guard = guard_note(model, path);
  if (session.json()) return session.print(model.inspect());
  session.say(model_text(model, guard, session.context()));
}

}  // namespace

Verb inspect_verb(CLI::App& program) {
  const auto path = std::make_shared<std::string>();
  Verb verb = make_verb(
      program, {"inspect", "Show what is in a model (pipeline, options, learned numbers) or in a file of moments",
                "inspect FILE",
                "  ecotone inspect model.eco\n"
                "  ecotone inspect model.eco --json\n"
                "  ecotone inspect moments.eco\n"});
  verb.app->add_option("FILE", *path, "A model of `ecotone fit`, or moments of `ecotone moments`")->required();
  verb.run = [path](Session& session) { run_inspect(*path, session); };
  return verb;
}

}  // namespace ecotone::cli
