#include "ecotone/evaluate/evaluate.h"

#include <cmath>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace evaluate_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Evaluate, ScoresAreThoseOfAModelFittedByHand) {
  const Dataset data = tiny(3, 40);
  const auto pipes = pipelines({"scale | logistic l2=0.1"});
  EvaluateOptions options = with(Protocol::leave_one_domain_out);
  options.keep_predictions = true;
  const Evaluation result = evaluate(data, pipes, options, on(2));
  ASSERT_EQ(result.pipelines.size(), 1U);
  ASSERT_EQ(result.pipelines[0].domains.size(), 3U);
  for (Index d = 0; d < 3; ++d) {
    const auto held_out = data.domain.rows_of(d);
    std::vector<Index> source;
    for (Index i = 0; i < data.rows(); ++i)
      if (data.domain.index[static_cast<std::size_t>(i)] != d) source.push_back(i);
    const Context context = on(1);
    const Model model = Model::fit(pipes[0], train_view(data, source, {}, context), data.schema, context);
    const Prediction prediction = model.predict(batch(data, held_out), context);
    const Labels truth = data.y->take(held_out);
    const auto& score = result.pipelines[0].domains[static_cast<std::size_t>(d)];
    EXPECT_EQ(score.domain, data.domain.names[static_cast<std::size_t>(d)]);
    EXPECT_EQ(score.rows, 40);
    EXPECT_EQ(get(score.metrics, "accuracy"), accuracy(truth.index, prediction.index));
    EXPECT_EQ(get(score.metrics, "auroc"), auroc(truth.index, prediction.probability));
    EXPECT_EQ(get(score.metrics, "log_loss"), log_loss(truth.index, prediction.probability));
    EXPECT_EQ(get(score.metrics, "brier"), brier(truth.index, prediction.probability));
    EXPECT_EQ(get(score.metrics, "brier_sum"), brier_sum(truth.index, prediction.probability));
    EXPECT_EQ(get(score.metrics, "calibration_error"),
              calibration_error(truth.index, prediction.index, prediction.probability));
    for (std::size_t i = 0; i < held_out.size(); ++i) {
      const auto& one = result.predictions[static_cast<std::size_t>(held_out[i])];
      EXPECT_EQ(one.row, held_out[i]);
      EXPECT_EQ(one.probability[1], prediction.probability(static_cast<Index>(i), 1));
    }
  }
  EXPECT_GT(*get(result.pipelines[0].mean, "auroc"), 0.6);
}

TEST(Evaluate, SummariesAreMeanSpreadAndPairedDifference) {
  const Evaluation result =
      evaluate(tiny(4, 30), pipelines({"constant", "scale | logistic"}), with(Protocol::leave_one_domain_out), on(2));
  const auto& first = result.pipelines[0];
  const auto& second = result.pipelines[1];
  EXPECT_EQ(first.pipeline, "constant");
  EXPECT_TRUE(first.difference.empty());
  ASSERT_EQ(second.difference.size(), result.metrics.size());
  for (std::size_t m = 0; m < result.metrics.size(); ++m) {
    const auto& name = result.metrics[m];
    std::vector<double> values, differences;
    for (std::size_t d = 0; d < 4; ++d) {
      values.push_back(*get(second.domains[d].metrics, name));
      if (const auto other = get(first.domains[d].metrics, name)) differences.push_back(values.back() - *other);
    }
    EXPECT_EQ(get(second.mean, name), mean_of(values));
    EXPECT_EQ(get(second.spread, name), sample_sd(values));
    EXPECT_EQ(second.difference[m].first, name);
    // One probability for all rows has no slope.
    EXPECT_EQ(differences.empty(), name == "calibration_slope");
    const auto expected = t_interval(differences);
    ASSERT_EQ(second.difference[m].second.has_value(), expected.has_value());
    if (!expected) continue;
    EXPECT_EQ(second.difference[m].second->mean, expected->mean);
    EXPECT_EQ(second.difference[m].second->low, expected->low);
    EXPECT_EQ(second.difference[m].second->high, expected->high);
  }
  for (const auto& domain : first.domains) EXPECT_EQ(get(domain.metrics, "auroc"), 0.5);
}

