#include "ecotone/trust/expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "ecotone/measure/confidence_threshold.h"
#include "ecotone/measure/expected_metrics.h"
#include "ecotone/measure/weights.h"
#include "ecotone/report/html/panels.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/text/text.h"
#include "golden_json.h"
#include "methods/hospital_draws.h"
#include "methods/support.h"

namespace ecotone::test {
namespace expect_test {

const Pipeline& logistic() {
  static const Pipeline pipeline = Pipeline::parse("scale | logistic l2=0.1");
  return pipeline;
}

Dataset with_target(Dataset data, const std::string& name) {
  set_targets(data, {name});
  return data;
}

const EstimatedValue& value_of_metric(const Expectation& found, const std::string& metric, Estimator estimator) {
  for (const ExpectedMetric& each : found.metrics)
    if (each.metric == metric)
      for (const EstimatedValue& value : each.estimators)
        if (value.estimator == estimator) return value;
  throw std::runtime_error("no " + metric);
}

double true_accuracy(const Dataset& data, const Model& model, const std::string& domain) {
  const Index d = std::ranges::find(data.domain.names, domain) - data.domain.names.begin();
  const std::vector<Index> rows = data.domain.rows_of(d);
  const Prediction p = model.predict(batch(data, rows), context());
  double right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) right += p.index[i] == data.y->index[at(rows[i])];
  return right / static_cast<double>(rows.size());
}

TEST(Estimators, GoldenThreshold) {
  const GoldenTasks golden("trust", "07_accuracy");
  for (const Json& task : golden.of("atc")) {
    const auto weights = task.contains("weights") ? numbers_of(task["weights"]) : std::vector<double>{};
    const ConfidenceThreshold found =
        confidence_threshold(numbers_of(task["score_source"]), numbers_of(task["correct"]), weights);
    golden.expect(task, "threshold", found.threshold);
    golden.expect(task, "share_at", found.share_at);
    golden.expect(task, "accuracy", found.accuracy(numbers_of(task["score_target"])));
  }
}

/// Rows of one domain, so that domain-equal weights are equal.
SourceRows rows_of_task(const Json& task) {
  SourceRows rows;
  rows.domains = {"all"};
  rows.unseen.probability = matrix_of(task["probability"]);
  rows.unseen.label = indices_of(task["label"]);
  rows.unseen.domains = 1;
  rows.unseen.domain.assign(rows.unseen.label.size(), 0);
  rows.unseen.weight.assign(rows.unseen.label.size(), 1);
  rows.unseen.predicted = rows.unseen.label;
  return rows;
}

std::vector<std::int32_t> largest_of(const Matrix& probability) {
  std::vector<std::int32_t> classes;
  for (Index i = 0; i < probability.rows(); ++i) {
    Index best = 0;
    probability.row(i).maxCoeff(&best);
    classes.push_back(static_cast<std::int32_t>(best));
  }
  return classes;
}

TEST(Estimators, GoldenCalibration) {
  const GoldenTasks golden("trust", "07_accuracy");
  for (const std::string op : {"cbpe", "pape"})
    for (const Json& task : golden.of(op)) {
      const SourceRows rows = rows_of_task(task);
      std::vector<double> weight;
      if (op == "pape") {
        const Flattened flat =
            flatten_to_ess(vector_of(task["ratio"]).array().log().matrix(), task["ess_target"].get<double>());
        golden.expect(task, "weights", flat.weights);
        golden.expect(task, "exponent", flat.exponent);
        weight = {flat.weights.begin(), flat.weights.end()};
      }
      const Bcts fit = fit_bcts(rows.unseen.probability, rows.unseen.label, weight, {.ridge = 0});
      golden.expect(task, "inverse_temperature", fit.a);
      golden.expect(task, "bias", fit.bias);
      const Matrix target = matrix_of(task["target_probability"]);
      const Matrix calibrated = fit.calibrated(target);
      const ExpectedMetrics found = expected_metrics(calibrated, largest_of(target), target);
      golden.expect(task, "confusion", found.confusion);
      golden.expect(task, "calibrated_first", Matrix(calibrated.topRows(3)));
      golden.compared(task, "metrics");
      const Json& wanted = task["expect"]["metrics"];
      EXPECT_NEAR(found.accuracy, wanted["accuracy"].get<double>(), 1e-7);
      EXPECT_NEAR(*found.balanced_accuracy, wanted["balanced_accuracy"].get<double>(), 1e-7);
      EXPECT_NEAR(found.log_loss, wanted["log_loss"].get<double>(), 1e-7);
      EXPECT_NEAR(found.brier_sum, wanted["brier"].get<double>(), 1e-7);
    }
}

TEST(Estimators, GoldenDifferenceOfConfidences) {
  const GoldenTasks golden("trust", "07_accuracy");
  for (const Json& task : golden.of("doc")) {
    SourceSummary summary;
    summary.mean = {{"accuracy", task["accuracy_source"].get<double>()}};
    summary.confidence = task["confidence_source"].get<double>();
    const double c = task["confidence_target"].get<double>();
    Matrix p(1, 2);
    p << c, 1 - c;
    const Estimates found = estimate(summary, {p, {0}, {}});
    golden.expect(task, "accuracy", found.at({Estimator::doc, "accuracy"}));
    EXPECT_NEAR(found.at({Estimator::blend, "accuracy"}),
                (found.at({Estimator::doc, "accuracy"}) + found.at({Estimator::source, "accuracy"})) / 2, 1e-15);
  }
}

/// Certain predictions, as of a forest.
Matrix certain(const std::vector<std::int32_t>& predicted, Index classes) {
  Matrix p = Matrix::Zero(std::ssize(predicted), classes);
  for (std::size_t i = 0; i < predicted.size(); ++i) p(static_cast<Index>(i), predicted[i]) = 1;
  return p;
}

/// Rows of one domain with certain predictions of `classes` classes, of which every fourth is wrong.
SourceRows certain_rows(Index rows, std::int32_t classes) {
  SourceRows result;
  result.domains = {"all"};
  result.metrics = {{{"accuracy", 0.75}}};
  result.count = {rows};
  UnseenRows& unseen = result.unseen;
  for (Index i = 0; i < rows; ++i) {
    const auto predicted = static_cast<std::int32_t>((i / 4) % classes);
    unseen.predicted.push_back(predicted);
    unseen.label.push_back(i % 4 == 0 ? (predicted + 1) % classes : predicted);
  }
  const Matrix p = certain(unseen.predicted, classes);
  unseen.probability = clipped_probabilities(p);
  unseen.domains = 1;
  unseen.domain.assign(at(rows), 0);
  unseen.weight.assign(at(rows), 1);
  result.log_loss.assign(at(rows), 0);
  result.brier_sum.assign(at(rows), 0);
  return result;
}

TEST(Estimators, CertainProbabilitiesAreTiesOfTheThreshold) {
  for (const std::int32_t classes : {2, 3, 10}) {
    const SourceSummary summary = summarise_sources(certain_rows(240, classes));
    for (std::int32_t k = 0; k < classes; ++k) {
      const std::vector<std::int32_t> predicted(20, k);
      const Estimates found = estimate(summary, {certain(predicted, classes), predicted, {}});
      EXPECT_NEAR(found.at({Estimator::atc, "accuracy"}), 0.75, 1e-12) << k << " of " << classes;
      EXPECT_NEAR(found.at({Estimator::doc, "accuracy"}), 0.75, 1e-12) << k << " of " << classes;
    }
  }
}

TEST(Estimators, AClassWithoutRowsIsNotCalibrated) {
  SourceRows rows = certain_rows(240, 2);
  const RowRatio ratio{Vector::Zero(240), 1};
  const auto found = [&] {
    const TargetRows target{certain(rows.unseen.predicted, rows.unseen.probability.cols()), rows.unseen.predicted, {}};
    Estimates all = estimate(summarise_sources(rows), target);
    all.merge(estimate_weighted(rows, target, ratio).estimates);
    return all;
  };
  const Estimates two = found();
  for (const Estimator estimator : {Estimator::cbpe, Estimator::cbpe_em, Estimator::pape})
    EXPECT_TRUE(two.contains({estimator, "accuracy"})) << estimator_name(estimator);
  rows.unseen.probability = clipped_probabilities(certain(rows.unseen.predicted, 3));
  const Estimates three = found();
  for (const Estimator estimator : {Estimator::cbpe, Estimator::cbpe_em, Estimator::pape})
    EXPECT_FALSE(three.contains({estimator, "accuracy"})) << estimator_name(estimator);
  for (const Estimator estimator : {Estimator::source, Estimator::atc, Estimator::importance})
    EXPECT_NEAR(three.at({estimator, "accuracy"}), 0.75, 1e-12) << estimator_name(estimator);
}

TEST(Expect, TheSourceEstimateIsTheMeanOverDomains) {
  const Dataset data = with_target(drawn_domains(6, 60, Drawn::relation, 0.6, 1), "d5");
  const Expectation found = expect_targets(data, logistic(), {}, context()).at(0);
  EXPECT_EQ(found.domains, 5);
  EXPECT_EQ(found.target, "d5");
  EXPECT_EQ(found.rows, 60);
  double mean = 0;
  for (Index d = 0; d < 5; ++d) {
    std::vector<Index> others;
    for (Index i = 0; i < data.rows(); ++i)
      if (data.domain.index[at(i)] != d && data.domain.index[at(i)] < 5) others.push_back(i);
    const Model model = Model::fit(logistic(), train_view(data, others, {}, context()), data.schema, context());
    mean += true_accuracy(data, model, data.domain.names[at(d)]) / 5;
  }
  EXPECT_NEAR(value_of_metric(found, "accuracy", Estimator::source).estimate, mean, 1e-12);
  // Blend is the default for accuracy, source for the others; both have intervals from all five domains.
  EXPECT_EQ(found.metrics[0].metric, "accuracy");
  EXPECT_EQ(found.metrics[0].estimators[0].estimator, Estimator::blend);
  for (const ExpectedMetric& metric : found.metrics) {
    if (metric.metric == "accuracy") continue;
    EXPECT_EQ(metric.estimators[0].estimator, Estimator::source) << metric.metric;
  }
  EXPECT_EQ(found.metrics[0].estimators.size(), estimator_infos().size());
  EXPECT_EQ(value_of_metric(found, "accuracy", Estimator::blend).domains, 5);
}

TEST(Expect, LabelsOfTheTargetChangeNothing) {
  Dataset data = with_target(drawn_domains(5, 40, Drawn::relation, 0.6, 2), "d4");
  const auto text = [&] {
    std::string all;
    const Expectation found = expect_targets(data, logistic(), {}, context()).at(0);
    for (const ExpectedMetric& metric : found.metrics)
      for (const EstimatedValue& value : metric.estimators)
        all += fmt::format("{} {} {} ", metric.metric, value.estimate, value.interval->low);
    return all + note_of(expect_basis(data, logistic(), {}, context())).dump();
  };
  const std::string before = text();
  for (const Index row : rows_of_domains(data, 4, 5)) data.y->index[at(row)] = -1;
  EXPECT_EQ(text(), before);
  // Nor does a class that only the target has.
  data.y->classes = {"maybe", "no", "yes"};
  for (auto& label : data.y->index) label = label < 0 ? 0 : label + 1;
  EXPECT_EQ(text(), before);
}

TEST(Expect, ANumberOfTheTargetChangesNothing) {
  Dataset data = with_target(drawn_numbers(5, 30, 1, 12), "d4");
  const auto rmse = [&] {
    const Expectation found = expect_targets(data, Pipeline::parse("ridge"), {}, context()).at(0);
    return value_of_metric(found, "rmse", Estimator::importance).estimate;
  };
  const double before = rmse();
  for (const Index row : rows_of_domains(data, 4, 5)) data.y->value[row] = 1e6;
  EXPECT_EQ(rmse(), before);
}

TEST(Expect, AClassOfOneDomainIsNotCalibratedInItsReplay) {
  Dataset data = drawn_domains(4, 40, Drawn::relation, 0.3, 11);
  data.y->classes = {"maybe", "no", "yes"};
  for (auto& label : data.y->index) ++label;
  for (Index row = 0; row < 10; ++row) data.y->index[at(row)] = 0;
  const Context run = context();
  const ReplayFits fits(data, logistic(), NextDomainBy::replay, nullptr, run);
  const SourceRows others = fits.sources_without(0);
  EXPECT_EQ(others.unseen.probability.cols(), 3);
  EXPECT_FALSE(summarise_sources(others).calibration);
}

TEST(Expect, IntervalsCoverNewDomains) {
  // As the study: draws of ten exchangeable domains and a new one.
  int source = 0, blend = 0;
  double source_error = 0, doc_error = 0;
  constexpr int draws = 60;
  for (int draw = 0; draw < draws; ++draw) {
    const Drawn what = draw % 2 == 0 ? Drawn::rows : Drawn::relation;
    const Dataset data = with_target(drawn_domains(11, 60, what, 0.7, 50 + static_cast<std::uint64_t>(draw)), "d10");
    const Expectation found = expect_targets(data, Pipeline::parse("logistic l2=0.1"), {}, context()).at(0);
    const Model model =
        Model::fit(Pipeline::parse("logistic l2=0.1"), train_view(data, context()), data.schema, context());
    const double truth = true_accuracy(data, model, "d10");
    const auto within = [&](Estimator estimator) {
      const Bounds ends = *value_of_metric(found, "accuracy", estimator).interval;
      return ends.low <= truth && truth <= ends.high;
    };
    source += within(Estimator::source);
    blend += within(Estimator::blend);
    source_error += std::abs(value_of_metric(found, "accuracy", Estimator::source).estimate - truth);
    doc_error += std::abs(value_of_metric(found, "accuracy", Estimator::doc).estimate - truth);
  }
  EXPECT_GE(source, 50);  // 90% of 60 is 54
  EXPECT_GE(blend, 49);
  EXPECT_LT(doc_error, source_error);
}

TEST(Expect, CheapNeedsNoMoreFits) {
  const Dataset data = with_target(drawn_domains(6, 40, Drawn::relation, 0.6, 3), "d5");
  ExpectOptions options;
  options.replay = NextDomainBy::cheap;
  const Expectation cheap = expect_targets(data, logistic(), options, context()).at(0);
  const Expectation replayed = expect_targets(data, logistic(), {}, context()).at(0);
  EXPECT_EQ(cheap.by, NextDomainBy::cheap);
  EXPECT_EQ(replayed.by, NextDomainBy::replay);
  EXPECT_EQ(value_of_metric(cheap, "auroc", Estimator::source).estimate,
            value_of_metric(replayed, "auroc", Estimator::source).estimate);
}

TEST(Expect, ATargetUnlikeAllSourcesIsMarked) {
  Dataset data = drawn_domains(6, 60, Drawn::rows, 0.3, 4);
  Matrix x = data.x.to_matrix();
  for (const Index row : rows_of_domains(data, 5, 6)) x(row, 2) += 40;
  data.x = Features::dense(x, {"a", "b", "c"});
  const Expectation found = expect_targets(with_target(data, "d5"), logistic(), {}, context()).at(0);
  EXPECT_TRUE(found.unlike_sources());
  EXPECT_TRUE(value_of_metric(found, "accuracy", Estimator::importance).doubtful);
  EXPECT_FALSE(value_of_metric(found, "accuracy", Estimator::source).doubtful);
}

TEST(Expect, NumbersHaveRmseOnTheScaleOfFactors) {
  const Dataset data = with_target(drawn_numbers(8, 30, 1, 5), "d7");
  const Expectation found = expect_targets(data, Pipeline::parse("ridge"), {}, context()).at(0);
  const EstimatedValue& rmse = value_of_metric(found, "rmse", Estimator::source);
  EXPECT_NEAR(rmse.interval->high / rmse.estimate, rmse.estimate / rmse.interval->low, 1e-9);
  EXPECT_GT(value_of_metric(found, "rmse", Estimator::importance).estimate, 0.5);
}

TEST(Expect, AModelRemembersHowItFared) {
  const Dataset data = drawn_domains(6, 50, Drawn::relation, 0.6, 6);
  const Dataset sources = with_target(data, "d5");
  const Model plain =
      Model::fit(logistic(), train_view(data, rows_of_domains(data, 0, 5), {}, context()), data.schema, context());
  EXPECT_EQ(code_of([&] { expect_basis(plain, "plain.eco"); }), "no_expectation");
  Dataset without = sources;
  const Model model = plain.with_note("expect", note_of(expect_basis(sources, logistic(), {}, context())));
  const auto path = std::filesystem::temp_directory_path() / "expect_note.eco";
  model.save(path);
  const Model loaded = Model::load(path);
  std::filesystem::remove(path);
  const std::vector<Index> rows = rows_of_domains(data, 5, 6);
  const TargetSample sample{"new", {data.x.take(rows), std::nullopt}, {}};
  const Expectation found = expect_model(loaded, expect_basis(loaded, "m.eco"), sample, 0.9, context());
  const Expectation direct = expect_targets(sources, logistic(), {}, context()).at(0);
  for (const Estimator estimator :
       {Estimator::source, Estimator::doc, Estimator::blend, Estimator::atc, Estimator::cbpe}) {
    EXPECT_NEAR(value_of_metric(found, "accuracy", estimator).estimate,
                value_of_metric(direct, "accuracy", estimator).estimate, 1e-12);
    EXPECT_NEAR(value_of_metric(found, "accuracy", estimator).interval->low,
                value_of_metric(direct, "accuracy", estimator).interval->low, 1e-12);
  }
}

/// A tree whose leaves have rows of one class each.
TEST(Expect, AModelWithCertainProbabilitiesExpectsWhatTheSourcesHad) {
  const Dataset data = with_target(drawn_domains(5, 40, Drawn::relation, 0.3, 13), "d4");
  const Pipeline tree = Pipeline::parse("forest trees=1 bootstrap=false");
  const Expectation direct = expect_targets(data, tree, {}, context()).at(0);
  const Model plain = Model::fit(tree, train_view(data, context()), data.schema, context());
  const Model model = plain.with_note("expect", note_of(expect_basis(data, tree, {}, context())));
  const TargetSample sample{"new", {data.x.take(rows_of_domains(data, 4, 5)), std::nullopt}, {}};
  const Expectation noted = expect_model(model, expect_basis(model, "m.eco"), sample, 0.9, context());
  for (const Expectation& found : {direct, noted}) {
    const double source = value_of_metric(found, "accuracy", Estimator::source).estimate;
    EXPECT_LT(source, 0.95);
    EXPECT_NEAR(value_of_metric(found, "accuracy", Estimator::atc).estimate, source, 1e-9);
  }
}

/// A number for a class that the model does not know would make its file unreadable.
TEST(Expect, AModelRemembersNoClassOfTheTarget) {
  Dataset data = with_target(drawn_domains(5, 40, Drawn::relation, 0.6, 14), "d4");
  data.y->classes.push_back("zero");
  for (const Index row : rows_of_domains(data, 4, 5)) data.y->index[at(row)] = 2;
  const Model plain = Model::fit(logistic(), train_view(data, context()), data.schema, context());
  const Model model = plain.with_note("expect", note_of(expect_basis(data, logistic(), {}, context())));
  const TargetSample sample{"new", {data.x, std::nullopt}, {}};
  const Expectation found = expect_model(model, expect_basis(model, "m.eco"), sample, 0.9, context());
  EXPECT_TRUE(value_of_metric(found, "accuracy", Estimator::cbpe).interval);
}

TEST(Expect, DamagedNotesAreRefusedOrHarmless) {
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.6, 7);
  const Model model = Model::fit(logistic(), train_view(data, context()), data.schema, context());
  const Json note = note_of(expect_basis(data, logistic(), {}, context()));
  const TargetSample sample{"new", {data.x, std::nullopt}, {}};
  std::vector<Json::json_pointer> places;
  const Json flat = note.flatten();
  for (const auto& [path, value] : flat.items()) places.emplace_back(path);
  for (const auto& [name, value] : note.items()) places.push_back(Json::json_pointer("/" + name));
  for (const auto& place : places)
    for (const Json& value : {Json("text"), Json(nullptr), Json::array(), Json(-1e300), Json(1e308), Json::object()}) {
      Json damaged = note;
      damaged[place] = value;
      try {
        const Model other = model.with_note("expect", damaged);
        const Expectation found = expect_model(other, expect_basis(other, "m.eco"), sample, 0.9, context());
        EXPECT_FALSE(report::expectation_answer({found}).empty());
        EXPECT_FALSE(report::expectation_panel(found, 1).html.empty());
        EXPECT_FALSE(expectations_text({found}).empty());
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::internal) << place.to_string() << " " << value << " " << error.what();
      }
    }
}

