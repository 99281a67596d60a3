#include "cli/arguments.h"
#include "cli/label.h"
#include "cli/page.h"
#include "ecotone/base/files/file.h"
#include "ecotone/report/html/html.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {

void simulate_labels(const LabelFlags& flags, const Dataset& data, const Pipeline& pipeline, Session& session) {
  std::vector<Strategy> strategies;
  for (const std::string& text : flags.strategies) strategies.push_back(Strategy::parse(text));
  const LabelSimulation simulation = session.timed(
      "simulate", [&] { return simulate_labelling(data, pipeline, strategies, flags.simulation, session.context()); });
  Report report;
  report.title = flags.title;
  report.simulation = simulation;
  report.provenance = {provenance_of(session)};
  if (!flags.report.empty()) session.timed("write", [&] { write_text(flags.report, html_report(report)); });
  session.say(simulation_text(simulation));
  session.print(document_of(report));
}

}  // namespace ecotone::cli
