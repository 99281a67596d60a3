#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

/// A column of a table of steps: its head and a cell per step.
struct PathColumn {
  std::string head;
  std::vector<std::string> cells;
};

/// One line per step, the name of its feature last.
std::string path_table(const std::vector<PathColumn>& columns, const std::vector<Index>& chosen,
                       const std::vector<std::string>& features) {
  std::string text;
  for (Index line = -1; line < static_cast<Index>(chosen.size()); ++line) {
    for (const PathColumn& column : columns) {
      Index width = display_width(column.head);
      for (const std::string& each : column.cells) width = std::max(width, display_width(each));
      text += pad_left(line < 0 ? column.head : column.cells[at(line)], width) + "  ";
    }
    // Last, because names may be long.
    text += line < 0 ? "feature" : one_line(features[at(chosen[at(line)])]);
    text += '\n';
  }
  return text;
}

/// A number, or - if there is none.
std::string path_cell(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.4g}", value);
}

std::string path_cell(const std::vector<std::optional<double>>& list, Index step) {
  if (at(step) >= list.size() || !list[at(step)]) return "-";
  return fmt::format("{:.3f}", *list[at(step)]);
}

std::vector<PathColumn> columns_of(const FeatureSelection& found, const GreedySelection& greedy,
                                   const PathResult& kept) {
  std::vector<PathColumn> columns = {{"step", {}}, {"T", {}}, {"p-value", {}}, {"gain", {}}, {"loss", {}}};
  const auto& lodo = greedy.run.selection.left_out;
  if (lodo) columns.push_back({"held-out loss", {}});
  if (!found.source_auroc.empty()) columns.push_back({"source AUROC", {}});
  if (!found.held_out_auroc.empty()) columns.push_back({"held-out AUROC", {}});
  for (Index step = 0; step < kept.steps(); ++step) {
    std::vector<std::string> row = {fmt::to_string(step + 1), path_cell(kept.t[at(step)]),
                                    path_cell(kept.pvalue[at(step)]), path_cell(kept.gain[at(step)]),
                                    path_cell(kept.loss[at(step)])};
    if (lodo) row.push_back(path_cell(lodo->curve[at(step) + 1]));
    if (!found.source_auroc.empty()) row.push_back(path_cell(found.source_auroc, step));
    if (!found.held_out_auroc.empty()) row.push_back(path_cell(found.held_out_auroc, step));
    for (std::size_t c = 0; c < row.size(); ++c) columns[c].cells.push_back(row[c]);
  }
  return columns;
}

std::string stop_text(const GreedySelection& found) {
  const Selection& selection = found.run.selection;
  const Theorem1& theory = selection.theorem1;
  std::string text = fmt::format("stopped   {}\n", greedy_summary(found.run, found.options));
  text += fmt::format("student   supports {} at delta {}\n", counted(selection.student, "step"), found.options.delta);
  text +=
      fmt::format("theorem 1 threshold {:.3g}: {}; {}\n", theory.threshold, counted(selection.above_threshold, "step"),
                  theory.valid ? "its condition holds"
                               : fmt::format("only a heuristic, as its condition needs {} domains", theory.n_paper));
  if (const auto& lodo = selection.left_out)
    text += fmt::format("held out  loss is smallest after {}, within one standard error after {}{}\n",
                        counted(lodo->best, "step"), counted(lodo->best_one_se, "step"),
                        lodo->beats_empty ? "" : "; no size clearly beats the empty model");
  return text;
}

std::vector<PathColumn> columns_of(const FeatureSelection& found, const StepSelection& step_found,
                                   const PathResult& path) {
  const std::vector<double> held_out = step_found.held_out_loss();
  PathColumn step{"step", {}}, gain{"gain", {}}, loss{"loss", {}}, held{"held-out loss", {}};
  PathColumn source{"source AUROC", {}}, area{"held-out AUROC", {}};
  for (Index k = 0; k < path.steps(); ++k) {
    step.cells.push_back(fmt::to_string(k + 1));
    gain.cells.push_back(path_cell(path.gain[at(k)]));
    loss.cells.push_back(path_cell(path.loss[at(k)]));
    if (!held_out.empty()) held.cells.push_back(path_cell(held_out[at(k)]));
    source.cells.push_back(path_cell(found.source_auroc, k));
    area.cells.push_back(path_cell(found.held_out_auroc, k));
  }
  std::vector<PathColumn> columns = {step, gain, loss};
  if (!held_out.empty()) columns.push_back(held);
  if (!found.source_auroc.empty()) columns.push_back(source);
  if (!found.held_out_auroc.empty()) columns.push_back(area);
  return columns;
}