TEST(Expect, ThePageCallsItAPredictionInterval) {
  Expectation found;
  found.target = "new";
  EstimatedValue value{.estimator = Estimator::blend, .estimate = 0.8, .interval = Bounds{0.6, 0.9}};
  found.metrics = {{"accuracy", {value}}};
  const std::string page = report::expectation_answer({found});
  EXPECT_THAT(page, testing::HasSubstr("accuracy 0.8; the 90% prediction interval is 0.6 to 0.9."));
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("confidence")));
}

/// An estimator that could not be replayed has no error, not one of 0.
TEST(Expect, ErrorsAreOfReplays) {
  const Dataset data = with_target(drawn_domains(5, 30, Drawn::relation, 0.6, 7), "d4");
  ExpectBasis basis = expect_basis(data, logistic(), {}, context());
  const Model model = Model::fit(logistic(), train_view(data, context()), data.schema, context());
  for (auto& [key, values] : basis.residuals)
    if (key.first == Estimator::cbpe) values.resize(1);
  const Expectation found = expect_model(model, basis, {"new", {data.x, std::nullopt}, {}}, 0.9, context());
  for (const EstimatedValue& value : found.metrics.front().estimators) {
    EXPECT_EQ(value.error.has_value(), value.estimator != Estimator::cbpe);
    EXPECT_EQ(value.interval.has_value(), value.error.has_value());
  }
  EXPECT_THAT(to_json(std::vector{found}).dump(), testing::HasSubstr("\"replayed_error\":null"));
}

