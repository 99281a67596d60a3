#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/session.h"
#include "ecotone/base/json.h"

namespace ecotone::cli {

/// How a verb is called and what it is for.
struct VerbText {
  std::string name;
  std::string summary;   ///< one sentence
  std::string usage;     ///< what stands after `ecotone`
  std::string examples;  ///< whole commands, one a line
};

/// A verb from what it takes: `declare` binds the members of Inputs to flags, `run` finds them filled.
template <class Inputs>
Verb make_verb(VerbText text, void (*declare)(Flags&, Inputs&), void (*run)(const Inputs&, Session&)) {
  const auto inputs = std::make_shared<Inputs>();
  return {std::move(text.name),
          std::move(text.summary),
          std::move(text.usage),
          std::move(text.examples),
          [inputs, declare](Flags& flags) { declare(flags, *inputs); },
          [inputs, run](Session& session) { run(*inputs, session); }};
}

/// All verbs, in the order of verbs.def.
std::vector<Verb> all_verbs();

/// "ecotone 0.1.0 (commit 1a2b3c, Release, GNU 12.2.0)"
std::string version_text();
/// The same as JSON: version, commit, build_type, compiler, sanitizers.
Json version_json();

/// Whether --json is among the arguments, also where they are wrong.
bool wants_json(int argc, char** argv);

}  // namespace ecotone::cli
