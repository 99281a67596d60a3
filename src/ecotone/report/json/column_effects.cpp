#include "ecotone/evaluate/columns/column_effects.h"

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/column_kind.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {

namespace {

Json curve_list(const std::vector<std::vector<double>>& curves) {
  Json list = Json::array();
  for (const std::vector<double>& curve : curves) list.push_back(json_numbers(curve));
  return list;
}

Json effect_json(const ColumnEffect& effect) {
  Json json = {{"column", effect.column}, {"kind", column_kind_word(effect.kind)}};
  if (!effect.importance.empty()) {
    Json domains = Json::array();
    for (const ShuffleLoss& loss : effect.importance)
      domains.push_back({{"mean", json_number(loss.mean)}, {"spread", json_number(loss.spread)}});
    json["importance"] = {{"mean", json_number(effect.mean)}, {"domains", std::move(domains)}};
  }
  Json curves = Json::array();
  for (const auto& of_domain : effect.curves) curves.push_back(curve_list(of_domain));
  json["dependence"] = {{"pooled", curve_list(effect.pooled)}, {"domains", std::move(curves)}};
  if (effect.kind == ColumnKind::categorical) {
    json["dependence"]["levels"] = effect.levels;
  } else {
    json["dependence"]["values"] = json_numbers(effect.values);
  }
  return json;
}

std::vector<std::vector<double>> read_dependence(const ResultField& field, std::size_t scores, std::size_t points) {
  return field.sized(scores).each([&](const ResultField& curve) { return curve.sized(points).numbers(); });
}

ColumnEffect read_effect(const ResultField& field, const ColumnEffects& effects) {
  ColumnEffect effect;
  effect.column = field.at("column").text();
  effect.kind = read_column_kind(field.at("kind"));
  const std::size_t domains = effects.domains.size(), scores = effects.scores.size();
  if (!effects.metric.empty()) {
    const ResultField importance = field.at("importance");
    effect.mean = importance.at("mean").optional_number();
    effect.importance = importance.at("domains").sized(domains).each([](const ResultField& each) {
      return ShuffleLoss{each.at("mean").optional_number(), each.at("spread").optional_number()};
    });
  }
  const ResultField dependence = field.at("dependence");
  if (effect.kind == ColumnKind::categorical) {
    effect.levels = dependence.at("levels").texts();
  } else {
    effect.values = dependence.at("values").numbers();
  }
  effect.pooled = read_dependence(dependence.at("pooled"), scores, effect.points());
  effect.curves = dependence.at("domains").sized(domains).each(
      [&](const ResultField& each) { return read_dependence(each, scores, effect.points()); });
  return effect;
}

Json gains_json(const SplitGains& gains) {
  Json columns = Json::array();
  for (const SplitGains::Gain& each : gains.columns)
    columns.push_back({{"column", each.column}, {"gain", each.all}, {"domains", each.of_domain}});
  return {{"domains", gains.domains}, {"columns", std::move(columns)}};
}

SplitGains read_gains(const ResultField& field) {
  SplitGains gains;
  gains.domains = field.at("domains").texts();
  gains.columns = field.at("columns").each([&](const ResultField& each) {
    return SplitGains::Gain{each.at("column").text(), each.at("gain").number(),
                            each.at("domains").sized(gains.domains.size()).numbers()};
  });
  return gains;
}

}  // namespace

Json to_json(const ColumnEffects& effects) {
  Json domains = Json::array(), columns = Json::array();
  for (const EffectDomain& domain : effects.domains)
    domains.push_back({{"domain", domain.domain},
                       {"rows", domain.rows},
                       {"scored", domain.scored},
                       {"score", json_number(domain.score)}});
  const auto opposite = opposite_curves(effects);
  for (std::size_t c = 0; c < effects.columns.size(); ++c) {
    columns.push_back(effect_json(effects.columns[c]));
    if (opposite[c])
      columns.back()["opposite"] = {
          {"domains", {effects.domains[opposite[c]->one].domain, effects.domains[opposite[c]->other].domain}},
          {"score", effects.scores[opposite[c]->score]}};
  }
  Json json = {{"pipeline", effects.pipeline},
               {"task", task_name(effects.task)},
               {"metric", effects.metric.empty() ? Json(nullptr) : Json(effects.metric)},
               {"repeats", effects.repeats},
               {"domains", std::move(domains)},
               {"scores", effects.scores},
               {"columns", std::move(columns)}};
  if (effects.gains) json["gains"] = gains_json(*effects.gains);
  return json;
}

ColumnEffects column_effects_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  ColumnEffects effects;
  effects.pipeline = field.at("pipeline").text();
  effects.task = field.at("task").choice({Task::classify, Task::regress}, task_name);
  if (!field.at("metric").is_null()) effects.metric = field.at("metric").metric();
  effects.repeats = static_cast<int>(field.at("repeats").whole_up_to(1000));
  effects.domains = field.at("domains").each([](const ResultField& each) {
    return EffectDomain{each.at("domain").text(), each.at("rows").whole(), each.at("scored").whole(),
                        each.at("score").optional_number()};
  });
  effects.scores = field.at("scores").texts();
  if (effects.domains.empty()) field.at("domains").fail("must not be empty");
  if (effects.scores.empty()) field.at("scores").fail("must not be empty");
  effects.columns = field.at("columns").each([&](const ResultField& each) { return read_effect(each, effects); });
  if (const auto gains = field.find("gains")) effects.gains = read_gains(*gains);
  return effects;
}

}  // namespace ecotone