/// One row cannot tell whether it lies where source rows do, and a known domain is not a new one.
TEST(Expect, SaysWhatOneRowAndAKnownDomainAreWorth) {
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.6, 7);
  const std::vector<Index> one = {3};
  const auto sample = [&](const std::string& name) { return TargetSample{name, batch(data, one), batch(data, one)}; };
  Recorder recorder;
  const auto found =
      expect_targets(data, logistic(), {sample("new"), sample("d2")}, {}, context().observed_by(&recorder));
  EXPECT_FALSE(found[0].unlike_sources());
  EXPECT_EQ(std::ranges::count_if(recorder.warnings, [](const auto& each) { return each.first == "known_domain"; }), 1);
  const Pipeline adapting = Pipeline::parse("scale | logistic l2=0.1 | adapt.prior");
  EXPECT_EQ(code_of([&] { expect_targets(data, adapting, {sample("new")}, {}, context()); }), "no_target");
  EXPECT_EQ(code_of([&] { expect_targets(data, adapting, {sample("d2")}, {}, context()); }), "no_target");
}

TEST(Expect, RefusesWhatCannotBeSaid) {
  const Dataset few = with_target(drawn_domains(3, 30, Drawn::relation, 0.6, 8), "d2");
  EXPECT_EQ(code_of([&] { expect_targets(few, logistic(), {}, context()); }), "too_few_domains");
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.6, 8);
  EXPECT_EQ(code_of([&] { expect_targets(data, logistic(), {}, context()); }), "no_target");
  EXPECT_EQ(code_of([&] { expect_targets(with_target(data, "d4"), Pipeline::parse("scale"), {}, context()); }),
            "no_learner");
}

