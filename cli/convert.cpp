#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/read.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct ConvertFlags {
  std::vector<std::string> data;
  ReadOptions read;
  std::string output;
};

/// A line for each format: its name, the endings of its files, what it holds.
std::string format_table() {
  std::string table = "\nFormats, known by the ending of a file (with or without .gz) or its first bytes:\n";
  for (const Format& format : formats())
    table += fmt::format("  {:<10}{:<24}{}\n", format.name, fmt::format("{}", fmt::join(format.endings, " ")),
                         format.summary);
  return table;
}

void run_convert(const ConvertFlags& flags, Session& session) {
  const bool eco = flags.output.ends_with(".eco");
  require_data_ending("convert", flags.output);
  const std::vector<std::filesystem::path> paths(flags.data.begin(), flags.data.end());
  require_files(paths);
  require_separate(files_read(paths, flags.read), {flags.output});
  require_writable(flags.output);
  const Context& context = session.context();
  const ReadOptions options = flags.read;
  const Dataset data = session.timed("read", [&] { return read_dataset(paths, options, context); });
  session.timed("write",
                [&] { eco ? write_eco(data, flags.output, context) : write_csv(data, flags.output, context); });
  session.say(fmt::format("wrote {}: {}\n", flags.output, data_summary(data)));
  Json document = {{"output", flags.output}};
  document.update(data_json(data));
  session.print(std::move(document));
}

void declare_convert(Flags& flags, ConvertFlags& inputs) {
  flags.arguments("DATA", inputs.data,
                  fmt::format("Files with the same columns: {}; all but eco may be gzipped", or_list(format_names())));
  flags.output(inputs.output, "The file to write, .eco or .csv", Need::required);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb convert_verb() {
  return make_verb({"convert", "Convert data files to one .eco (memory-mapped, fast) or .csv file",
                    "convert DATA... -o FILE [flags]",
                    "  ecotone convert raw.csv --label y --domain site -o data.eco\n"
                    "  ecotone convert a.csv b.csv --label y --domain-from-file -o both.eco\n"
                    "  ecotone convert t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz -o t10k.eco\n" +
                        format_table()},
                   declare_convert, run_convert);
}

}  // namespace ecotone::cli
