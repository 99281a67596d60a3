#include "ecotone/base/json_number.h"
#include "ecotone/diagnose/diagnose.h"
#include "ecotone/report/json/json.h"

namespace ecotone {
namespace {

Json feature_json(const FeatureShift& shift) {
  Json json = {{"feature", shift.feature},
               {"smd", json_number(shift.smd)},
               {"ks", shift.ks},
               {"p_value", shift.p},
               {"q_value", shift.q}};
  if (!shift.domain.empty()) json["domain"] = shift.domain;
  if (!shift.remark.empty()) json["remark"] = shift.remark;
  return json;
}

Json features_json(const std::vector<FeatureShift>& features) {
  Json json = Json::array();
  for (const auto& shift : features) json.push_back(feature_json(shift));
  return json;
}

/// `a` and `b` name the two samples in the field names.
Json comparison_json(const Comparison& one) {
  return {{"rows", {one.rows_a, one.rows_b}},
          {"used_rows", {one.used_a, one.used_b}},
          {"mmd2", json_number(one.mmd2)},
          {"mmd2_estimator", one.mmd2_error ? "blocks" : "exact"},
          {"mmd2_standard_error", json_number(one.mmd2_error)},
          {"mmd2_block_p_value", json_number(one.block_p)},
          {"p_value", json_number(one.p)},
          {"q_value", json_number(one.q)},
          {"auroc", json_number(one.auroc)},
          {"proxy_a_distance", json_number(one.a_distance)},
          {"apart", one.apart()},
          {"top_features", features_json(one.features)}};
}

Json pair_json(const Comparison& one) {
  Json json = comparison_json(one);
  json["a"] = one.a;
  json["b"] = one.b;
  json["ess_a_to_b"] = json_number(one.ess_a_to_b);
  json["ess_b_to_a"] = json_number(one.ess_b_to_a);
  return json;
}

Json rest_json(const Comparison& one) {
  Json json = comparison_json(one);
  json["domain"] = one.a;
  json["ess_rest_to_domain"] = json_number(one.ess_b_to_a);
  json["ess_domain_to_rest"] = json_number(one.ess_a_to_b);
  return json;
}

Json labels_json(const Diagnosis& diagnosis) {
  if (!diagnosis.task) return nullptr;
  Json domains = Json::array();
  for (const DomainLabels& one : diagnosis.labels) {
    Json json = {{"domain", one.domain}, {"rows", one.rows}};
    if (*diagnosis.task == Task::classify) {
      json["share"] = one.share.empty() ? Json(nullptr) : Json(one.share);
    } else {
      json["mean"] = json_number(one.mean);
      json["sd"] = json_number(one.sd);
    }
    domains.push_back(std::move(json));
  }
  return {{"label", diagnosis.label},
          {"task", task_name(*diagnosis.task)},
          {"classes", diagnosis.classes},
          {"domains", std::move(domains)}};
}

Json shifts_json(const ShiftTable& table) {
  Json rows = Json::array();
  for (std::size_t d = 0; d < table.domains.size(); ++d) {
    Json smd = Json::array();
    for (const auto& value : table.smd[d]) smd.push_back(json_number(value));
    rows.push_back({{"domain", table.domains[d]}, {"smd", std::move(smd)}});
  }
  return {{"features", table.features}, {"domains", std::move(rows)}};
}

Json map_json(const Diagnosis& diagnosis) {
  if (diagnosis.map.empty()) return nullptr;
  Json places = Json::array();
  for (const DomainPlace& place : diagnosis.map)
    places.push_back({{"domain", place.domain}, {"x", place.x}, {"y", place.y}});
  return {{"share", diagnosis.map_share}, {"domains", std::move(places)}};
}

}  // namespace

Json to_json(const Diagnosis& diagnosis) {
  Json rest = Json::array(), pair_list = Json::array(), missing_list = Json::array(), sentences = Json::array();
  for (const auto& one : diagnosis.against_rest) rest.push_back(rest_json(one));
  for (const auto& one : diagnosis.pairs) pair_list.push_back(pair_json(one));
  for (const auto& one : diagnosis.missing)
    missing_list.push_back({{"column", one.column}, {"share", one.share}, {"spread", one.spread}});
  for (const auto& one : diagnosis.advice)
    sentences.push_back({{"domain", one.domain.empty() ? Json(nullptr) : Json(one.domain)}, {"text", one.text}});
  Json domain_list = Json::array();
  for (std::size_t d = 0; d < diagnosis.domains.size(); ++d)
    domain_list.push_back({{"domain", diagnosis.domains[d]}, {"rows", diagnosis.domain_rows[d]}});
  Json json = {
      {"rows", diagnosis.rows},
      {"features", diagnosis.features},
      {"domain_word", diagnosis.domain_word},
      {"domains", std::move(domain_list)},
      {"missing_values", diagnosis.missing_values},
      {"sample_rows", diagnosis.sample},
      {"sampled", diagnosis.sampled()},
      {"permutations", diagnosis.permutations},
      {"bandwidth", {{"sigma", diagnosis.sigma}, {"rows", diagnosis.sigma_rows}}},
      {"distributional_variance",
       {{"value", diagnosis.variance}, {"unbiased", diagnosis.unbiased_variance}, {"rows", diagnosis.variance_rows}}},
      {"against_rest", std::move(rest)},
      {"pairs", std::move(pair_list)},
      {"feature_shift", features_json(diagnosis.feature_shift)},
      {"shift_table", shifts_json(diagnosis.shifts)},
      {"map", map_json(diagnosis)},
      {"label_shift", labels_json(diagnosis)},
      {"missing_shift", std::move(missing_list)},
      {"advice", std::move(sentences)}};
  if (!diagnosis.pipeline.empty()) json["pipeline"] = diagnosis.pipeline;
  return json;
}

}  // namespace ecotone