TEST(Expect, TheSameForAnyNumberOfThreads) {
  const Dataset data = with_target(drawn_domains(6, 40, Drawn::relation, 0.6, 9), "d5");
  const auto text = [&](int threads) {
    std::string all;
    const Expectation found = expect_targets(data, logistic(), {}, context(threads)).at(0);
    for (const ExpectedMetric& metric : found.metrics)
      for (const EstimatedValue& value : metric.estimators)
        all += fmt::format("{} {} ", value.estimate, value.error.value_or(-1));
    return all;
  };
  const std::string one = text(1);
  for (const int threads : {2, 7}) EXPECT_EQ(text(threads), one);
}

TEST(Expect, AnAdaptingPipelineAdaptsInItsReplays) {
  const Dataset data = with_target(drawn_domains(5, 60, Drawn::rows, 0.4, 10), "d4");
  const Expectation found =
      expect_targets(data, Pipeline::parse("scale | weight.logistic flatten=20 | logistic l2=0.1"), {}, context())
          .at(0);
  EXPECT_EQ(found.domains, 4);
  EXPECT_TRUE(value_of_metric(found, "accuracy", Estimator::blend).interval);
}

/// Of few rows only shares have an interval, as the noise of the others is not known.
TEST(Expect, MuchFewerRowsThanSourceDomainsHaveNoInterval) {
  const Dataset data = drawn_domains(6, 100, Drawn::relation, 0.6, 21);
  const Dataset sources = with_target(data, "d5");
  const std::vector<Index> rows = rows_of_domains(data, 5, 6);
  const auto found = [&](std::ptrdiff_t count) {
    const std::vector<Index> some(rows.begin(), rows.begin() + count);
    return expect_targets(sources, logistic(), {{"new", batch(data, some), batch(data, some)}}, {}, context()).at(0);
  };
  const Expectation few = found(15), enough = found(60);
  for (const ExpectedMetric& metric : few.metrics)
    for (const EstimatedValue& value : metric.estimators) {
      EXPECT_EQ(value.interval.has_value(), metric.metric == "accuracy") << metric.metric;
      EXPECT_FALSE(value.conformal) << metric.metric;
    }
  for (const ExpectedMetric& metric : enough.metrics) EXPECT_TRUE(metric.estimators.front().interval) << metric.metric;
  const char* words = "the target has 15 rows, source domains 100 on";
  EXPECT_THAT(expectations_text({few}), testing::HasSubstr(words));
  EXPECT_THAT(expectations_text({enough}), testing::Not(testing::HasSubstr("no interval holds")));
  EXPECT_THAT(report::expectation_answer({few}), testing::HasSubstr(words));
  const Json json = to_json(std::vector{few});
  EXPECT_THAT(json["expectations"][0]["no_interval"].get<std::string>(), testing::HasSubstr(words));
  EXPECT_TRUE(to_json(std::vector{enough})["expectations"][0]["no_interval"].is_null());
  EXPECT_TRUE(expectations_from_json(json, "few.json").at(0).too_few_rows());
}

