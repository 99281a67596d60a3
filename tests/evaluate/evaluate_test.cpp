#include "ecotone/evaluate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>

#include "ecotone/base/error.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/model.h"

namespace ecotone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// `n` rows of two features in each of `domains` domains; the class is drawn from a logistic law of the first, shifted
/// by domain.
Dataset tiny(Index domains, Index n, Index classes = 2, std::uint64_t seed = 1) {
  Dataset data;
  Labels y;
  Matrix x(domains * n, 2);
  for (Index k = 0; k < classes; ++k) y.classes.push_back(fmt::format("c{}", k));
  for (Index d = 0; d < domains; ++d) {
    data.domain.names.push_back(fmt::format("site{}", d));
    data.role.push_back(Role::source);
  }
  Random random(seed, "evaluate-test");
  for (Index i = 0; i < x.rows(); ++i) {
    const Index d = i % domains;
    const auto k = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
    data.domain.index.push_back(static_cast<std::int32_t>(d));
    y.index.push_back(k);
    x(i, 0) = k + random.normal() + 0.3 * static_cast<double>(d);
    x(i, 1) = random.normal() - 0.5 * k;
  }
  data.x = Features::dense(std::move(x), {"a", "b"});
  data.y = std::move(y);
  data.schema = Schema{{{"a", ColumnKind::numeric, {}}, {"b", ColumnKind::numeric, {}}}, "label", "site", ""};
  return data;
}

Dataset tiny_regression(Index domains, Index n) {
  Dataset data = tiny(domains, n);
  Labels y;
  y.task = Task::regress;
  y.value.resize(data.rows());
  Random random(5, "evaluate-test-values");
  for (Index i = 0; i < data.rows(); ++i)
    y.value[i] = 10 + random.normal() + data.domain.index[static_cast<std::size_t>(i)];
  data.y = y;
  return data;
}

std::vector<Pipeline> pipelines(const std::vector<std::string>& texts) {
  std::vector<Pipeline> result;
  for (const auto& text : texts) result.push_back(Pipeline::parse(text));
  return result;
}

EvaluateOptions with(Protocol protocol) {
  EvaluateOptions options;
  options.protocol = protocol;
  return options;
}

Context on(int threads, std::uint64_t seed = 0) { return Context({.threads = threads, .seed = seed}); }

std::optional<double> get(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics)
    if (key == name) return value;
  throw std::runtime_error("no metric " + name);
}

class Recorder : public Observer {
 public:
  void warning(std::string_view code, std::string_view message) override {
    const std::lock_guard lock(mutex);
    warnings.push_back(std::string(code) + ": " + std::string(message));
  }
  void note(std::string_view message) override {
    const std::lock_guard lock(mutex);
    notes.emplace_back(message);
  }
  void progress(std::string_view what, Index done, Index total) override {
    const std::lock_guard lock(mutex);
    if (what == "evaluate" && done == total) finished = total;
    if (what != "evaluate") others.emplace_back(what);
  }
  std::mutex mutex;
  std::vector<std::string> warnings, notes, others;
  Index finished = 0;
};

template <class F>
Error error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "no error", "no error");
}

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
      differences.push_back(values.back() - *get(first.domains[d].metrics, name));
    }
    EXPECT_EQ(get(second.mean, name), mean_of(values));
    EXPECT_EQ(get(second.spread, name), sample_sd(values));
    const auto expected = t_interval(differences);
    EXPECT_EQ(second.difference[m].first, name);
    EXPECT_EQ(second.difference[m].second->mean, expected->mean);
    EXPECT_EQ(second.difference[m].second->low, expected->low);
    EXPECT_EQ(second.difference[m].second->high, expected->high);
  }
  for (const auto& domain : first.domains) EXPECT_EQ(get(domain.metrics, "auroc"), 0.5);
}

