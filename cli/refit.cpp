#include <fmt/format.h>

#include <tuple>

#include "cli/new_data.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

struct RefitOptions {
  double strength = 2;

  static constexpr auto fields() {
    return std::tuple{field(
        "strength", &RefitOptions::strength,
        "How strongly the old values hold, in second derivatives: the larger, the less the leaves move", above(0.0))};
  }
};

struct RefitFlags {
  NewDataFlags data;
  RefitOptions options;
};

void require_label(const Dataset& data) {
  for (Index row = 0; row < data.rows(); ++row)
    if (!data.y->missing(row)) return;
  data_error("no_labels", "refit: none of the {} rows has a label", data.rows());
}

void run_refit(const RefitFlags& flags, Session& session) {
  const Context& context = session.context();
  const NewData in = read_new_data(flags.data, session);
  if (!in.data.y)
    data_error("no_labels", "refit: the data have no label column '{}'; name it with --label", in.model.schema().label);
  require_label(in.data);
  const TrainView view = train_view(in.data, context);
  const Model model = session.timed("refit", [&] { return in.model.refitted(view, flags.options.strength, context); });
  session.timed("write", [&] { model.save(flags.data.output); });
  session.say(fmt::format("refitted {} to {} with labels, strength {}\nwrote    {}\n", model.pipeline().text(),
                          counted(view.labelled(), "row"), flags.options.strength, flags.data.output));
  session.print({{"pipeline", model.pipeline().text()},
                 {"rows", view.labelled()},
                 {"strength", flags.options.strength},
                 {"output", flags.data.output}});
}

void declare_refit(Flags& flags, RefitFlags& inputs) {
  flags.arguments("MODEL DATA...", inputs.data.arguments,
                  "A model from `ecotone fit` that ends in trees, then data files with its columns and labels");
  flags.output(inputs.data.output, "The model file to write (.eco)", Need::required);
  flags.options(inputs.options);
  inputs.data.writes_eco = true;
  add_data_flags(flags, inputs.data.read, DataUse::new_labels);
}

}  // namespace

Verb refit_verb() {
  return make_verb({"refit", "Move a model of trees towards a few labelled rows of a new domain",
                    "refit MODEL DATA... -o MODEL [flags]",
                    "  ecotone refit model.eco ten_patients.csv -o model_here.eco\n"
                    "  ecotone refit model.eco labelled.csv --strength 5 --weight w -o model_here.eco\n"},
                   declare_refit, run_refit);
}

}  // namespace ecotone::cli