/// Where every source domain was right throughout, a few rows can still be wrong.
TEST(Expect, AShareOfOneHasNoise) {
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.6, 7);
  const Model model = Model::fit(logistic(), train_view(data, context()), data.schema, context());
  ExpectBasis basis;
  basis.domains = {"d0", "d1", "d2", "d3", "d4"};
  basis.summary.mean = {{"accuracy", 1.0}};
  basis.summary.mean_inverse_rows = 1 / 100.0;
  basis.residuals[{Estimator::source, "accuracy"}] = {0, 0, 0, 0, 0};
  const TargetSample sample{"new", batch(data, rows_of_domains(data, 4, 5)), {}};
  const Expectation found = expect_model(model, basis, sample, 0.9, context());
  const EstimatedValue& source = value_of_metric(found, "accuracy", Estimator::source);
  // t(4) sqrt(p (1 - p) (1 / 30 - 1 / 100)), p = 31 / 32
  EXPECT_NEAR(source.interval->low, 1 - 2.131846786 * std::sqrt(31.0 / 1024 * (1 / 30.0 - 1 / 100.0)), 1e-8);
  EXPECT_EQ(source.interval->high, 1);
}

TEST(Expect, RowsOfWeightZeroAreNotOfTheTarget) {
  Dataset data = with_target(drawn_domains(5, 40, Drawn::relation, 0.6, 22), "d4");
  data.weight = Vector::Ones(data.rows());
  const std::vector<Index> target = rows_of_domains(data, 4, 5);
  Matrix x = data.x.to_matrix();
  for (std::size_t i = 0; i < target.size(); i += 2) data.weight[target[i]] = 0;
  const Pipeline pipeline = Pipeline::parse("logistic l2=0.1");
  const auto blend = [&] {
    const Expectation found = expect_targets(data, pipeline, {}, context()).at(0);
    EXPECT_EQ(found.rows, 20);
    return value_of_metric(found, "accuracy", Estimator::blend).estimate;
  };
  const double before = blend();
  for (std::size_t i = 0; i < target.size(); i += 2) x.row(target[i]).setConstant(50);
  data.x = Features::dense(x, {"a", "b", "c"});
  EXPECT_EQ(blend(), before);
  // Nor of a source domain that plays the target.
  for (const Index row : {0, 1, 2}) data.weight[row] = 0;
  const Context run = context();
  const ReplayFits fits(data, pipeline, NextDomainBy::replay, nullptr, run);
  EXPECT_EQ(fits.as_target(0).rows(), 37);
  EXPECT_EQ(std::ssize(fits.rows_of(0)), 37);
}

