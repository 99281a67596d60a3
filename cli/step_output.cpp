#include "cli/step_output.h"

#include <fmt/format.h>

#include "cli/path_table.h"
#include "cli/summary.h"

namespace ecotone::cli {
namespace {

/// Mean over domains of the loss on each, by the path that was not given it, after each step.
std::vector<double> held_out_loss(const StepOutput& found) {
  const auto& folds = found.run.folds;
  if (folds.empty()) return {};
  std::vector<double> result;
  for (Index step = 1; step <= found.run.path.steps(); ++step) {
    double mean = 0;
    for (std::size_t d = 0; d < folds.size(); ++d)
      mean += folds[d].group_loss_after(static_cast<Index>(d), step) / static_cast<double>(folds.size());
    result.push_back(mean);
  }
  return result;
}

std::vector<PathColumn> columns_of(const StepOutput& found) {
  const PathResult& path = found.run.path;
  const std::vector<double> held_out = held_out_loss(found);
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

std::string choice_text(const StepOutput& found) {
  const char* held = found.by_rows ? "rows" : "domains";
  if (!found.run.table) return "chosen    by you: penalty and size are both given\n";
  const LeftOutTable& table = *found.run.table;
  const Candidate& best = table.candidates[at(table.best)];
  const char* criterion = table.criterion == LeftOutCriterion::auroc  ? "AUROC"
                          : table.criterion == LeftOutCriterion::rmse ? "RMSE"
                                                                      : "squared loss";
  std::string text = fmt::format(
      "chosen    lam {:.4g}, mix {:.4g}, {}: best of {} candidates, {} {:.4g} on held-out {}\n", best.lam, best.mix,
      counted(best.size, "feature"), table.candidates.size(), criterion, table.value[at(table.best)], held);
  text += fmt::format("empty     the best is {:.3g} better than the empty model in {}, standard error {:.2g}{}\n",
                      table.advantage, table.criterion == LeftOutCriterion::auroc ? "AUROC" : "squared loss",
                      table.error, found.run.kept_empty ? ": the empty model is kept" : "");
  return text;
}

Json table_json(const StepOutput& found) {
  if (!found.run.table) return nullptr;
  const LeftOutTable& table = *found.run.table;
  Json candidates = Json::array();
  for (std::size_t c = 0; c < table.candidates.size(); ++c) {
    const Candidate& each = table.candidates[c];
    candidates.push_back({{"lam", each.lam}, {"mix", each.mix}, {"size", each.size}, {"value", table.value[c]}});
  }
  return {{"criterion", criterion_name(table.criterion)},
          {"left_out", found.by_rows ? "rows" : "domains"},
          {"folds", table.folds},
          {"groups", table.groups},
          {"best", table.best},
          {"advantage", table.advantage},
          {"error", table.error},
          {"beats_empty", table.beats_empty},
          {"candidates", std::move(candidates)}};
}

}  // namespace

std::string step_text(const StepOutput& found) {
  const PathResult& path = found.run.path;
  std::string text =
      fmt::format("selected  {} on {}, {}, route {}\n\n", found.pipeline,
                  counted(static_cast<Index>(found.domains.size()), "domain"),
                  counted(static_cast<Index>(found.features.size()), "feature"), route_name(found.route));
  if (path.steps() > 0) text += path_table(columns_of(found), path.indices, found.features) + "\n";
  return text + fmt::format("stopped   {}\n", step_summary(found.run)) + choice_text(found);
}

Json step_json(const StepOutput& found) {
  const PathResult& path = found.run.path;
  Json names = Json::array();
  for (const Index j : path.indices) names.push_back(found.features[at(j)]);
  Json json = {{"pipeline", found.pipeline},
               {"classes", found.classes},
               {"domains", found.domains},
               {"features", found.features.size()},
               {"selected", std::move(names)},
               {"indices", path.indices},
               {"gain", path.gain},
               {"loss", path.loss},
               {"domain_loss", found.by_rows ? Json(nullptr) : Json(path.group_loss)},
               {"weights", weights_json(path, found.features.size())},
               {"offset", path.offset},
               {"lam", found.run.penalty.lam},
               {"mix", found.run.penalty.mix},
               {"kept_empty", found.run.kept_empty},
               {"stopped_early", path.stopped_early},
               {"route", route_name(found.route)},
               {"lodo", table_json(found)}};
  json["auroc"] = found.source_auroc.empty() ? Json(nullptr) : list_json(found.source_auroc);
  json["held_out_auroc"] = found.held_out_auroc.empty() ? Json(nullptr) : list_json(found.held_out_auroc);
  if (!found.run.folds.empty()) json["held_out_loss"] = held_out_loss(found);
  return json;
}

}  // namespace ecotone::cli
