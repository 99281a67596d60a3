#include "ecotone/base/json_number.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/options_json.h"

namespace ecotone {
namespace {

Json list_json(const std::vector<std::optional<double>>& list) {
  Json result = Json::array();
  for (const auto& value : list) result.push_back(value ? Json(*value) : Json(nullptr));
  return result;
}

Json rows_json(const std::vector<std::vector<double>>& rows) {
  Json result = Json::array();
  for (const std::vector<double>& row : rows) result.push_back(json_numbers(row));
  return result;
}

/// All p weights after each step.
Json weights_json(const PathResult& path, std::size_t features) {
  Json result = Json::array();
  for (Index step = 1; step <= path.steps(); ++step) {
    std::vector<double> all(features, 0.0);
    const Vector w = path.weights_after(step);
    for (Index k = 0; k < w.size(); ++k) all[at(path.support[at(k)])] = w[k];
    result.push_back(json_numbers(all));
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
    json["lodo"] = {{"steps", found.options.steps},     {"best", lodo->best},
                    {"best_one_se", lodo->best_one_se}, {"chosen", lodo->chosen},
                    {"beats_empty", lodo->beats_empty}, {"curve", json_numbers(lodo->curve)},
                    {"table", rows_json(lodo->table)}};
  }
  return json;
}

Json corollary_json(const FeatureSelection& found, double delta, const PathResult& kept) {
  const Corollary3 bound = corollary3(kept.sigma, static_cast<Index>(found.features.size()),
                                      static_cast<Index>(found.domains.size()), delta);
  return {{"sigma_S", json_numbers(bound.sigma)},
          {"paper", json_number(bound.paper)},
          {"corrected", json_number(bound.corrected)},
          {"tight", json_number(bound.tight)},
          {"valid", bound.valid},
          {"n_needed", bound.n_needed}};
}

Json table_json(const StepSelection& found) {
  if (!found.run.table) return nullptr;
  const LeftOutTable& table = *found.run.table;
  Json candidates = Json::array();
  for (std::size_t c = 0; c < table.candidates.size(); ++c) {
    const Candidate& each = table.candidates[c];
    candidates.push_back(
        {{"lam", each.lam}, {"mix", each.mix}, {"size", each.size}, {"value", json_number(table.value[c])}});
  }
  return {{"criterion", criterion_name(table.criterion)},
          {"left_out", found.by_rows ? "rows" : "domains"},
          {"folds", table.folds},
          {"groups", table.groups},
          {"best", table.best},
          {"advantage", json_number(table.advantage)},
          {"error", json_number(table.error)},
          {"beats_empty", table.beats_empty},
          {"candidates", std::move(candidates)}};
}

const char* selector_name(const FeatureSelection& found) {
  if (!found.of_class.empty()) return selector_name(found.of_class.front());
  if (std::holds_alternative<IcpSelection>(found.found)) return "icp";
  const auto* greedy = std::get_if<GreedySelection>(&found.found);
  return !greedy ? "step" : greedy->rule == PathRule::tgreedy ? "tgreedy" : "greedy";
}

/// What the selectors have in common, up to the steps.
Json head_json(const FeatureSelection& found, const std::vector<Index>& indices) {
  Json names = Json::array();
  for (const Index j : indices) names.push_back(found.features[at(j)]);
  return {{"pipeline", found.pipeline},        {"selector", selector_name(found)},
          {"classes", found.classes},          {"domains", found.domains},
          {"features", found.features.size()}, {"feature_names", found.features},
          {"selected", std::move(names)},      {"indices", indices}};
}

void add_auroc_json(Json& json, const FeatureSelection& found) {
  json["auroc"] = found.source_auroc.empty() ? Json(nullptr) : list_json(found.source_auroc);
  json["held_out_auroc"] = found.held_out_auroc.empty() ? Json(nullptr) : list_json(found.held_out_auroc);
}

Json json_of(const FeatureSelection& found, const GreedySelection& greedy) {
  const Selection& selection = greedy.run.selection;
  const PathResult kept = found.path();
  Json json = head_json(found, kept.indices);
  json.update({{"T", json_or_words(kept.t)},
               {"mu", json_numbers(kept.mu)},
               {"sigma", json_numbers(kept.sigma)},
               {"gain", json_numbers(kept.gain)},
               {"pvalue", json_or_words(kept.pvalue)},
               {"loss", json_numbers(kept.loss)},
               {"domain_loss", rows_json(kept.group_loss)},
               {"weights", weights_json(kept, found.features.size())},
               {"offset", json_numbers(kept.offset)},
               {"stopped_early", kept.stopped_early},
               {"route", route_name(found.route)},
               {"options", options_json(greedy.options)},
               {"stopping", stopping_json(greedy)}});
  add_auroc_json(json, found);
  if (selection.left_out)
    json["held_out_loss"] = json_numbers(std::vector<double>(selection.left_out->curve.begin() + 1,
                                                             selection.left_out->curve.begin() + 1 + kept.steps()));
  if (greedy.options.mode == PathMode::ortho && kept.steps() > 0)
    json["corollary3"] = corollary_json(found, greedy.options.delta, kept);
  return json;
}

Json json_of(const FeatureSelection& found, const StepSelection& step) {
  const PathResult& path = step.run.path;
  Json json = head_json(found, path.indices);
  json.update({{"gain", json_numbers(path.gain)},
               {"loss", json_numbers(path.loss)},
               {"domain_loss", step.by_rows ? Json(nullptr) : rows_json(path.group_loss)},
               {"weights", weights_json(path, found.features.size())},
               {"offset", json_numbers(path.offset)},
               {"lam", step.run.penalty.lam},
               {"mix", step.run.penalty.mix},
               {"kept_empty", step.run.kept_empty},
               {"stopped_early", path.stopped_early},
               {"route", route_name(found.route)},
               {"lodo", table_json(step)}});
  add_auroc_json(json, found);
  if (!step.run.folds.empty()) json["held_out_loss"] = json_numbers(step.held_out_loss());
  return json;
}

Json json_of(const FeatureSelection& found, const IcpSelection& icp) {
  const IcpResult& run = icp.run;
  Json json = head_json(found, run.selected);
  Json sets = Json::array();
  for (const IcpSet& set : run.sets) sets.push_back({{"set", set.features}, {"p", set.p}, {"accepted", set.accepted}});
  json.update({{"status", icp_status(run)},
               {"pvalue", std::vector<double>(run.pvalue.begin(), run.pvalue.end())},
               {"screened", run.screened},
               {"screened_all", run.all},
               {"best", run.best < 0 ? Json(nullptr) : Json(run.best)},
               {"untested", run.untested},
               {"sets", std::move(sets)},
               {"weights", std::vector<double>(run.weights.begin(), run.weights.end())},
               {"offset", run.offset},
               {"route", route_name(found.route)},
               {"options", options_json(icp.options)}});
  add_auroc_json(json, found);
  return json;
}

}  // namespace

Json to_json(const FeatureSelection& found) {
  if (!found.of_class.empty()) {
    Json json = head_json(found, found.taken());
    json["route"] = route_name(found.route);
    for (const FeatureSelection& each : found.of_class) json["of_class"].push_back(to_json(each));
    return json;
  }
  return std::visit([&](const auto& each) { return json_of(found, each); }, found.found);
}

}  // namespace ecotone
