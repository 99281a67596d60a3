#include "ecotone/base/json_number.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/report/json/json.h"

namespace ecotone {
namespace {

Json list_json(const std::vector<std::optional<double>>& list) {
  Json result = Json::array();
  for (const auto& value : list) result.push_back(value ? Json(*value) : Json(nullptr));
  return result;
}

/// All p weights after each step.
Json weights_json(const PathResult& path, std::size_t features) {
  Json result = Json::array();
  for (Index step = 1; step <= path.steps(); ++step) {
    std::vector<double> all(features, 0.0);
    const Vector w = path.weights_after(step);
    for (Index k = 0; k < w.size(); ++k) all[at(path.support[at(k)])] = w[k];
    result.push_back(std::move(all));
  }
  return result;
}

const char* stop_name(PathStop stop) {
  constexpr const char* names[] = {"steps", "lodo", "student", "theorem1"};
  return names[static_cast<std::size_t>(stop)];
}

Json theorem_json(const Theorem1& theory) {
  return {{"threshold", theory.threshold}, {"valid", theory.valid},     {"exact", json_or_word(theory.exact)},
          {"n_paper", theory.n_paper},     {"n_exact", theory.n_exact}, {"n_sign", theory.n_sign}};
}

Json stopping_json(const GreedySelection& found) {
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

Json corollary_json(const FeatureSelection& found, double delta, const PathResult& kept) {
  const Corollary3 bound = corollary3(kept.sigma, static_cast<Index>(found.features.size()),
                                      static_cast<Index>(found.domains.size()), delta);
  return {{"sigma_S", bound.sigma}, {"paper", bound.paper}, {"corrected", bound.corrected},
          {"tight", bound.tight},   {"valid", bound.valid}, {"n_needed", bound.n_needed}};
}

Json table_json(const StepSelection& found) {
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

/// What the selectors have in common, up to the steps.
Json head_json(const FeatureSelection& found, const PathResult& kept) {
  Json names = Json::array();
  for (const Index j : kept.indices) names.push_back(found.features[at(j)]);
  return {{"pipeline", found.pipeline},        {"classes", found.classes},     {"domains", found.domains},
          {"features", found.features.size()}, {"selected", std::move(names)}, {"indices", kept.indices}};
}

void add_auroc_json(Json& json, const FeatureSelection& found) {
  json["auroc"] = found.source_auroc.empty() ? Json(nullptr) : list_json(found.source_auroc);
  json["held_out_auroc"] = found.held_out_auroc.empty() ? Json(nullptr) : list_json(found.held_out_auroc);
}

Json json_of(const FeatureSelection& found, const GreedySelection& greedy) {
  const Selection& selection = greedy.run.selection;
  const PathResult kept = found.path();
  Json json = head_json(found, kept);
  json.update({{"T", json_or_words(kept.t)},
               {"mu", kept.mu},
               {"sigma", kept.sigma},
               {"gain", kept.gain},
               {"pvalue", json_or_words(kept.pvalue)},
               {"loss", kept.loss},
               {"domain_loss", kept.group_loss},
               {"weights", weights_json(kept, found.features.size())},
               {"offset", kept.offset},
               {"stopped_early", kept.stopped_early},
               {"route", route_name(found.route)},
               {"stopping", stopping_json(greedy)}});
  add_auroc_json(json, found);
  if (selection.left_out)
    json["held_out_loss"] = std::vector<double>(selection.left_out->curve.begin() + 1,
                                                selection.left_out->curve.begin() + 1 + kept.steps());
  if (greedy.options.mode == PathMode::ortho && kept.steps() > 0)
    json["corollary3"] = corollary_json(found, greedy.options.delta, kept);
  return json;
}

Json json_of(const FeatureSelection& found, const StepSelection& step) {
  const PathResult& path = step.run.path;
  Json json = head_json(found, path);
  json.update({{"gain", path.gain},
               {"loss", path.loss},
               {"domain_loss", step.by_rows ? Json(nullptr) : Json(path.group_loss)},
               {"weights", weights_json(path, found.features.size())},
               {"offset", path.offset},
               {"lam", step.run.penalty.lam},
               {"mix", step.run.penalty.mix},
               {"kept_empty", step.run.kept_empty},
               {"stopped_early", path.stopped_early},
               {"route", route_name(found.route)},
               {"lodo", table_json(step)}});
  add_auroc_json(json, found);
  if (!step.run.folds.empty()) json["held_out_loss"] = step.held_out_loss();
  return json;
}

}  // namespace

Json to_json(const FeatureSelection& found) {
  return std::visit([&](const auto& each) { return json_of(found, each); }, found.found);
}

}  // namespace ecotone
