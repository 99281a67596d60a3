#include <functional>
#include <numeric>

#include "ecotone/choose/selection.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/diagnose/diagnose.h"
#include "ecotone/diagnose/population.h"
#include "ecotone/evaluate/columns/column_effects.h"
#include "ecotone/evaluate/known_site.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/label/simulate.h"
#include "ecotone/report/html/html.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/text/text.h"
#include "ecotone/reproduce/experiment.h"
#include "evaluate/support.h"
#include "report/html/balance.h"
#include "report/simulation_support.h"

/// Results survive the way through their documents, and damaged documents are refused.
namespace ecotone::test {
namespace json_read_test {

using testing::HasSubstr;
using testing::StartsWith;

template <class Result>
using Reader = Result (*)(const Json&, const std::string&);

/// A result in words.
template <class Result>
using Table = std::function<std::string(const Result&)>;

template <class Result>
void expect_round_trip(const Result& result, Reader<Result> read, const Table<Result>& table = {}) {
  const Json json = to_json(result);
  const Result again = read(json, "saved.json");
  EXPECT_EQ(to_json(again), json);
  if (table) {
    EXPECT_EQ(table(again), table(result));
  }
  // In a file numbers are digits.
  const std::string text = json.dump();
  EXPECT_EQ(to_json(read(Json::parse(text), "saved.json")).dump(), text);
}

const std::vector<Json>& wrong_values() {
  static const std::vector<Json> values = {nullptr, "text",        0.5,           -3, 1e300, 4'000'000'000'000'000,
                                           true,    Json::array(), Json::object()};
  return values;
}

/// Calls `check` with every field of the document below `node` left out and replaced in turn; of lists the first and
/// the last entry.
void damage(Json& node, const std::string& path, const std::function<void(const std::string&)>& check) {
  const auto damage_child = [&](const auto& key, const std::string& name) {
    const Json kept = node;
    node.erase(key);
    check(name + " left out");
    node = kept;
    for (const Json& wrong : wrong_values()) {
      node[key] = wrong;
      check(name + " = " + wrong.dump());
    }
    node = kept;
    damage(node[key], name, check);
  };
  if (node.is_object()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : node.items()) names.push_back(name);
    for (const std::string& name : names) damage_child(name, path + "." + name);
  } else if (node.is_array() && !node.empty()) {
    const std::size_t last = node.size() - 1;
    if (last > 0) damage_child(std::size_t{0}, path + "[0]");
    damage_child(last, fmt::format("{}[{}]", path, last));
  }
}

/// A damaged document gives a result that can be shown, or the one error.
template <class Result>
void expect_refused_or_shown(const Result& result, Reader<Result> read, const Table<Result>& table) {
  Json json = to_json(result);
  const auto check = [&](const std::string& what) {
    try {
      const Result found = read(json, "saved.json");
      (void)to_json(found).dump();
      (void)table(found);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "bad_result") << what << ": " << error.what();
      EXPECT_EQ(error.kind(), ErrorKind::file) << what;
      EXPECT_THAT(error.what(), StartsWith("saved.json: ")) << what;
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
  };
  damage(json, "", check);
  for (const Json& wrong : wrong_values()) {
    json = wrong;
    check("the document = " + wrong.dump());
  }
}

std::string evaluation_words(const Evaluation& evaluation) {
  std::string text;
  for (const std::string& metric : evaluation.metrics) text += evaluation_table(evaluation, metric);
  return text;
}
std::string diagnosis_words(const Diagnosis& diagnosis) { return diagnosis_text(diagnosis, 100); }

/// The page of a report that has this part alone.
template <class Place, class Part>
std::string page_with(Place Report::*place, const Part& part) {
  Report report;
  report.*place = part;
  return html_report(report);
}
std::string population_page(const Population& part) { return page_with(&Report::population, part); }
std::string diagnosis_page(const Diagnosis& part) { return page_with(&Report::diagnosis, part); }
std::string projections_page(const Projections& part) { return page_with(&Report::projections, part); }
std::string figures_page(const Figures& part) {
  Reproduction reproduction;
  reproduction.figures = part;
  return page_with(&Report::reproductions, std::vector{reproduction});
}
std::string evaluation_page(const Evaluation& evaluation) { return html_report(evaluation, ""); }
std::vector<PipelineGrid> grids_of(const std::vector<std::string>& texts) {
  std::vector<PipelineGrid> grids;
  for (const std::string& text : texts) grids.push_back(PipelineGrid::parse(text));
  return grids;
}

/// Quick to compute: few resamples.
EvaluateOptions few_resamples(Protocol protocol) {
  EvaluateOptions options = with(protocol);
  options.resamples = 20;
  options.folds = 3;
  options.blocks = 3;
  return options;
}

TEST(JsonRead, EvaluationWithAGridAFailureKnownSitesAndCurves) {
  const Dataset data = tiny(3, 24);
  // step penalty=variance needs five domains.
  const auto grids = grids_of({"step penalty=variance", "constant", "scale | logistic l2={0.1,1}"});
  EvaluateOptions options = few_resamples(Protocol::leave_one_domain_out);
  options.curves = true;
  Evaluation evaluation = evaluate_grids(data, grids, options, on(2));
  const Evaluation k_fold = evaluate_grids(data, grids, few_resamples(Protocol::k_fold), on(2));
  add_known_site(evaluation, k_fold);
  ASSERT_TRUE(evaluation.pipelines[0].error);
  ASSERT_TRUE(evaluation.pipelines[2].known && evaluation.pipelines[2].curves);
  ASSERT_EQ(evaluation.pipelines[2].chosen.size(), 3U);
  expect_round_trip<Evaluation>(evaluation, evaluation_from_json, evaluation_words);
  expect_round_trip<Evaluation>(k_fold, evaluation_from_json, evaluation_words);
  const Evaluation again = evaluation_from_json(to_json(evaluation), "saved.json");
  EXPECT_EQ(again.pipelines[0].error->kind(), ErrorKind::data);
  EXPECT_EQ(again.pipelines[2].curves->domains[1].bins.size(), evaluation.pipelines[2].curves->domains[1].bins.size());
}

TEST(JsonRead, EvaluationWithAThreshold) {
  EvaluateOptions options = few_resamples(Protocol::leave_one_domain_out);
  options.threshold = "sensitivity=0.9";
  const Evaluation evaluation =
      evaluate(tiny(3, 24), pipelines({"constant", "scale | logistic l2=0.1"}), options, on(2));
  ASSERT_EQ(evaluation.pipelines[1].thresholds.size(), 3U);
  expect_round_trip<Evaluation>(evaluation, evaluation_from_json, evaluation_words);
}

TEST(JsonRead, EvaluationOverTimeWithGroups) {
  Dataset data = tiny(2, 30, 3);
  data.schema.time = "day";
  data.schema.group = "patient";
  data.time.resize(data.rows());
  for (Index i = 0; i < data.rows(); ++i) {
    data.time[i] = static_cast<double>(i);
    data.group.push_back(static_cast<std::int32_t>(i / 2));
  }
  EvaluateOptions options = few_resamples(Protocol::forward);
  options.gap = 2;
  const auto both = pipelines({"constant", "scale | logistic l2=0.1"});
  Evaluation evaluation = evaluate(data, both, options, on(2));
  ASSERT_TRUE(evaluation.forward && evaluation.groups);
  expect_round_trip<Evaluation>(evaluation, evaluation_from_json, evaluation_words);
  options.window = 15;
  expect_round_trip<Evaluation>(evaluate(data, both, options, on(2)), evaluation_from_json, evaluation_words);
}

TEST(JsonRead, EvaluationOfNumbers) {
  const Evaluation evaluation =
      evaluate(tiny_regression(3, 20), pipelines({"constant", "scale | least_squares l2=0.1"}),
               few_resamples(Protocol::leave_one_domain_out), on(2));
  expect_round_trip<Evaluation>(evaluation, evaluation_from_json, evaluation_words);
}

DomainScore made_up_domain(const std::string& name, double auroc) {
  DomainScore domain;
  domain.domain = name;
  domain.rows = 120;
  domain.metrics = {{"auroc", auroc}, {"f1", std::nullopt}};
  domain.prevalence = {0.75, 0.25};
  domain.intervals = {{"auroc", Bounds{auroc - 0.1, auroc + 0.1}}, {"f1", std::nullopt}};
  return domain;
}

PipelineScore made_up_pipeline(const std::string& text, double auroc) {
  PipelineScore score;
  score.pipeline = text;
  score.domains = {made_up_domain("Basel", auroc), made_up_domain("Turin", auroc + 0.05)};
  score.mean = {{"auroc", auroc + 0.025}, {"f1", std::nullopt}};
  score.spread = {{"auroc", 0.035}, {"f1", std::nullopt}};
  score.worst = {{"auroc", WorstDomain{auroc, "Basel"}}, {"f1", std::nullopt}};
  return score;
}

/// Small, and with everything that an evaluation may have.
Evaluation made_up_evaluation() {
  Evaluation evaluation;
  evaluation.protocol = Protocol::forward;
  evaluation.metrics = {"auroc", "f1"};
  evaluation.classes = {"no", "yes"};
  evaluation.pipelines = {made_up_pipeline("constant", 0.5), made_up_pipeline("logistic l2={1,2}", 0.8)};
  evaluation.pipelines[0].error = Error(ErrorKind::option, "bad_option", "constant: no");
  PipelineScore& second = evaluation.pipelines[1];
  evaluation.reference = 1;
  second.difference = {{"auroc", Difference{{0.3, 0.1, 0.5}, 0.01, 0.02}}, {"f1", std::nullopt}};
  second.chosen = {{"Basel", "logistic l2=1", 0.6}, {"Turin", "logistic l2=2", 0.5}};
  second.choice_metric = "log_loss";
  second.thresholds = {{"Basel", 0.4}, {"Turin", std::nullopt}};
  second.known = KnownSite{second.domains, second.mean, {{"auroc", Interval{-0.1, -0.2, 0.0}}, {"f1", std::nullopt}}};
  const CalibrationBin bin{0.2, 0.25, 60};
  second.curves = ProbabilityCurves{{0, 0.5}, {{"Basel", {30, 20}, {90, 10}, {bin}}, {"Turin", {30, 25}, {90, 5}, {}}}};
  evaluation.choice_metric = "log_loss";
  evaluation.threshold = "youden";
  evaluation.forward = ForwardBlocks{"day", 1, 30, {{"Basel", 10, 19.5, 100}, {"Turin", 20, 29, 200}}};
  evaluation.groups = KeptGroups{"patient", 70};
  return evaluation;
}

TEST(JsonRead, DamagedEvaluationsAreRefused) {
  const Evaluation evaluation = made_up_evaluation();
  expect_round_trip<Evaluation>(evaluation, evaluation_from_json, evaluation_words);
  expect_refused_or_shown<Evaluation>(evaluation, evaluation_from_json, evaluation_words);
}

TEST(JsonRead, DamagedEvaluationsAreRefusedOrMakeAPage) {
  expect_refused_or_shown<Evaluation>(made_up_evaluation(), evaluation_from_json, evaluation_page);
}

TEST(JsonRead, DamagedPartsOfAPageAreRefusedOrShown) {
  Figures figures;
  figures.charts = {{"chart", "a chart", "x", "y", {{"line", {0.5, 0.25}, true}}, {1, 3}, true, -1, 0.5}};
  figures.scatters = {{"scatter", "points", "x", "y", {{"a", Matrix{{1, 2}, {3, 4}}, {0.5, 1}}}, {{"s", 0, 0, 1, 1}}}};
  figures.dots = {{"dots", "scores", "y", {"a", "b"}, {{"s", {1, 2}, {0.1, 0.2}}}}};
  RegionMap map;
  map.name = "map";
  map.score = Matrix{{1, -1}, {-1, 1}};
  map.points = Matrix{{0.5, 0.5}};
  map.classes = {1};
  figures.maps = {map};
  expect_round_trip<Figures>(figures, figures_from_json, figures_page);
  expect_refused_or_shown<Figures>(figures, figures_from_json, figures_page);
  const Projections projections{{"a", "b"}, {"no", "yes"}, {0, 1}, {1, 0}, {{"kpca", {1, 2}, {3, 4}}}};
  expect_refused_or_shown<Projections>(projections, projections_from_json, projections_page);
  WholeModel whole{"logistic", {"no", "yes"}, {{"x", 1, 2}}, {{"error", {0.5, 0.25}}}, {}};
  whole.regions = DecisionRegions{"x", "z", 0, 1, 0, 1, {{0, 1}, {1, 1}}, {0.5}, {0.5}, {1}};
  const Evaluation evaluation = made_up_evaluation();
  const auto page = [&](const WholeModel& inside) {
    Report report;
    report.evaluation = evaluation;
    report.whole = inside;
    return html_report(report);
  };
  expect_refused_or_shown<WholeModel>(whole, whole_model_from_json, page);
}

TEST(JsonRead, FiguresOfEarlierVersionsAreReadAndOddOnesRefused) {
  Figures figures;
  figures.charts = {{"chart", "a chart", "x", "y", {{"line", {0.5, 0.25}}}}};
  figures.scatters = {{"scatter", "points", "x", "y", {{"a", Matrix{{1, 2}, {3, 4}}}}}};
  figures.dots = {{"dots", "scores", "y", {"a", "b"}, {{"s", {1, 2}}}}};
  const Json json = to_json(figures);
  Json earlier = json;
  for (const char* name : {"x", "logarithmic", "bottom", "level"}) earlier["charts"][0].erase(name);
  earlier["charts"][0]["lines"][0].erase("dashed");
  EXPECT_EQ(to_json(figures_from_json(earlier, "saved.json")), json);
  for (const char* name : {"scatters", "dots"}) earlier.erase(name);
  EXPECT_EQ(to_json(figures_from_json(earlier, "saved.json"))["charts"], json["charts"]);
  const auto refusal = [&](const std::function<void(Json&)>& change) {
    Json changed = json;
    change(changed);
    return std::string(error_of([&] { figures_from_json(changed, "saved.json"); }).what());
  };
  EXPECT_EQ(refusal([](Json& one) { one["charts"][0]["x"] = {2, 1}; }), "saved.json: charts[0].x must rise");
  EXPECT_THAT(refusal([](Json& one) { one["charts"][0]["x"] = {0, 1}; }), HasSubstr("charts[0].x must be above 0"));
  EXPECT_THAT(refusal([](Json& one) { one["charts"][0]["x"] = {1}; }), HasSubstr("lines must not be longer than x"));
  EXPECT_EQ(refusal([](Json& one) { one["scatters"][0]["groups"][0]["y"] = {1}; }),
            "saved.json: scatters[0].groups[0].y must have 2 entries, got 1");
  EXPECT_THAT(refusal([](Json& one) { one["scatters"][0]["groups"][0]["value"] = {1}; }), HasSubstr("groups[0].value"));
  EXPECT_THAT(refusal([](Json& one) { one["dots"][0]["series"][0]["values"] = {1}; }), HasSubstr("series[0].values"));
  EXPECT_THAT(refusal([](Json& one) { one["dots"][0]["series"][0]["spread"] = {1}; }), HasSubstr("series[0].spread"));
}

/// The message for a document of the made-up evaluation that `change` has changed.
std::string refusal(const std::function<void(Json&)>& change) {
  Json json = to_json(made_up_evaluation());
  change(json);
  const Error error = error_of([&] { evaluation_from_json(json, "results.json"); });
  EXPECT_EQ(error.code(), "bad_result");
  return error.what();
}

TEST(JsonRead, MessagesNameTheFileTheFieldAndTheValue) {
  EXPECT_THAT(refusal([](Json& json) { json["pipelines"][1]["domains"][0]["rows"] = "many"; }),
              StartsWith("results.json: pipelines[1].domains[0].rows must be a whole number"));
  EXPECT_EQ(refusal([](Json& json) { json.erase("task"); }), "results.json: task is missing");
  EXPECT_EQ(refusal([](Json& json) { json["task"] = "rank"; }),
            "results.json: task must be one of classify, regress, got 'rank'");
  EXPECT_EQ(refusal([](Json& json) { json["metrics"][1] = "luck"; }),
            "results.json: metrics[1] must be the name of a metric, got 'luck'");
  EXPECT_EQ(refusal([](Json& json) { json["reference"] = 2; }),
            "results.json: reference must be a position in a list of 2, got 2");
  EXPECT_EQ(refusal([](Json& json) { json["pipelines"][1]["curves"]["domains"][0]["positive"].push_back(1); }),
            "results.json: pipelines[1].curves.domains[0].positive must have 2 entries, got 3");
  EXPECT_EQ(refusal([](Json& json) { json["pipelines"][0]["mean"]["rmse"] = 1; }),
            "results.json: pipelines[0].mean.rmse is not one of the evaluation's metrics");
  EXPECT_THAT(refusal([](Json& json) { json["pipelines"][1]["domains"].erase(1); }), HasSubstr("domains"));
  EXPECT_EQ(refusal([](Json& json) { json["threshold"] = "coin"; }),
            "results.json: threshold must be a rule for thresholds, got 'coin'");
  EXPECT_EQ(refusal([](Json& json) { json = Json::array(); }),
            "results.json: the document must be an object, got a list");
}

TEST(JsonRead, Tuning) {
  const Context context = on(2);
  const auto points = search_points({"scale | logistic l2={0.1,1}", "step penalty=variance"}, {}, context);
  const Tuning tuning = tune(tiny(4, 20), points, {}, context);
  ASSERT_FALSE(tuning.points.back().error.empty());
  expect_round_trip<Tuning>(tuning, tuning_from_json, tuning_table);
  expect_refused_or_shown<Tuning>(tuning, tuning_from_json, tuning_table);
  const Tuning rows =
      tune(tiny_regression(1, 30), search_points({"least_squares l2={0.1,1}"}, {}, context), {}, context);
  ASSERT_FALSE(rows.by_domain);
  expect_round_trip<Tuning>(rows, tuning_from_json, tuning_table);
}

std::string effects_words(const ColumnEffects& effects) {
  return column_effects_text(effects, 100) + page_with(&Report::effects, effects);
}

TEST(JsonRead, ColumnEffects) {
  const Context context = on(2);
  for (const Index classes : {2, 3}) {
    Dataset data = tiny(3, 20, classes);
    const Model model = Model::fit(Pipeline::parse("svm C=1"), train_view(data, context), data.schema, context);
    const ColumnEffects effects = column_effects(model, data, {.repeats = 2}, context);
    expect_round_trip<ColumnEffects>(effects, column_effects_from_json, effects_words);
    if (classes == 2) expect_refused_or_shown<ColumnEffects>(effects, column_effects_from_json, effects_words);
    data.y.reset();
    expect_round_trip<ColumnEffects>(column_effects(model, data, {}, context), column_effects_from_json, effects_words);
  }
}

TEST(JsonRead, ColumnEffectsOfTreesHaveTheirGains) {
  const Context context = on(2);
  const Dataset data = tiny(3, 40, 2);
  const Model model = Model::fit(Pipeline::parse("trees rounds=3 leaves=4 min_rows=3 lam=0"), train_view(data, context),
                                 data.schema, context);
  const ColumnEffects effects = column_effects(model, data, {.repeats = 2}, context);
  ASSERT_TRUE(effects.gains);
  ASSERT_EQ(effects.gains->domains.size(), 3U);
  EXPECT_GT(effects.gains->columns.front().all, 0);
  for (const SplitGains::Gain& gain : effects.gains->columns)
    EXPECT_NEAR(std::accumulate(gain.of_domain.begin(), gain.of_domain.end(), 0.0), gain.all, 1e-6);
  expect_round_trip<ColumnEffects>(effects, column_effects_from_json, effects_words);
  expect_refused_or_shown<ColumnEffects>(effects, column_effects_from_json, effects_words);
}

TEST(JsonRead, Diagnosis) {
  const DiagnoseOptions quick{.permutations = 9, .sample = 20, .targets = {}};
  Diagnosis small = diagnose(tiny(3, 12), quick, on(2));
  small.map = {{"site0", 0.1, 0.2}, {"site1", -0.1, 0}, {"site2", 0, -0.2}};
  small.map_share = 0.9;
  small.missing = {{"a", {0, 0.25, 0.5}, 0.5}};
  small.missing_values = 9;
  small.against_rest[0].features[0].remark = "another unit?";
  expect_round_trip<Diagnosis>(small, diagnosis_from_json, diagnosis_words);
  expect_refused_or_shown<Diagnosis>(small, diagnosis_from_json, diagnosis_words);
  expect_refused_or_shown<Diagnosis>(small, diagnosis_from_json, diagnosis_page);
  const Dataset clinics = generate("clinics", {{"size", "0.1"}}, on(2, 1));
  const Diagnosis some = diagnose(clinics, {.permutations = 9, .sample = 20, .targets = {"Eastholm"}}, on(2));
  ASSERT_GT(some.missing_values, 0);
  expect_round_trip<Diagnosis>(some, diagnosis_from_json, diagnosis_words);
  expect_round_trip<Diagnosis>(diagnose(tiny_regression(2, 12), quick, on(2)), diagnosis_from_json, diagnosis_words);
  Dataset without_labels = tiny(2, 12);
  without_labels.y.reset();
  Diagnosis bare = diagnose(without_labels, quick, on(2));
  bare.pipeline = "scale";
  expect_round_trip<Diagnosis>(bare, diagnosis_from_json, diagnosis_words);
  bare.pairs[0].mmd2_error = 0.01;
  bare.pairs[0].block_p = 0.2;
  expect_round_trip<Diagnosis>(bare, diagnosis_from_json, diagnosis_words);
}

TEST(JsonRead, Population) {
  const Dataset clinics = generate("clinics", {{"size", "0.1"}}, on(2, 1));
  expect_round_trip<Population>(population_of(clinics, on(2)), population_from_json);
  expect_round_trip<Population>(population_of(tiny_regression(3, 10), on(2)), population_from_json);
  Dataset dates = tiny(3, 10);
  dates.schema.columns[1].kind = ColumnKind::date;
  for (const Index row : dates.domain.rows_of(2)) dates.y->index[at(row)] = -1;  // no label
  Population population = population_of(dates, on(2));
  ColumnSummary colour{"colour", ColumnKind::categorical, {"red", "blue"}, {}, {}};
  colour.of_all.share = {0.5, 0.25};
  colour.of_domain.assign(3, colour.of_all);
  population.columns.push_back(colour);
  expect_round_trip<Population>(population, population_from_json);
  const Population again = population_from_json(to_json(population), "saved.json");
  EXPECT_EQ(again.columns[1].kind, ColumnKind::date);
  EXPECT_TRUE(again.class_share[2].empty());
  expect_refused_or_shown<Population>(population, population_from_json, population_page);
}

Reproduction made_up_reproduction() {
  Reproduction reproduction;
  reproduction.paper = "habrard2012";
  reproduction.item = "1";
  reproduction.title = "Errors";
  reproduction.metric = "error in percent";
  reproduction.source = "table 1";
  ReproducedRow row;
  row.row = "SVM";
  row.column = "20";
  row.published = 10.3;
  row.published_spread = 0.8;
  row.margin = 1;
  row.from = "the text";
  row.ours = 10.1;
  row.spread = 0.5;
  row.se = 0.1;
  row.repetitions = 10;
  row.verdict = verdict(row);
  ReproducedRow alone;
  alone.row = "vote";
  alone.column = "20";
  alone.ours = 3;
  alone.repetitions = 1;
  reproduction.rows = {row, alone};
  ReproducedClaim claim;
  claim.claim.text = "few errors";
  claim.claim.row = "vote";
  claim.claim.column = "20";
  claim.claim.at_most = 5;
  claim.ours = 3;
  claim.holds = true;
  reproduction.claims = {claim};
  claim.claim.at_most.reset();
  claim.claim.at_least = 7;
  claim.claim.minus = "SVM";
  claim.claim.errors = 2;
  reproduction.claims.push_back(claim);
  reproduction.left_out = {"the other half"};
  reproduction.processor = "ties";
  reproduction.trimmed = 1;
  return reproduction;
}

TEST(JsonRead, Reproduction) {
  Reproduction reproduction = made_up_reproduction();
  expect_round_trip<Reproduction>(reproduction, reproduction_from_json, reproduction_table);
  expect_refused_or_shown<Reproduction>(reproduction, reproduction_from_json, reproduction_table);
  reproduction.earlier = true;
  expect_round_trip<Reproduction>(reproduction, reproduction_from_json, reproduction_table);
  reproduction.matrix = true;
  reproduction.rows = {reproduction.rows[1]};
  reproduction.claims.clear();
  expect_round_trip<Reproduction>(reproduction, reproduction_from_json, reproduction_table);
  reproduction.rows.clear();
  expect_round_trip<Reproduction>(reproduction, reproduction_from_json, reproduction_table);
}

FeatureSelection selected(const std::string& pipeline, const Dataset& data, const SelectOptions& options = {}) {
  return select_features(Pipeline::parse(pipeline), data, options, on(2));
}

TEST(JsonRead, GreedySelections) {
  const Dataset data = tiny(5, 30);
  for (const char* pipeline :
       {"scale | tgreedy steps=3 stop=lodo", "greedy steps=4", "tgreedy steps=2 mode=ortho", "tgreedy stop=theorem1",
        "greedy steps=3 mode=stepwise nonnegative=true intercept=true"}) {
    SCOPED_TRACE(pipeline);
    expect_round_trip<FeatureSelection>(selected(pipeline, data), selection_from_json, selection_text);
  }
  expect_round_trip<FeatureSelection>(selected("greedy steps=2", tiny_regression(3, 20)), selection_from_json,
                                      selection_text);
  expect_round_trip<FeatureSelection>(selected("greedy steps=2", data, {.held_out = false}), selection_from_json,
                                      selection_text);
  const FeatureSelection found = selected("tgreedy steps=3 stop=lodo mode=ortho", data);
  const FeatureSelection again = selection_from_json(to_json(found), "saved.json");
  EXPECT_EQ(std::get<GreedySelection>(again.found).rule, PathRule::tgreedy);
  EXPECT_EQ(std::get<GreedySelection>(again.found).options.mode, PathMode::ortho);
  EXPECT_EQ(again.path().weights, found.path().weights);
  EXPECT_EQ(again.path().support, found.path().support);
  expect_refused_or_shown<FeatureSelection>(found, selection_from_json, selection_text);
}

TEST(JsonRead, StepSelections) {
  const Dataset data = tiny(5, 30);
  for (const char* pipeline : {"scale | step", "step lam=0.1 size=1", "step score=auroc rule=best penalty=auto"}) {
    SCOPED_TRACE(pipeline);
    expect_round_trip<FeatureSelection>(selected(pipeline, data), selection_from_json, selection_text);
  }
  const FeatureSelection by_rows = selected("step", tiny(1, 60));
  ASSERT_TRUE(std::get<StepSelection>(by_rows.found).by_rows);
  expect_round_trip<FeatureSelection>(by_rows, selection_from_json, selection_text);
  expect_round_trip<FeatureSelection>(selected("step", tiny_regression(3, 20)), selection_from_json, selection_text);
  expect_round_trip<FeatureSelection>(selected("step size=2", data, {.held_out = false}), selection_from_json,
                                      selection_text);
  expect_refused_or_shown<FeatureSelection>(selected("step size=2", data), selection_from_json, selection_text);
}

TEST(JsonRead, SelectionsOfSeveralClasses) {
  const Dataset data = tiny(3, 40, 3);
  for (const char* pipeline : {"tgreedy steps=2", "scale | step", "greedy stop=lodo"}) {
    SCOPED_TRACE(pipeline);
    const FeatureSelection found = selected(pipeline, data);
    ASSERT_EQ(found.of_class.size(), 3U);
    expect_round_trip<FeatureSelection>(found, selection_from_json, selection_text);
    const std::string page = page_with(&Report::selection, found);
    EXPECT_EQ(page_with(&Report::selection, selection_from_json(to_json(found), "saved.json")), page);
    for (const char* heading : {"<h3>c0 against the rest</h3>", "<h3>c1 against the rest</h3>", "The paths"})
      EXPECT_THAT(page, HasSubstr(heading));
    EXPECT_EQ(balance_error(without_scripts(page)), "");
  }
  expect_refused_or_shown<FeatureSelection>(selected("greedy steps=2", data, {.held_out = false}), selection_from_json,
                                            selection_text);
}

TEST(JsonRead, Simulation) {
  const LabelSimulation made_up = simulated_labelling();
  expect_round_trip<LabelSimulation>(made_up, simulation_from_json, simulation_text);
  expect_refused_or_shown<LabelSimulation>(made_up, simulation_from_json, simulation_text);
  const Dataset data = generate("three_classes", {{"pool", "100"}, {"test", "0"}}, on(2));
  SimulateOptions options;
  options.budget = 20;
  options.repeat = 2;
  options.audit = 4;
  const LabelSimulation simulation =
      simulate_labelling(data, Pipeline::parse("logistic l2=0.01"), {}, options, on(2, 18'000'000'000'000'000'000U));
  expect_round_trip<LabelSimulation>(simulation, simulation_from_json, simulation_text);
}

}  // namespace json_read_test
}  // namespace ecotone::test
