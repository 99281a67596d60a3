#include "ecotone/base/json_number.h"
#include "ecotone/choose/choose.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

namespace {

Json summary_json(const ScorerSummary& summary) {
  return {{"score", json_number(summary.score)},
          {"regret", json_number(summary.regret)},
          {"gain", json_number(summary.gain)},
          {"rank_correlation", json_number(summary.rank_correlation)}};
}

Json target_json(const TargetChoice& target) {
  Json estimates = Json::array();
  for (const CandidateScore& score : target.estimates) {
    Json one = {{"estimate", json_number(score.estimate)},
                {"standard_error", json_number(score.standard_error)},
                {"gain", json_number(score.gain)},
                {"gain_standard_error", json_number(score.gain_error)},
                {"importance_gain", json_number(score.importance_gain)}};
    if (const auto& gains = score.by_domain)
      one["by_domain"] = {{"mean", gains->mean},
                          {"worst", gains->worst},
                          {"worst_domain", gains->worst_domain},
                          {"worse", gains->worse},
                          {"domains", gains->domains}};
    if (!score.error_code.empty()) one["error"] = {{"code", score.error_code}, {"message", score.error}};
    estimates.push_back(std::move(one));
  }
  Json json = {{"domain", target.domain},
               {"used", scorer_name(target.used)},
               {"chosen", target.chosen},
               {"score", json_number(target.score)},
               {"regret", json_number(target.regret)},
               {"gain", json_number(target.gain)},
               {"rank_correlation", json_number(target.rank_correlation)},
               {"estimates", std::move(estimates)}};
  if (!target.decided_by.empty()) json["decided_by"] = target.decided_by;
  if (target.overlap) json["overlap"] = target.overlap->to_json();
  return json;
}

Json scorer_json(const ScorerChoice& choice) {
  Json json = {{"scorer", scorer_name(choice.scorer)}};
  if (!choice.error_code.empty()) json["error"] = {{"code", choice.error_code}, {"message", choice.error}};
  json["mean"] = summary_json(choice.mean);
  json["targets"] = Json::array();
  for (const TargetChoice& target : choice.targets) json["targets"].push_back(target_json(target));
  return json;
}

}  // namespace

Json to_json(const Choice& choice) {
  Json truth = Json::array();
  for (const TargetTruth& target : choice.targets) {
    Json scores = Json::array();
    for (const auto& score : target.score) scores.push_back(json_number(score));
    truth.push_back({{"domain", target.domain},
                     {"rows", target.rows},
                     {"scores", std::move(scores)},
                     {"best", target.best ? Json(*target.best) : Json(nullptr)}});
  }
  Json list = Json::array();
  for (const ScorerChoice& scorer : choice.scorers) list.push_back(scorer_json(scorer));
  return {{"protocol", "adapt"},
          {"task", task_name(choice.task)},
          {"metric", choice.metric},
          {"candidates", choice.candidates},
          {"targets", std::move(truth)},
          {"best", summary_json(choice.best)},
          {"no_adaptation", summary_json(choice.reference)},
          {"scorers", std::move(list)}};
}

}  // namespace ecotone
