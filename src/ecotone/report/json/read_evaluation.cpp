#include <fmt/format.h>

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/threshold.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {
namespace {

/// What `read` makes of the fields of an object whose names are metrics of the evaluation.
template <class Read>
auto read_by_metric(const ResultField& field, const Evaluation& evaluation, Read read) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Read&, const ResultField&>>;
  std::vector<std::pair<std::string, Value>> values;
  for (const auto& [name, value] : field.members()) {
    if (std::ranges::find(evaluation.metrics, name) == evaluation.metrics.end())
      value.fail("is not one of the evaluation's metrics");
    values.emplace_back(name, std::invoke(read, value));
  }
  return values;
}

/// The same of an object that has all of them.
template <class Read>
auto read_by_every_metric(const ResultField& field, const Evaluation& evaluation, Read read) {
  auto values = read_by_metric(field, evaluation, read);
  if (values.size() != evaluation.metrics.size())
    field.fail(fmt::format("must have all {} metrics, got {}", evaluation.metrics.size(), values.size()));
  return values;
}

Metrics read_metric_values(const ResultField& field, const Evaluation& evaluation) {
  return read_by_every_metric(field, evaluation, &ResultField::optional_number);
}

std::optional<Bounds> read_bounds(const ResultField& field) {
  if (field.is_null()) return std::nullopt;
  return Bounds{field.at("low").number_or_nan(), field.at("high").number_or_nan()};
}

std::optional<WorstDomain> read_worst(const ResultField& field) {
  if (field.is_null()) return std::nullopt;
  return WorstDomain{field.at("value").number_or_nan(), field.at("domain").text()};
}

std::optional<Interval> read_interval(const ResultField& field) {
  if (field.is_null()) return std::nullopt;
  return Interval{field.at("mean").number_or_nan(), field.at("low").optional_number(),
                  field.at("high").optional_number()};
}

std::optional<Difference> read_difference(const ResultField& field) {
  const std::optional<Interval> interval = read_interval(field);
  if (!interval) return std::nullopt;
  return Difference{*interval, field.at("p").optional_number(), field.at("p_adjusted").optional_number()};
}

std::vector<double> read_prevalence(const ResultField& domain, const std::vector<std::string>& classes) {
  const ResultField field = domain.at(classes.empty() ? "label_mean" : "prevalence");
  if (field.is_null()) return {};
  if (classes.empty()) return {field.number()};
  std::vector<double> shares;
  for (const std::string& name : classes) shares.push_back(field.at(name).number());
  return shares;
}

DomainScore read_domain_score(const ResultField& field, const Evaluation& evaluation) {
  DomainScore score;
  score.domain = field.at("domain").text();
  score.rows = field.at("rows").whole();
  score.metrics = read_metric_values(field.at("metrics"), evaluation);
  score.prevalence = read_prevalence(field, evaluation.classes);
  if (const auto intervals = field.find("intervals"))
    score.intervals = read_by_metric(*intervals, evaluation, read_bounds);
  return score;
}

std::vector<DomainScore> read_domain_scores(const ResultField& field, const Evaluation& evaluation) {
  return field.each([&](const ResultField& each) { return read_domain_score(each, evaluation); });
}

/// Refuses a list whose domains are not those of the scores.
template <class Listed>
void require_scored_domains(const ResultField& field, const std::vector<Listed>& listed,
                            const std::vector<DomainScore>& scores) {
  const auto same = [](const Listed& a, const DomainScore& b) { return a.domain == b.domain; };
  if (!std::equal(listed.begin(), listed.end(), scores.begin(), scores.end(), same))
    field.fail("must have the same domains as the other scores, in the same order");
}

KnownSite read_known_site(const ResultField& field, const Evaluation& evaluation,
                          const std::vector<DomainScore>& scores) {
  KnownSite known;
  known.domains = read_domain_scores(field.at("domains"), evaluation);
  require_scored_domains(field.at("domains"), known.domains, scores);
  known.mean = read_metric_values(field.at("mean"), evaluation);
  known.cost = read_by_metric(field.at("cost"), evaluation, read_interval);
  return known;
}

std::optional<NextDomain> read_next_domain(const ResultField& field) {
  if (field.is_null()) return std::nullopt;
  return NextDomain{field.at("estimate").number_or_nan(), *read_bounds(field), read_bounds(field.at("conformal")),
                    field.at("domains").whole()};
}

CalibrationBin read_bin(const ResultField& field) {
  return {field.at("predicted").number(), field.at("observed").number(), field.at("rows").whole()};
}

ProbabilityCurves read_curves(const ResultField& field, const Evaluation& evaluation,
                              const std::vector<DomainScore>& scores) {
  if (evaluation.classes.size() != 2) field.fail("need two classes");
  ProbabilityCurves curves;
  curves.thresholds = field.at("thresholds").numbers();
  const std::size_t count = curves.thresholds.size();
  if (count == 0 || !std::ranges::is_sorted(curves.thresholds))
    field.at("thresholds").fail("must be ascending numbers");
  curves.domains = field.at("domains").each([&](const ResultField& each) {
    return DomainCurves{each.at("domain").text(), each.at("positive").sized(count).numbers(),
                        each.at("negative").sized(count).numbers(), each.at("calibration").each(read_bin)};
  });
  require_scored_domains(field.at("domains"), curves.domains, scores);
  return curves;
}

Importances read_importance(const ResultField& field) {
  Importances importance;
  importance.metric = field.at("metric").metric();
  importance.splits = field.at("splits").texts();
  importance.further_columns = field.at("further_columns").whole();
  importance.columns = field.at("columns").each([&](const ResultField& each) {
    ColumnImportance column;
    column.column = each.at("column").text();
    column.splits = each.at("splits").sized(importance.splits.size()).each([](const ResultField& value) {
      return value.optional_number();
    });
    column.mean = each.at("mean").optional_number();
    column.spread = each.at("spread").optional_number();
    return column;
  });
  return importance;
}

SplitChoice read_split_choice(const ResultField& field) {
  return {field.at("held_out").text(), field.at("pipeline").text(), field.at("mean").number_or_nan()};
}

SplitThreshold read_split_threshold(const ResultField& field) {
  return {field.at("held_out").text(), field.at("threshold").optional_number()};
}

Error read_fit_error(const ResultField& field) {
  return {
      field.at("kind").choice(
          {ErrorKind::option, ErrorKind::data, ErrorKind::file, ErrorKind::cancelled, ErrorKind::internal}, kind_name),
      field.at("code").text(), field.at("message").text()};
}

PipelineScore read_pipeline_score(const ResultField& field, const Evaluation& evaluation) {
  PipelineScore score;
  score.pipeline = field.at("pipeline").text();
  score.domains = read_domain_scores(field.at("domains"), evaluation);
  if (score.domains.empty()) field.at("domains").fail("must not be empty");
  score.mean = read_metric_values(field.at("mean"), evaluation);
  score.spread = read_metric_values(field.at("spread"), evaluation);
  score.worst = read_by_every_metric(field.at("worst"), evaluation, read_worst);
  score.difference = read_by_metric(field.at("difference"), evaluation, read_difference);
  if (const auto bounds = field.find("mean_interval"))
    score.mean_interval = read_by_metric(*bounds, evaluation, read_bounds);
  if (const auto next = field.find("next_domain")) {
    score.next_by = next->at("by").word({"replay", "cheap"}) == 0 ? NextDomainBy::replay : NextDomainBy::cheap;
    score.next = read_by_metric(next->at("metrics"), evaluation, read_next_domain);
  }
  if (const auto level = field.find("set_level")) score.set_level = level->number();
  if (const auto promise = field.find("promise")) score.promise = promise->text();
  if (const auto chosen = field.find("chosen")) score.chosen = chosen->each(read_split_choice);
  if (const auto metric = field.find("choice_metric")) score.choice_metric = metric->metric();
  if (const auto thresholds = field.find("thresholds")) score.thresholds = thresholds->each(read_split_threshold);
  if (const auto known = field.find("known_site")) score.known = read_known_site(*known, evaluation, score.domains);
  if (const auto importance = field.find("importance")) score.importance = read_importance(*importance);
  if (const auto curves = field.find("curves")) score.curves = read_curves(*curves, evaluation, score.domains);
  if (const auto error = field.find("error")) score.error = read_fit_error(*error);
  return score;
}

std::vector<PipelineScore> read_pipeline_scores(const ResultField& field, const Evaluation& evaluation) {
  std::vector<PipelineScore> scores;
  for (const ResultField& each : field.items()) {
    scores.push_back(read_pipeline_score(each, evaluation));
    require_scored_domains(each.at("domains"), scores.back().domains, scores.front().domains);
  }
  if (scores.empty()) field.fail("must not be empty");
  return scores;
}

/// The metrics of an evaluation, each once.
std::vector<std::string> read_scored_metrics(const ResultField& field, Task task) {
  std::vector<std::string> names;
  for (const ResultField& each : field.items()) {
    const std::string name = each.metric();
    if (find_metric(name)->task != task) each.refuse(fmt::format("must be a metric of the task {}", task_name(task)));
    if (std::ranges::find(names, name) != names.end()) each.fail("is there twice");
    names.push_back(name);
  }
  if (names.empty()) field.fail("must not be empty");
  return names;
}

ScoredBlock read_scored_block(const ResultField& field) {
  return {field.at("block").text(), field.at("first").number_or_nan(), field.at("last").number_or_nan(),
          field.at("trained_rows").whole()};
}

ForwardBlocks read_forward(const ResultField& field) {
  return {field.at("time").text(), field.at("gap").number(), field.at("window").optional_number().value_or(0),
          field.at("blocks").each(read_scored_block)};
}

/// A rule of which evaluate takes two classes.
std::string read_threshold_rule(const ResultField& field, const std::vector<std::string>& classes) {
  std::string rule = field.text();
  if (classes.size() != 2) field.fail("needs two classes");
  try {
    ThresholdRule::parse(rule);
  } catch (const Error&) {
    field.refuse("must be a rule for thresholds");
  }
  return rule;
}

}  // namespace

Evaluation evaluation_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Evaluation evaluation;
  evaluation.protocol = field.at("protocol")
                            .choice({Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split,
                                     Protocol::k_fold, Protocol::named_domains, Protocol::forward},
                                    protocol_name);
  evaluation.task = field.at("task").choice({Task::classify, Task::regress}, task_name);
  evaluation.classes = field.at("classes").texts();
  if (evaluation.task == Task::regress) field.at("classes").sized(0);
  evaluation.metrics = read_scored_metrics(field.at("metrics"), evaluation.task);
  evaluation.pipelines = read_pipeline_scores(field.at("pipelines"), evaluation);
  evaluation.reference = field.at("reference").place(evaluation.pipelines.size());
  if (const auto forward = field.find("forward")) evaluation.forward = read_forward(*forward);
  if (const auto groups = field.find("groups"))
    evaluation.groups = KeptGroups{groups->at("column").text(), groups->at("groups").whole()};
  if (const auto metric = field.find("choice_metric")) evaluation.choice_metric = metric->metric();
  if (const auto rule = field.find("threshold")) evaluation.threshold = read_threshold_rule(*rule, evaluation.classes);
  return evaluation;
}

}  // namespace ecotone