TEST(Expect, AColumnThatOnlyTheTargetLacksIsSeen) {
  Dataset data = drawn_domains(6, 60, Drawn::rows, 0.3, 4);
  Matrix x = data.x.to_matrix();
  for (const Index row : rows_of_domains(data, 5, 6)) x(row, 2) = std::numeric_limits<double>::quiet_NaN();
  data.x = Features::dense(x, {"a", "b", "c"});
  const Expectation found =
      expect_targets(with_target(data, "d5"), Pipeline::parse("impute | scale | logistic l2=0.1"), {}, context()).at(0);
  EXPECT_GT(found.overlap->auroc.value_or(0), 0.99);
  EXPECT_TRUE(found.unlike_sources());
}

/// An indicator would be named like a column that is there.
TEST(Expect, ComparedRowsNeedNoNames) {
  Dataset data = drawn_domains(2, 20, Drawn::rows, 0.3, 4);
  Matrix x = data.x.to_matrix();
  x(0, 0) = std::numeric_limits<double>::quiet_NaN();
  data.x = Features::dense(x, {"a", "a_missing", "c"});
  const Features rows =
      compared_rows(data, rows_of_domains(data, 0, 1), data.x.take(rows_of_domains(data, 1, 2)), context());
  EXPECT_EQ(rows.rows(), 40);
  EXPECT_EQ(rows.cols(), 4);
  // Means are those of the first rows, the sources.
  EXPECT_NEAR(rows.to_matrix().topRows(20).col(2).mean(), 0, 1e-12);
}