TEST(Evaluate, JsonHasTheShapeOfTheDesign) {
  const Json json =
      evaluate(tiny(2, 20), pipelines({"constant", "logistic l2=1"}), with(Protocol::leave_one_domain_out), on(1))
          .to_json();
  EXPECT_EQ(json.at("protocol"), "leave-one-domain-out");
  EXPECT_EQ(json.at("task"), "classify");
  EXPECT_EQ(json.at("classes"), Json::array({"c0", "c1"}));
  EXPECT_EQ(json.at("metrics"),
            Json::array({"accuracy", "balanced_accuracy", "auroc", "log_loss", "brier", "calibration_error"}));
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
    const std::string one = evaluate(data, pipes, options, on(1, 9)).to_json().dump();
    for (const int threads : {2, 7})
      EXPECT_EQ(evaluate(data, pipes, options, on(threads, 9)).to_json().dump(), one) << protocol_name(protocol);
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
  const auto splits = make_splits(data.domain, with(Protocol::adapt), on(1));
  for (const auto& split : splits) {
    const TrainView view = train_view(data, split.source, split.target, on(1));
    EXPECT_TRUE(view.has_target());
    EXPECT_EQ(view.labelled(), 20);
    EXPECT_EQ(view.x.rows(), 30);
    EXPECT_THAT(view.role, testing::UnorderedElementsAre(Role::source, Role::source, Role::target));
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
  const Json json = result.to_json();
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
  EXPECT_EQ(result.to_json().at("classes"), Json::array());
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
  EXPECT_EQ(a.to_json(), b.to_json());
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

TEST(Evaluate, KFoldScoresEachDomainOnceOverAllFolds) {
  const Dataset data = tiny(3, 30);
  EvaluateOptions options = with(Protocol::k_fold);
  options.keep_predictions = true;
  const Evaluation result = evaluate(data, pipelines({"scale | logistic l2=0.1"}), options, on(2));
  ASSERT_EQ(result.predictions.size(), 90U);
  const auto rows = data.domain.rows_of(1);
  std::vector<std::int32_t> truth;
  Matrix probability(30, 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& one = result.predictions[static_cast<std::size_t>(rows[i])];
    ASSERT_EQ(one.row, rows[i]);
    truth.push_back(data.y->index[static_cast<std::size_t>(rows[i])]);
    for (Index k = 0; k < 2; ++k) probability(static_cast<Index>(i), k) = *one.probability[static_cast<std::size_t>(k)];
  }
  EXPECT_EQ(result.pipelines[0].domains[1].rows, 30);
  EXPECT_NEAR(*get(result.pipelines[0].domains[1].metrics, "log_loss"), log_loss(truth, probability), 1e-14);
}

TEST(Evaluate, KFoldAurocIsTheMeanOverTheFoldsWeightedByRows) {
  // 31 rows in 4 folds: folds of different sizes. Folds with one class of a domain do not count.
  Dataset data = tiny(2, 31);
  EvaluateOptions options = with(Protocol::k_fold);
  options.folds = 4;
  options.keep_predictions = true;
  const auto splits = make_splits(data.domain, options, on(2));
  const auto domain_of = [&](Index row) { return data.domain.index[static_cast<std::size_t>(row)]; };
  for (const Index row : splits[1].held_out)
    if (domain_of(row) == 1) data.y->index[static_cast<std::size_t>(row)] = 0;
  const Evaluation result = evaluate(data, pipelines({"scale | logistic l2=0.1"}), options, on(2));
  for (std::int32_t d = 0; d < 2; ++d) {
    double sum = 0;
    double rows = 0;
    for (const auto& split : splits) {
      std::vector<std::int32_t> truth;
      std::vector<double> second;
      for (const Index row : split.held_out) {
        if (domain_of(row) != d) continue;
        truth.push_back(data.y->index[static_cast<std::size_t>(row)]);
        second.push_back(*result.predictions[static_cast<std::size_t>(row)].probability[1]);
      }
      Matrix probability(static_cast<Index>(truth.size()), 2);
      for (std::size_t i = 0; i < truth.size(); ++i) probability.row(static_cast<Index>(i)) << 1 - second[i], second[i];
      const auto value = auroc(truth, probability);
      if (d == 1 && &split == &splits[1]) {
        EXPECT_FALSE(value.has_value());
      }
      if (!value) continue;
      sum += static_cast<double>(truth.size()) * *value;
      rows += static_cast<double>(truth.size());
    }
    EXPECT_NEAR(*get(result.pipelines[0].domains[static_cast<std::size_t>(d)].metrics, "auroc"), sum / rows, 1e-12);
  }
}

TEST(Evaluate, KFoldAurocOfAConstantIsOneHalf) {
  // Folds of ten rows have different class frequencies; that is no ranking.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Evaluation result = evaluate(tiny(1, 10, 2, seed), pipelines({"constant"}), with(Protocol::k_fold), on(1));
    const auto value = get(result.pipelines[0].domains[0].metrics, "auroc");
    EXPECT_EQ(value.value_or(0.5), 0.5) << seed;
  }
  const Evaluation result = evaluate(tiny(3, 40), pipelines({"constant"}), with(Protocol::k_fold), on(1));
  for (const auto& domain : result.pipelines[0].domains) EXPECT_EQ(get(domain.metrics, "auroc"), 0.5);
}

TEST(Evaluate, KFoldWorksWithOneDomainAndGivesNoInterval) {
  const Evaluation result =
      evaluate(tiny(1, 40), pipelines({"constant", "logistic l2=1"}), with(Protocol::k_fold), on(1));
  EXPECT_EQ(result.pipelines[0].domains.size(), 1U);
  EXPECT_FALSE(get(result.pipelines[1].spread, "auroc"));
  EXPECT_TRUE(result.pipelines[1].difference[0].second);
  EXPECT_FALSE(result.pipelines[1].difference[0].second->low);
}

TEST(Evaluate, DomainSplitAveragesOverRepetitions) {
  const Dataset data = tiny(3, 25);
  EvaluateOptions options = with(Protocol::domain_split);
  options.repetitions = 6;
  const auto pipes = pipelines({"scale | logistic l2=0.1"});
  const Evaluation repeated = evaluate(data, pipes, options, on(2, 4));
  // One domain held out at a time: whenever a domain is, the model is that of leave-one-domain-out.
  const Evaluation once = evaluate(data, pipes, with(Protocol::leave_one_domain_out), on(2, 4));
  ASSERT_FALSE(repeated.pipelines[0].domains.empty());
  for (const auto& domain : repeated.pipelines[0].domains)
    for (const auto& other : once.pipelines[0].domains)
      if (domain.domain == other.domain) {
        EXPECT_EQ(domain.rows, other.rows);
        EXPECT_NEAR(*get(domain.metrics, "auroc"), *get(other.metrics, "auroc"), 1e-12);
      }
}

TEST(Evaluate, ErrorsNameThePipelineAndTheDomainAndKeepTheirCode) {
  Dataset data = tiny(2, 20);
  for (const Index row : data.domain.rows_of(0)) data.y->index[static_cast<std::size_t>(row)] = 1;
  // With site1 held out the training rows have one class.
  const Error error = error_of([&] {
    evaluate(data, pipelines({"constant", "scale | logistic"}), with(Protocol::leave_one_domain_out), on(2));
  });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_EQ(error.code(), "one_class");
  EXPECT_THAT(error.what(), testing::StartsWith("\"scale | logistic\" with site1 held out: logistic: "));
}

TEST(Evaluate, RefusesWhatItCannotScore) {
  const Dataset data = tiny(2, 10);
  const auto run = [&](const Dataset& d, const std::vector<std::string>& texts) {
    return error_of([&] { evaluate(d, pipelines(texts), with(Protocol::leave_one_domain_out), on(1)); }).code();
  };
  EXPECT_EQ(run(data, {}), "no_pipeline");
  EXPECT_EQ(run(data, {"scale"}), "no_learner");
  EXPECT_EQ(run(tiny(1, 10), {"constant"}), "needs_two_domains");
  Dataset unlabelled = data;
  unlabelled.y.reset();
  EXPECT_EQ(run(unlabelled, {"constant"}), "no_labels");
  unlabelled.y = data.y;
  std::fill(unlabelled.y->index.begin(), unlabelled.y->index.end(), -1);
  EXPECT_EQ(run(unlabelled, {"constant"}), "no_labels");
}

TEST(Evaluate, WarningsComeOnceAndProgressCountsFits) {
  Dataset data = tiny(3, 20);
  Matrix x = data.x.to_matrix();
  x.col(1).setConstant(std::numeric_limits<double>::quiet_NaN());  // impute warns of a column without values
  data.x = Features::dense(x, {"a", "b"});
  Recorder recorder;
  evaluate(data, pipelines({"impute | logistic l2=1", "impute | constant"}), with(Protocol::leave_one_domain_out),
           Context({.threads = 2, .observer = &recorder}));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_THAT(recorder.warnings[0], HasSubstr("'b'"));
  EXPECT_THAT(recorder.warnings[0], testing::EndsWith("(6 of 6 fits)"));
  EXPECT_EQ(recorder.finished, 6);
  EXPECT_TRUE(recorder.others.empty());
}

/// Domains A and B have categories p and q in a text column, C only `new` (rows 5, 6, ...).
Dataset with_text_column() {
  Dataset data = tiny(3, 20);
  data.domain.names = {"A", "B", "C"};
  Matrix x = Matrix::Zero(60, 4);
  x.col(0) = data.x.to_matrix().col(0);
  for (Index i = 0; i < 60; ++i) x(i, data.domain.index[static_cast<std::size_t>(i)] == 2 ? 1 : 2 + i / 3 % 2) = 1;
  data.schema.columns = {{"a", ColumnKind::numeric, {}}, {"t", ColumnKind::categorical, {"new", "p", "q"}}};
  data.x = Features::dense(x, data.schema.feature_names());
  return data;
}

TEST(Evaluate, UnseenCategoriesAreCountedOnceOverTheHeldOutRows) {
  const Dataset data = with_text_column();
  const auto pipes = pipelines({"constant", "scale | logistic l2=1"});
  Recorder recorder;
  evaluate(data, pipes, with(Protocol::leave_one_domain_out), Context({.threads = 2, .observer = &recorder}));
  EXPECT_THAT(
      recorder.warnings,
      ElementsAre("unseen_category: column 't': 20 held-out rows have a category that the model does not know"));
  // Rows of the target are in the training view, and so are its categories; k-fold has all of them in every fold.
  Recorder silent;
  const Context context({.threads = 2, .observer = &silent});
  evaluate(data, pipes, with(Protocol::adapt), context);
  evaluate(data, pipes, with(Protocol::k_fold), context);
  EXPECT_THAT(silent.warnings, ElementsAre());
}

TEST(Evaluate, SaysThatRolesAreNotLookedAt) {
  Dataset data = tiny(3, 20);
  data.role[1] = Role::target;
  Recorder recorder;
  evaluate(data, pipelines({"constant"}), with(Protocol::leave_one_domain_out),
           Context({.threads = 1, .observer = &recorder}));
  ASSERT_EQ(recorder.notes.size(), 1U);
  EXPECT_THAT(recorder.notes[0], HasSubstr("site1"));
  EXPECT_THAT(recorder.notes[0], HasSubstr("leave-one-domain-out"));
}

TEST(Evaluate, ErrorsCountRowsInTheFile) {
  Dataset data = tiny(2, 20);
  Matrix x = data.x.to_matrix();
  x(31, 1) = std::numeric_limits<double>::quiet_NaN();  // of site1
  data.x = Features::dense(x, {"a", "b"});
  const auto message = [&] {
    return std::string(
        error_of([&] { evaluate(data, pipelines({"logistic"}), with(Protocol::leave_one_domain_out), on(1)); }).what());
  };
  EXPECT_THAT(message(), HasSubstr("'b' is not a number in row 32;"));
  // Every row stands for the one 100 rows further on in a file.
  for (Index i = 0; i < data.rows(); ++i) data.origin.push_back(i + 100);
  EXPECT_THAT(message(), HasSubstr("'b' is not a number in row 132;"));
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
  const std::string one = evaluate(data, pipes, with(Protocol::leave_one_domain_out), on(1)).to_json().dump();
  EXPECT_EQ(evaluate(data, pipes, with(Protocol::leave_one_domain_out), on(2)).to_json().dump(), one);
  EXPECT_THAT(one, HasSubstr("\"rows\":1100"));
}

TEST(Evaluate, CancelStops) {
  CancelFlag cancel;
  cancel.request();
  const Dataset data = tiny(2, 10);
  const Error error = error_of([&] {
    evaluate(data, pipelines({"constant"}), with(Protocol::leave_one_domain_out),
             Context({.threads = 2, .cancel = &cancel}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace ecotone
