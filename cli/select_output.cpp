#include "cli/select_output.h"

#include <fmt/format.h>

#include "cli/path_table.h"
#include "cli/summary.h"
#include "ecotone/base/json_number.h"

namespace ecotone::cli {
namespace {

const char* stop_name(PathStop stop) {
  constexpr const char* names[] = {"steps", "lodo", "student", "theorem1"};
  return names[static_cast<std::size_t>(stop)];
}

Json theorem_json(const Theorem1& theory) {
  return {{"threshold", theory.threshold}, {"valid", theory.valid},     {"exact", json_or_word(theory.exact)},
          {"n_paper", theory.n_paper},     {"n_exact", theory.n_exact}, {"n_sign", theory.n_sign}};
}

Json stopping_json(const SelectOutput& found) {
  const Selection& selection = found.run.selection;
  Json json = {{"stop", stop_name(found.options.stop)},
               {"taken", selection.taken},
               {"delta", found.options.delta},
               {"theorem1", theorem_json(selection.theorem1)},
               {"theorem1_heuristic_count", selection.above_threshold},
               {"theorem1_exact_count", selection.above_exact},
               {"student_bonferroni_count", selection.student}};
  if (const auto& lodo = selection.left_out) {
    json["lodo"] = {{"steps", found.options.steps},     {"best", lodo->best},   {"best_one_se", lodo->best_one_se},
                    {"beats_empty", lodo->beats_empty}, {"curve", lodo->curve}, {"table", lodo->table}};
  }
  return json;
}

Json corollary_json(const SelectOutput& found, const PathResult& kept) {
  const Corollary3 bound = corollary3(kept.sigma, static_cast<Index>(found.features.size()),
                                      static_cast<Index>(found.domains.size()), found.options.delta);
  return {{"sigma_S", bound.sigma}, {"paper", bound.paper}, {"corrected", bound.corrected},
          {"tight", bound.tight},   {"valid", bound.valid}, {"n_needed", bound.n_needed}};
}

std::vector<PathColumn> columns_of(const SelectOutput& found, const PathResult& kept) {
  std::vector<PathColumn> columns = {{"step", {}}, {"T", {}}, {"p-value", {}}, {"gain", {}}, {"loss", {}}};
  const auto& lodo = found.run.selection.left_out;
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

std::string stop_text(const SelectOutput& found) {
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

}  // namespace

std::string select_text(const SelectOutput& found) {
  const PathResult kept = found.run.selection.path.head(found.run.selection.taken);
  std::string text =
      fmt::format("selected  {} on {}, {}, route {}\n\n", found.pipeline,
                  counted(static_cast<Index>(found.domains.size()), "domain"),
                  counted(static_cast<Index>(found.features.size()), "feature"), route_name(found.run.route));
  return text + path_table(columns_of(found, kept), kept.indices, found.features) + "\n" + stop_text(found);
}

Json select_json(const SelectOutput& found) {
  const Selection& selection = found.run.selection;
  const PathResult kept = selection.path.head(selection.taken);
  Json names = Json::array();
  for (const Index j : kept.indices) names.push_back(found.features[at(j)]);
  Json json = {{"pipeline", found.pipeline},
               {"classes", found.classes},
               {"domains", found.domains},
               {"features", found.features.size()},
               {"selected", std::move(names)},
               {"indices", kept.indices},
               {"T", json_or_words(kept.t)},
               {"mu", kept.mu},
               {"sigma", kept.sigma},
               {"gain", kept.gain},
               {"pvalue", json_or_words(kept.pvalue)},
               {"loss", kept.loss},
               {"domain_loss", kept.group_loss},
               {"weights", weights_json(kept, found.features.size())},
               {"offset", kept.offset},
               {"stopped_early", kept.stopped_early},
               {"route", route_name(found.run.route)},
               {"stopping", stopping_json(found)}};
  json["auroc"] = found.source_auroc.empty() ? Json(nullptr) : list_json(found.source_auroc);
  json["held_out_auroc"] = found.held_out_auroc.empty() ? Json(nullptr) : list_json(found.held_out_auroc);
  if (selection.left_out)
    json["held_out_loss"] = std::vector<double>(selection.left_out->curve.begin() + 1,
                                                selection.left_out->curve.begin() + 1 + kept.steps());
  if (found.options.mode == PathMode::ortho && kept.steps() > 0) json["corollary3"] = corollary_json(found, kept);
  return json;
}

}  // namespace ecotone::cli