TEST(Evaluate, JsonHasTheShapeOfTheDesign) {
  const Json json = to_json(
      evaluate(tiny(2, 20), pipelines({"constant", "logistic l2=1"}), with(Protocol::leave_one_domain_out), on(1)));
  EXPECT_EQ(json.at("protocol"), "leave-one-domain-out");
  EXPECT_EQ(json.at("task"), "classify");
  EXPECT_EQ(json.at("classes"), Json::array({"c0", "c1"}));
  EXPECT_EQ(json.at("metrics"),
            Json::array({"accuracy", "balanced_accuracy", "auroc", "average_precision", "log_loss", "brier",
                         "brier_sum", "calibration_error", "calibration_slope", "calibration_intercept"}));
  const Json& first = json.at("pipelines").at(0);
  EXPECT_EQ(first.at("difference"), Json::object());
  const Json& second = json.at("pipelines").at(1);
  EXPECT_EQ(second.at("domains").at(1).at("domain"), "site1");
  EXPECT_EQ(second.at("domains").at(1).at("rows"), 20);
  EXPECT_TRUE(second.at("domains").at(1).at("metrics").at("auroc").is_number());
  EXPECT_TRUE(second.at("mean").at("brier").is_number());
  EXPECT_TRUE(second.at("spread").at("brier").is_number());
  for (const char* key : {"mean", "low", "high"})
    EXPECT_TRUE(second.at("difference").at("accuracy").at(key).is_number());
}

TEST(Evaluate, EqualBytesForAnyNumberOfThreads) {
  const Dataset data = tiny(4, 30, 3);
  const auto pipes = pipelines({"scale | logistic", "constant", "impute | scale | logistic l2=1"});
  for (const auto protocol :
       {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split, Protocol::k_fold}) {
    EvaluateOptions options = with(protocol);
    options.repetitions = 3;
    options.folds = 3;
    const std::string one = to_json(evaluate(data, pipes, options, on(1, 9))).dump();
    for (const int threads : {2, 7})
      EXPECT_EQ(to_json(evaluate(data, pipes, options, on(threads, 9))).dump(), one) << protocol_name(protocol);
  }
}

