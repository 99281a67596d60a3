#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/sums/alike_parts.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct MergeFlags {
  std::vector<std::string> files;
  std::string output;
  const Flags* flags = nullptr;
};

void run_merge(const MergeFlags& flags, Session& session) {
  refuse_seed(*flags.flags);
  const std::vector<std::filesystem::path> files(flags.files.begin(), flags.files.end());
  if (!flags.output.ends_with(".eco")) option_error("bad_output", "merge: -o must end in .eco, got '{}'", flags.output);
  require_files(files);
  require_separate(files, {flags.output});
  require_writable(flags.output);
  const std::vector<SumsPart> parts = session.timed("merge", [&] { return load_parts(files); });
  warn_of_alike_parts(parts, session.context());
  session.timed("write", [&] { parts_tensors(parts).write(flags.output); });
  session.say(parts_text(parts) + fmt::format("wrote     {}\n", flags.output));
  Json json = to_json(parts);
  json["output"] = flags.output;
  session.print(std::move(json));
}

void declare_merge(Flags& flags, MergeFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("PART...", inputs.files, "Files of sums from `ecotone partial`, or merged ones");
  flags.output(inputs.output, "The file of sums to write (.eco)", Need::required);
}

}  // namespace

Verb merge_verb() {
  return make_verb({"merge", "Collect the sums of several sites in one file", "merge PART... -o PARTS [flags]",
                    "  ecotone merge north.eco south.eco -o all.eco\n"},
                   declare_merge, run_merge);
}

}  // namespace ecotone::cli
