#include "ecotone/solve/moments/moments.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/selection.h"
#include "ecotone/data/read.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/line.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

struct MomentsFlags {
  std::vector<std::string> files;
  ReadOptions read;
  MomentsOptions options;
  std::string output;
  const Flags* flags = nullptr;
};

Moments gathered(const std::vector<std::filesystem::path>& files, const MomentsFlags& flags, Session& session) {
  const Context& context = session.context();
  const Dataset data = session.timed("read", [&] { return read_dataset(files, flags.read, context); });
  return session.timed("moments", [&] { return gather_moments(data, flags.options, context); });
}

void run_moments(const MomentsFlags& flags, Session& session) {
  std::vector<std::filesystem::path> files(flags.files.begin(), flags.files.end());
  if (!flags.output.ends_with(".eco"))
    option_error("bad_output", "moments: -o must end in .eco, got '{}'", flags.output);
  require_files(files);
  require_separate(files_read(files, flags.read), {flags.output});
  require_writable(flags.output);
  const auto count = std::count_if(files.begin(), files.end(), [](const auto& file) { return holds_moments(file); });
  if (count > 0 && count < static_cast<std::ptrdiff_t>(files.size()))
    option_error("usage", "moments: {} of {} files already hold moments; merge those separately", count, files.size());
  if (count > 0) {
    refuse_data_flags(*flags.flags, "files of moments are merged as they are");
    if (flags.flags->given("--gram"))
      option_error("idle_flag", "moments: --gram applies to data files; files of moments are merged as they are");
  }
  const Moments moments =
      count > 0 ? session.timed("merge", [&] { return load_moments(files); }) : gathered(files, flags, session);
  session.timed("write", [&] { moments_tensors(moments).write(flags.output); });
  session.say(fmt::format("moments  {} in {}, {}\nwrote    {}\n",
                          counted(static_cast<Index>(moments.rows.sum()), "row"),
                          counted(moments.group_count(), "domain"), counted(moments.cols(), "feature"), flags.output));
  Json json = to_json(moments);
  json["output"] = flags.output;
  session.print(std::move(json));
}

void declare_moments(Flags& flags, MomentsFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA...", inputs.files, "Data files, or files of moments to merge");
  flags.output(inputs.output, "The file of moments to write (.eco)", Need::required);
  flags.options(inputs.options);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb moments_verb() {
  return make_verb(
      {"moments", "Compute the moments of every domain, or merge files of moments, for select without the data",
       "moments DATA... --label COLUMN --domain COLUMN -o FILE [flags]",
       "  ecotone moments north.csv --label y --domain site -o north.eco\n"
       "  ecotone moments north.eco south.eco -o all.eco\n"
       "  ecotone select all.eco \"tgreedy steps=10\"\n"},
      declare_moments, run_moments);
}

}  // namespace ecotone::cli
