#include "ecotone/base/json_number.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/next_domain.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

namespace {

Json metrics_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) json[name] = json_number(value);
  return json;
}

/// Shares by class, or the mean label.
Json prevalence_json(const DomainScore& domain, const std::vector<std::string>& classes) {
  if (domain.prevalence.empty()) return nullptr;
  if (classes.empty()) return json_number(domain.prevalence.front());
  Json json = Json::object();
  for (std::size_t k = 0; k < classes.size(); ++k) json[classes[k]] = domain.prevalence[k];
  return json;
}

Json domain_json(const DomainScore& domain, const std::vector<std::string>& classes) {
  Json json = {{"domain", domain.domain},
               {"rows", domain.rows},
               {classes.empty() ? "label_mean" : "prevalence", prevalence_json(domain, classes)},
               {"metrics", metrics_json(domain.metrics)}};
  for (const auto& [name, interval] : domain.intervals) {
    json["intervals"][name] = nullptr;
    if (interval)
      json["intervals"][name] = {{"low", json_number(interval->low)}, {"high", json_number(interval->high)}};
  }
  return json;
}

Json worst_json(const PipelineScore& score) {
  Json json = Json::object();
  for (const auto& [name, worst] : score.worst) {
    json[name] = nullptr;
    if (worst) json[name] = {{"value", json_number(worst->value)}, {"domain", worst->domain}};
  }
  return json;
}

/// What a new domain costs; see docs/report.md.
Json known_json(const KnownSite& known, const std::vector<std::string>& classes) {
  Json domains = Json::array();
  for (const DomainScore& domain : known.domains) domains.push_back(domain_json(domain, classes));
  Json cost = Json::object();
  for (const auto& [name, interval] : known.cost) {
    cost[name] = nullptr;
    if (interval)
      cost[name] = {{"mean", json_number(interval->mean)},
                    {"low", json_number(interval->low)},
                    {"high", json_number(interval->high)}};
  }
  return {{"domains", std::move(domains)}, {"mean", metrics_json(known.mean)}, {"cost", std::move(cost)}};
}

Json importance_json(const Importances& importance) {
  Json columns = Json::array();
  for (const ColumnImportance& column : importance.columns) {
    Json splits = Json::array();
    for (const auto& value : column.splits) splits.push_back(json_number(value));
    columns.push_back({{"column", column.column},
                       {"mean", json_number(column.mean)},
                       {"spread", json_number(column.spread)},
                       {"splits", std::move(splits)}});
  }
  return {{"metric", importance.metric},
          {"splits", importance.splits},
          {"columns", std::move(columns)},
          {"further_columns", importance.further_columns}};
}

Json curves_json(const ProbabilityCurves& curves) {
  Json domains = Json::array();
  for (const DomainCurves& domain : curves.domains) {
    Json bins = Json::array();
    for (const CalibrationBin& bin : domain.bins)
      bins.push_back({{"predicted", bin.predicted}, {"observed", bin.observed}, {"rows", bin.rows}});
    domains.push_back({{"domain", domain.domain},
                       {"positive", domain.positive},
                       {"negative", domain.negative},
                       {"calibration", std::move(bins)}});
  }
  return {{"thresholds", curves.thresholds}, {"domains", std::move(domains)}};
}

Json bounds_json(double low, double high) { return {{"low", json_number(low)}, {"high", json_number(high)}}; }

/// Where the next domain is expected; see docs/trust.md.
Json next_json(const PipelineScore& score) {
  Json metrics = Json::object();
  for (const auto& [name, next] : score.next) {
    metrics[name] = nullptr;
    if (!next) continue;
    metrics[name] = bounds_json(next->reach.low, next->reach.high);
    metrics[name]["estimate"] = json_number(next->estimate);
    metrics[name]["domains"] = next->domains;
    metrics[name]["conformal"] =
        next->conformal ? bounds_json(next->conformal->low, next->conformal->high) : Json(nullptr);
  }
  return {{"level", next_domain_level},
          {"by", score.next_by == NextDomainBy::replay ? "replay" : "cheap"},
          {"metrics", std::move(metrics)}};
}

Json pipeline_json(const PipelineScore& score, const std::vector<std::string>& classes) {
  Json domains = Json::array();
  for (const auto& domain : score.domains) domains.push_back(domain_json(domain, classes));
  Json difference = Json::object();
  for (const auto& [name, interval] : score.difference) {
    difference[name] = nullptr;
    if (interval)
      difference[name] = {{"mean", json_number(interval->mean)},
                          {"low", json_number(interval->low)},
                          {"high", json_number(interval->high)},
                          {"p", json_number(interval->p)},
                          {"p_adjusted", json_number(interval->p_adjusted)}};
  }
  Json json = {{"pipeline", score.pipeline},       {"domains", std::move(domains)},
               {"mean", metrics_json(score.mean)}, {"spread", metrics_json(score.spread)},
               {"worst", worst_json(score)},       {"difference", std::move(difference)}};
  Json confidence = Json::object();
  for (const auto& [name, bounds] : score.mean_interval)
    confidence[name] = bounds ? bounds_json(bounds->low, bounds->high) : Json(nullptr);
  json["mean_interval"] = std::move(confidence);
  if (!score.next.empty()) json["next_domain"] = next_json(score);
  if (score.set_level) json["set_level"] = *score.set_level;
  if (!score.promise.empty()) json["promise"] = score.promise;
  for (const SplitChoice& choice : score.chosen)
    json["chosen"].push_back(
        {{"held_out", choice.held_out}, {"pipeline", choice.pipeline}, {"mean", json_number(choice.mean)}});
  if (!score.choice_metric.empty()) json["choice_metric"] = score.choice_metric;
  for (const SplitThreshold& split : score.thresholds)
    json["thresholds"].push_back({{"held_out", split.held_out}, {"threshold", json_number(split.threshold)}});
  if (score.known) json["known_site"] = known_json(*score.known, classes);
  if (score.importance) json["importance"] = importance_json(*score.importance);
  if (score.curves) json["curves"] = curves_json(*score.curves);
  if (score.error)
    json["error"] = {
        {"code", score.error->code()}, {"kind", kind_name(score.error->kind())}, {"message", score.error->what()}};
  return json;
}

Json forward_json(const ForwardBlocks& forward) {
  Json blocks = Json::array();
  for (const ScoredBlock& block : forward.blocks)
    blocks.push_back({{"block", block.name},
                      {"first", json_number(block.first)},
                      {"last", json_number(block.last)},
                      {"trained_rows", block.trained}});
  return {{"time", forward.time},
          {"gap", json_number(forward.gap)},
          {"window", forward.window > 0 ? json_number(forward.window) : Json()},
          {"blocks", std::move(blocks)}};
}

}  // namespace

Json to_json(const Evaluation& evaluation) {
  Json scores = Json::array();
  for (const auto& score : evaluation.pipelines) scores.push_back(pipeline_json(score, evaluation.classes));
  Json json = {{"protocol", protocol_name(evaluation.protocol)},
               {"task", task_name(evaluation.task)},
               {"classes", evaluation.classes},
               {"metrics", evaluation.metrics},
               {"reference", evaluation.reference},
               {"pipelines", std::move(scores)}};
  if (evaluation.forward) json["forward"] = forward_json(*evaluation.forward);
  if (evaluation.groups)
    json["groups"] = {{"column", evaluation.groups->column}, {"groups", evaluation.groups->groups}};
  if (!evaluation.choice_metric.empty()) json["choice_metric"] = evaluation.choice_metric;
  if (!evaluation.threshold.empty()) json["threshold"] = evaluation.threshold;
  return json;
}

}  // namespace ecotone
