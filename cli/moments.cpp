#include "ecotone/solve/moments/moments.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/selection.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/select/selection_data.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/line.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

struct MomentsFlags {
  std::vector<std::string> arguments;
  DataFlags read;
  std::string gram = "double";
  std::string output;
};

GramKind gram_by_name(const std::string& name) {
  if (name == "none") return GramKind::none;
  if (name == "double") return GramKind::double_precision;
  if (name == "single") return GramKind::single_precision;
  option_error("bad_gram", "--gram must be one of none, double, single, got '{}'", name);
}

Moments merged(const std::vector<std::filesystem::path>& files) {
  Moments sum = load_moments(files.front());
  for (std::size_t k = 1; k < files.size(); ++k) sum.merge(load_moments(files[k]));
  return sum;
}

Moments gathered(const std::vector<std::filesystem::path>& files, const MomentsFlags& flags, Session& session) {
  const Context& context = session.context();
  const GramKind kind = gram_by_name(flags.gram);
  const Dataset data = session.timed("read", [&] { return read_dataset(files, flags.read.read_options(), context); });
  const TrainView view = labelled_view(data, "moments", context);
  return session.timed("moments", [&] { return SelectionData("moments", view).moments(kind, context); });
}

void run_moments(const MomentsFlags& flags, const CLI::App& app, Session& session) {
  std::vector<std::filesystem::path> files(flags.arguments.begin(), flags.arguments.end());
  gram_by_name(flags.gram);
  if (!flags.output.ends_with(".eco"))
    option_error("bad_output", "moments: -o must end in .eco, got '{}'", flags.output);
  require_files(files);
  require_separate(flags.read.inputs(files), {flags.output});
  require_writable(flags.output);
  const auto count = std::count_if(files.begin(), files.end(), [](const auto& file) { return holds_moments(file); });
  if (count > 0 && count < static_cast<std::ptrdiff_t>(files.size()))
    option_error("usage", "moments: {} of {} files hold moments already; merge those alone", count, files.size());
  if (count > 0) {
    refuse_data_flags(app, "moments", "files of moments are merged as they are");
    if (app.get_option("--gram")->count() > 0)
      option_error("idle_flag", "moments: --gram is for data; files of moments are merged as they are");
  }
  const Moments moments =
      count > 0 ? session.timed("merge", [&] { return merged(files); }) : gathered(files, flags, session);
  session.timed("write", [&] { moments_tensors(moments).write(flags.output); });
  session.say(fmt::format("moments  {} in {}, {}\nwrote    {}\n",
                          counted(static_cast<Index>(moments.rows.sum()), "row"),
                          counted(moments.group_count(), "domain"), counted(moments.cols(), "feature"), flags.output));
  Json json = to_json(moments);
  json["output"] = flags.output;
  session.print(std::move(json));
}

}  // namespace

Verb moments_verb(CLI::App& program) {
  const auto flags = std::make_shared<MomentsFlags>();
  Verb verb = make_verb(
      program, {"moments", "Sum the moments of every domain, or merge files of them, for select without the data",
                "moments DATA... --label COLUMN --domain COLUMN -o FILE [flags]",
                "  ecotone moments north.csv --label y --domain site -o north.eco\n"
                "  ecotone moments north.eco south.eco -o all.eco\n"
                "  ecotone select all.eco \"tgreedy steps=10\"\n"});
  verb.app->add_option("DATA...", flags->arguments, "Data files, or files of moments to merge")->required();
  add_output(*verb.app, flags->output, "The file of moments to write (.eco)")->required();
  verb.app
      ->add_option("--gram", flags->gram, "Keep X'X of every domain: none, double or single precision (default double)")
      ->type_name("KIND");
  add_data_flags(*verb.app, flags->read, DataUse::training);
  verb.run = [flags, app = verb.app](Session& session) { run_moments(*flags, *app, session); };
  return verb;
}

}  // namespace ecotone::cli