TEST(Evaluate, HeldOutLabelsDoNotReachThePredictions) {
  Dataset data = tiny(3, 40);
  const auto pipes = pipelines({"scale | logistic l2=0.01"});
  for (const auto protocol : {Protocol::leave_one_domain_out, Protocol::adapt}) {
    EvaluateOptions options = with(protocol);
    options.keep_predictions = true;
    const Evaluation before = evaluate(data, pipes, options, on(2));
    Dataset noisy = data;
    Random random(77, "noise");
    for (const Index row : data.domain.rows_of(1))
      noisy.y->index[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(random.below(2));
    const Evaluation after = evaluate(noisy, pipes, options, on(2));
    ASSERT_EQ(before.predictions.size(), after.predictions.size());
    int changed = 0;
    for (std::size_t i = 0; i < before.predictions.size(); ++i) {
      const auto& a = before.predictions[i];
      const auto& b = after.predictions[i];
      if (data.domain.index[static_cast<std::size_t>(a.row)] == 1) {
        EXPECT_EQ(a.prediction, b.prediction);
        EXPECT_EQ(a.probability, b.probability);
      } else {
        changed += a.probability != b.probability;
      }
    }
    EXPECT_EQ(changed, 80);  // the other domains' models did learn from those labels
    EXPECT_NE(get(before.pipelines[0].domains[1].metrics, "log_loss"),
              get(after.pipelines[0].domains[1].metrics, "log_loss"));
  }
}

TEST(Evaluate, AdaptViewHasTheTargetsRowsAndNoLabels) {
  const Dataset data = tiny(3, 10);
  const auto splits = make_splits(places_of(data), with(Protocol::adapt), on(1));
  for (const auto& split : splits) {
    const TrainView view = train_view(data, split.source, split.target, on(1));
    EXPECT_TRUE(view.has_target());
    EXPECT_EQ(view.labelled(), 20);
    EXPECT_EQ(view.x.rows(), 30);
    EXPECT_THAT(view.role, ::testing::UnorderedElementsAre(Role::source, Role::source, Role::target));
  }
}

TEST(Evaluate, OneClassDomainHasNoAuroc) {
  Dataset data = tiny(3, 20);
  for (const Index row : data.domain.rows_of(2)) data.y->index[static_cast<std::size_t>(row)] = 1;
  const Evaluation result =
      evaluate(data, pipelines({"constant", "logistic l2=1"}), with(Protocol::leave_one_domain_out), on(2));
  const auto& score = result.pipelines[1];
  EXPECT_FALSE(get(score.domains[2].metrics, "auroc"));
  EXPECT_TRUE(get(score.domains[2].metrics, "accuracy"));
  EXPECT_TRUE(get(score.domains[2].metrics, "balanced_accuracy"));
  // Means and differences are over the two domains with a value.
  EXPECT_DOUBLE_EQ(*get(score.mean, "auroc"),
                   (*get(score.domains[0].metrics, "auroc") + *get(score.domains[1].metrics, "auroc")) / 2);
  const Json json = to_json(result);
  EXPECT_TRUE(json.at("pipelines").at(1).at("domains").at(2).at("metrics").at("auroc").is_null());
  EXPECT_NEAR(json.at("pipelines").at(1).at("difference").at("auroc").at("mean").get<double>(),
              *get(score.mean, "auroc") - 0.5, 1e-15);
}

TEST(Evaluate, ClassUnseenInTrainingCountsAsWrong) {
  Dataset data = tiny(3, 20);
  data.y->classes = {"c0", "c0b", "c1"};  // the new class sorts between the others
  for (auto& k : data.y->index) k = k == 1 ? 2 : 0;
  for (const Index row : data.domain.rows_of(0)) data.y->index[static_cast<std::size_t>(row)] = 1;
  EvaluateOptions options = with(Protocol::leave_one_domain_out);
  options.keep_predictions = true;
  const Evaluation result = evaluate(data, pipelines({"logistic l2=1"}), options, on(1));
  const auto& metrics = result.pipelines[0].domains[0].metrics;
  EXPECT_EQ(get(metrics, "accuracy"), 0.0);
  EXPECT_NEAR(*get(metrics, "log_loss"), -std::log(1e-15), 1e-12);
  EXPECT_GT(*get(metrics, "brier"), 1.0);
  for (const Index row : data.domain.rows_of(0)) {
    const auto& one = result.predictions[static_cast<std::size_t>(row)];
    ASSERT_EQ(one.probability.size(), 3U);
    EXPECT_FALSE(one.probability[1]);
    EXPECT_NEAR(*one.probability[0] + *one.probability[2], 1.0, 1e-12);
    EXPECT_NE(one.prediction, "c0b");
  }
}

TEST(Evaluate, RegressionOfTheMean) {
  const Dataset data = tiny_regression(3, 30);
  EvaluateOptions options = with(Protocol::leave_one_domain_out);
  options.keep_predictions = true;
  const Evaluation result = evaluate(data, pipelines({"constant"}), options, on(2));
  EXPECT_THAT(result.metrics, ElementsAre("rmse", "mae", "r2"));
  EXPECT_EQ(result.task, Task::regress);
  // Domains have means 10, 11, 12: the first is predicted by about 11.5.
  const auto& metrics = result.pipelines[0].domains[0].metrics;
  double sum = 0;
  double squares = 0;
  for (Index i = 0; i < data.rows(); ++i)
    if (data.domain.index[static_cast<std::size_t>(i)] != 0) sum += data.y->value[i] / 60;
  for (const Index row : data.domain.rows_of(0)) squares += std::pow(data.y->value[row] - sum, 2) / 30;
  EXPECT_NEAR(*get(metrics, "rmse"), std::sqrt(squares), 1e-12);
  EXPECT_LT(*get(metrics, "r2"), 0.0);
  EXPECT_NEAR(std::stod(result.predictions[0].prediction), sum, 1e-12);
  EXPECT_TRUE(result.predictions[0].probability.empty());
  EXPECT_EQ(to_json(result).at("classes"), Json::array());
}

TEST(Evaluate, MissingLabelsAreNeitherTrainedOnNorScored) {
  Dataset data = tiny(3, 20);
  Dataset without = data;
  const auto rows = data.domain.rows_of(0);
  for (std::size_t i = 10; i < 15; ++i) data.y->index[static_cast<std::size_t>(rows[i])] = -1;
  std::vector<Index> kept;
  for (Index i = 0; i < data.rows(); ++i)
    if (!data.y->missing(i)) kept.push_back(i);
  without.x = data.x.take(kept);
  without.y = data.y->take(kept);
  without.y->classes = data.y->classes;
  without.domain = data.domain.take(kept);
  Recorder recorder;
  const auto pipes = pipelines({"scale | logistic l2=0.1"});
  const Evaluation a =
      evaluate(data, pipes, with(Protocol::leave_one_domain_out), Context({.threads = 2, .observer = &recorder}));
  const Evaluation b = evaluate(without, pipes, with(Protocol::leave_one_domain_out), on(2));
  EXPECT_EQ(to_json(a), to_json(b));
  EXPECT_EQ(a.pipelines[0].domains[0].rows, 15);
  EXPECT_THAT(recorder.notes,
              ElementsAre("evaluate: 5 of 60 rows have no label and are neither trained on nor scored"));
}

TEST(Evaluate, DomainWithoutLabelsHasNoMetrics) {
  Dataset data = tiny(3, 20);
  for (const Index row : data.domain.rows_of(1)) data.y->index[static_cast<std::size_t>(row)] = -1;
  const Evaluation result = evaluate(data, pipelines({"constant"}), with(Protocol::leave_one_domain_out), on(2));
  const auto& domain = result.pipelines[0].domains[1];
  EXPECT_EQ(domain.domain, "site1");
  EXPECT_EQ(domain.rows, 0);
  EXPECT_EQ(domain.metrics.size(), result.metrics.size());
  for (const auto& [name, value] : domain.metrics) EXPECT_FALSE(value) << name;
  EXPECT_TRUE(get(result.pipelines[0].mean, "accuracy"));
}

TEST(Evaluate, LargeDataAreFittedOneAfterTheOther) {
  // Beyond 2^22 cells fits run one by one on all threads; the bytes stay the same.
  Dataset data = tiny(2, 1100);
  Csr wide{2200, 2000, {0}, {}, {}};
  for (Index i = 0; i < wide.rows; ++i) {
    wide.column.push_back(static_cast<std::int32_t>(i % wide.cols));
    wide.value.push_back(1);
    wide.row_start.push_back(i + 1);
  }
  data.x = Features::sparse(std::move(wide));
  data.schema = Schema{};
  for (Index j = 0; j < 2000; ++j) data.schema.columns.push_back({fmt::format("x{}", j + 1), ColumnKind::numeric, {}});
  const auto pipes = pipelines({"constant"});
  const std::string one = to_json(evaluate(data, pipes, with(Protocol::leave_one_domain_out), on(1))).dump();
  EXPECT_EQ(to_json(evaluate(data, pipes, with(Protocol::leave_one_domain_out), on(2))).dump(), one);
  EXPECT_THAT(one, HasSubstr("\"rows\":1100"));
}

}  // namespace evaluate_test
}  // namespace ecotone::test
