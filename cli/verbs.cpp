#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ecotone/version.h"

namespace ecotone::cli {

#define GROUP(heading)
#define VERB(name) Verb name##_verb();
#include "cli/verbs.def"
#undef VERB
#undef GROUP

std::vector<Verb> all_verbs() {
  std::vector<Verb> all;
  const char* group = "";
#define GROUP(heading) group = heading;
#define VERB(name)              \
  all.push_back(name##_verb()); \
  all.back().group = group;
#include "cli/verbs.def"
#undef VERB
#undef GROUP
  return all;
}

bool wants_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* argument) { return std::string_view(argument) == "--json"; });
}

Json version_json() {
  return {{"version", version},
          {"commit", build_commit},
          {"build_type", build_type},
          {"compiler", build_compiler},
          {"sanitizers", build_sanitizers}};
}

std::string version_text() {
  const std::string sanitizers = *build_sanitizers ? fmt::format(", sanitize {}", build_sanitizers) : "";
  return fmt::format("ecotone {} (commit {}, {}, {}{})", version, build_commit, build_type, build_compiler, sanitizers);
}

}  // namespace ecotone::cli
