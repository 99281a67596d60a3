#include <fmt/format.h>

#include "cli/verbs.h"
#include "ecotone/linalg/computer.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

void run_doctor(Session& session) {
  const Computer computer = examine_computer(session.context());
  session.say(fmt::format("{}\n\n{}", version_text(), computer_text(computer)));
  Json document = version_json();
  document.update(to_json(computer));
  session.print(std::move(document));
}

}  // namespace

Verb doctor_verb() {
  return {"doctor",
          "Show what this build can do on this computer",
          "doctor",
          "  ecotone doctor\n"
          "  ecotone doctor --json\n",
          [](Flags&) {},
          run_doctor};
}

}  // namespace ecotone::cli