TEST(Expect, AModelSaysThatItCannotCompareRows) {
  const Dataset data = with_target(drawn_domains(5, 30, Drawn::relation, 0.6, 7), "d4");
  const ExpectBasis basis = expect_basis(data, logistic(), {}, context());
  const Model model = Model::fit(logistic(), train_view(data, context()), data.schema, context());
  const Expectation found = expect_model(model, basis, {"new", {data.x, std::nullopt}, {}}, 0.9, context());
  const char* words = "not checked: whether these rows lie where the sources do";
  EXPECT_THAT(expectations_text({found}), testing::HasSubstr(words));
  EXPECT_THAT(report::expectation_answer({found}), testing::HasSubstr(words));
  const Json json = to_json(std::vector{found})["expectations"][0];
  EXPECT_TRUE(json["unlike_sources"].is_null());
  EXPECT_THAT(json["not_checked"].get<std::string>(), testing::HasSubstr("expect DATA PIPELINE --new FILE"));
  const Expectation checked = expect_targets(data, logistic(), {}, context()).at(0);
  EXPECT_THAT(expectations_text({checked}), testing::Not(testing::HasSubstr("not checked")));
  EXPECT_TRUE(to_json(std::vector{checked})["expectations"][0]["unlike_sources"].is_boolean());
}

}  // namespace expect_test
}  // namespace ecotone::test
