#include "ecotone/data/pairs.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct PairsFlags {
  std::vector<std::string> data;
  ReadOptions read;
  PairsOptions options;
  std::string list;
  std::string output;
  const Flags* flags = nullptr;
};

Dataset make_pairs(const Dataset& data, const PairsFlags& flags, const Context& context) {
  if (flags.list.empty()) return draw_pairs(data, flags.options, context);
  return listed_pairs(data, read_pairs(flags.list, context), context);
}

void run_pairs(const PairsFlags& flags, Session& session) {
  if (!flags.output.ends_with(".eco"))
    option_error("bad_output", "pairs: -o must end in .eco, got '{}'; `ecotone convert` turns it into .csv",
                 flags.output);
  if (!flags.read.domain.empty() || flags.read.domain_from_file)
    option_error("usage", "pairs: the classes become the domains, so omit --domain");
  if (!flags.list.empty() && flags.flags->given("--per-class"))
    option_error("idle_flag", "pairs: --per-class cannot be combined with --list, which names all pairs");
  std::vector<std::filesystem::path> paths(flags.data.begin(), flags.data.end());
  std::vector<std::filesystem::path> inputs = files_read(paths, flags.read);
  if (!flags.list.empty()) inputs.emplace_back(flags.list);
  require_files(inputs);
  require_separate(inputs, {flags.output});
  require_writable(flags.output);
  const Context& context = session.context();
  const Dataset data = session.timed("read", [&] { return read_dataset(paths, flags.read, context); });
  const Dataset pairs = session.timed("pairs", [&] { return make_pairs(data, flags, context); });
  session.timed("write", [&] { write_eco(pairs, flags.output, context); });
  session.say(
      fmt::format("wrote {}: pairs of {}: {}\n", flags.output, counted(data.rows(), "row"), data_summary(pairs)));
  Json document = {{"output", flags.output}, {"rows_paired", data.rows()}};
  document.update(data_json(pairs));
  session.print(std::move(document));
}

void declare_pairs(Flags& flags, PairsFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA", inputs.data, "Files with the same columns");
  flags.output(inputs.output, "The .eco file to write: the rows and their pairing", Need::required);
  flags.options(inputs.options);
  flags.text("--list", "FILE", inputs.list,
             "Use the pairs in this file: columns first and second, numbers from 1 of the rows that --where keeps");
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb pairs_verb() {
  return make_verb(
      {"pairs", "Make pairs of rows, to learn whether two rows belong to the same class",
       "pairs DATA... --label COLUMN [--per-class N] -o FILE [flags]",
       "  ecotone pairs digits.csv --label digit --per-class 1000 -o pairs.eco\n"
       "  ecotone evaluate pairs.eco \"greedy steps=25 nonnegative=true\" --protocol leave-one-domain-out\n"
       "  ecotone pairs new.csv --list which.csv -o new_pairs.eco\n"},
      declare_pairs, run_pairs);
}

}  // namespace ecotone::cli
