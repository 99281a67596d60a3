#include "cli/arguments.h"
#include "cli/label.h"
#include "ecotone/base/file.h"
#include "ecotone/report/html/html.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {

void simulate_labels(const LabelFlags& flags, const Dataset& data, const Pipeline& pipeline, Session& session) {
  std::vector<Strategy> strategies;
  for (const std::string& text : flags.strategies) strategies.push_back(Strategy::parse(text));
  const LabelSimulation simulation = session.timed(
      "simulate", [&] { return simulate_labelling(data, pipeline, strategies, flags.simulation, session.context()); });
  if (!flags.report.empty())
    session.timed("write", [&] { write_text(flags.report, html_report(simulation, flags.title)); });
  session.say(simulation_text(simulation));
  session.print(to_json(simulation));
}

}  // namespace ecotone::cli
