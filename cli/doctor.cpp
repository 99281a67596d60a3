#include <fmt/format.h>

#include "cli/verbs.h"
#include "ecotone/base/file.h"
#include "ecotone/base/thread_pool.h"
#include "ecotone/data/generate.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/methods/registry.h"
#include "ecotone/version.h"

namespace ecotone::cli {
namespace {

std::string gigabytes(std::size_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

Json features() {
  return {{"formats", {"csv", "tsv", "svmlight", "npy", "idx", "cifar", "eco"}},
          {"compression", {"gzip"}},
          {"methods", methods().size()},
          {"generators", generators().size()}};
}

void run(Session& session) {
  const int threads = available_threads();
  const std::size_t memory = available_memory();
  const std::string blas = blas_description();
  session.say(fmt::format("{}\n\n", version_text()) +
              fmt::format("build      {}, {}{}\n", build_type, build_compiler,
                          *build_sanitizers ? fmt::format(", sanitizers {}", build_sanitizers) : "") +
              fmt::format("blas       {}\n", blas) +
              fmt::format("threads    {} (this run: {})\n", threads, session.context().threads()) +
              fmt::format("memory     {} available\n", gigabytes(memory)) +
              fmt::format("formats    csv tsv svmlight npy idx cifar eco; gzip\n") +
              fmt::format("methods    {}\n", methods().size()) + fmt::format("generators {}\n", generators().size()));
  if (std::string_view(build_type) == "Debug")
    session.say("\nThis is a debug build: it is much slower than a release.\n");
  Json document = version_json();
  document.update({{"blas", blas}, {"threads", threads}, {"memory_bytes", memory}, {"features", features()}});
  session.print(std::move(document));
}

}  // namespace

Verb doctor_verb(CLI::App& program) {
  Verb verb = make_verb(program, {"doctor", "Show what this build can do on this machine", "doctor",
                                  "  ecotone doctor\n"
                                  "  ecotone doctor --json\n"});
  verb.run = run;
  return verb;
}

}  // namespace ecotone::cli