std::string size_text(const StepSelection& found) {
  const char* held = found.by_rows ? "rows" : "domains";
  if (!found.run.table) return "chosen    by you: penalty and size are both given\n";
  const LeftOutTable& table = *found.run.table;
  const Candidate& best = table.candidates[at(table.best)];
  constexpr const char* names[] = {"AUROC", "squared error", "RMSE", "log loss"};
  const char* criterion = names[static_cast<std::size_t>(table.criterion)];
  std::string text = fmt::format("chosen    lam {:.4g}, mix {:.4g}, {}: of {} candidates, {} {:.4g} on held-out {}\n",
                                 best.lam, best.mix, counted(best.size, "feature"), table.candidates.size(), criterion,
                                 table.value[at(table.best)], held);
  text += fmt::format("empty     this is {:.3g} better than the empty model in {}, standard error {:.2g}{}\n",
                      table.advantage, criterion, table.error, found.run.kept_empty ? ": the empty model is kept" : "");
  return text;
}

std::string steps_text(const FeatureSelection& found, const GreedySelection& greedy) {
  const PathResult kept = found.path();
  return path_table(columns_of(found, greedy, kept), kept.indices, found.features) + "\n" + stop_text(greedy);
}

std::string steps_text(const FeatureSelection& found, const StepSelection& step) {
  const PathResult& path = step.run.path;
  std::string text;
  if (path.steps() > 0) text += path_table(columns_of(found, step, path), path.indices, found.features) + "\n";
  return text + fmt::format("stopped   {}\n", step_summary(step.run)) + size_text(step);
}

std::string icp_set_text(const FeatureSelection& found, const IcpSet& set) {
  std::vector<std::string> names;
  for (const Index j : set.features) names.push_back(one_line(found.features[at(j)]));
  return fmt::format("{{{}}} (p {:.3g})", fmt::join(names, ", "), set.p);
}

std::string steps_text(const FeatureSelection& found, const IcpSelection& icp) {
  const IcpResult& run = icp.run;
  std::string text = "p-value   cause  feature\n";
  for (std::size_t k = 0; k < run.screened.size(); ++k) {
    const bool taken = std::ranges::find(run.selected, run.screened[k]) != run.selected.end();
    text += fmt::format("{:<8.3g}  {:<5}  {}\n", run.pvalue[static_cast<Index>(k)], taken ? "yes" : "-",
                        one_line(found.features[at(run.screened[k])]));
  }
  const Index accepted = std::ranges::count(run.sets, true, &IcpSet::accepted);
  text += fmt::format("\nstatus    {}: {} of {} accepted at alpha {}, test {}\n", icp_status(run), accepted,
                      counted(std::ssize(run.sets), "set"), icp.options.alpha, icp_test_name(icp.options.test));
  if (!run.found) {
    text +=
        "meaning   no set predicts alike in all domains: the rule is not linear, a cause is missing, or the label "
        "was shifted\n";
  } else {
    if (run.selected.empty())
      text += "meaning   the accepted sets share no feature: nothing says that one is a cause\n";
    text += fmt::format("best set  {}\n", icp_set_text(found, run.sets[at(run.best)]));
  }
  if (!run.all)
    text += fmt::format("looked at {} of {}, the first of the lasso path: it holds only if the causes are among them\n",
                        run.screened.size(), counted(std::ssize(found.features), "feature"));
  if (run.untested > 0) text += fmt::format("untested  {}, for too few rows\n", counted(run.untested, "set"));
  return text;
}

/// The path of two classes or numbers.
std::string path_text(const FeatureSelection& found) {
  return std::visit([&](const auto& each) { return steps_text(found, each); }, found.found);
}

/// The features of all classes.
std::string together_text(const FeatureSelection& found) {
  std::vector<std::string> names;
  for (const Index j : found.taken()) names.push_back(one_line(found.features[at(j)]));
  return fmt::format("together  {}{}{}\n", counted(std::ssize(names), "feature"), names.empty() ? "" : ": ",
                     fmt::join(names, ", "));
}

}  // namespace

std::string selection_text(const FeatureSelection& found) {
  std::string text =
      fmt::format("selected  {} on {}, {}, route {}\n\n", found.pipeline,
                  counted(static_cast<Index>(found.domains.size()), "domain"),
                  counted(static_cast<Index>(found.features.size()), "feature"), route_name(found.route));
  if (found.of_class.empty()) return text + path_text(found);
  for (std::size_t k = 0; k < found.of_class.size(); ++k)
    text += fmt::format("'{}' against the rest\n\n{}\n", one_line(found.classes[k]), path_text(found.of_class[k]));
  return text + together_text(found);
}

}  // namespace ecotone
