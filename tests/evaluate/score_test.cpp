#include "ecotone/evaluate/score.h"

#include <cmath>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace score_test {

using ::testing::HasSubstr;

Vector whole_weights(Index rows, std::uint64_t seed) {
  Random random(seed, "score-test");
  Vector weight(rows);
  for (Index i = 0; i < rows; ++i) weight[i] = static_cast<double>(1 + random.below(3));
  return weight;
}

/// The data with these rows, in this order, without weights.
Dataset take(const Dataset& data, const std::vector<Index>& rows) {
  Dataset result = data;
  result.x = data.x.take(rows);
  result.y = data.y->take(rows);
  result.domain = data.domain.take(rows);
  result.weight = {};
  return result;
}

EvaluateOptions quick(Protocol protocol, int resamples = 0) {
  EvaluateOptions options = with(protocol);
  options.resamples = resamples;
  return options;
}

TEST(Score, WeightTwoIsTheRowTwice) {
  // Without a penalty, weights and repeated rows give the same fit.
  for (Dataset data : {tiny(3, 30), tiny(3, 30, 3), tiny_regression(3, 30)}) {
    data.weight = whole_weights(data.rows(), 1);
    std::vector<Index> rows;
    for (Index i = 0; i < data.rows(); ++i)
      for (int k = 0; k < static_cast<int>(data.weight[i]); ++k) rows.push_back(i);
    const Dataset twice = take(data, rows);
    const bool classes = data.y->task == Task::classify;
    const auto pipes = pipelines({classes ? "logistic l2=0" : "least_squares l2=0"});
    const Evaluation a = evaluate(data, pipes, quick(Protocol::leave_one_domain_out), on(1));
    const Evaluation b = evaluate(twice, pipes, quick(Protocol::leave_one_domain_out), on(1));
    for (std::size_t d = 0; d < 3; ++d)
      for (const std::string& name : a.metrics) {
        const auto value = get(a.pipelines[0].domains[d].metrics, name);
        const auto other = get(b.pipelines[0].domains[d].metrics, name);
        ASSERT_EQ(value.has_value(), other.has_value()) << name;
        if (value) {
          EXPECT_NEAR(*value, *other, 1e-4) << name;
        }
      }
  }
}

TEST(Score, RowsOfWeightZeroAreNotScored) {
  Dataset data = tiny(3, 30);
  data.weight = Vector::Ones(data.rows());
  std::vector<Index> kept;
  for (Index i = 0; i < data.rows(); ++i) {
    if (i % 7 == 3) data.weight[i] = 0;
    if (data.weight[i] > 0) kept.push_back(i);
  }
  const auto pipes = pipelines({"constant"});
  const Evaluation a = evaluate(data, pipes, quick(Protocol::leave_one_domain_out, 50), on(1));
  const Evaluation b = evaluate(take(data, kept), pipes, quick(Protocol::leave_one_domain_out, 50), on(1));
  EXPECT_EQ(to_json(a), to_json(b));
  data.weight.setZero();
  for (const Index row : data.domain.rows_of(1)) data.weight[row] = 1;
  data.weight[data.domain.rows_of(0).front()] = 1;
  const Evaluation thin = evaluate(data, pipes, quick(Protocol::leave_one_domain_out, 50), on(1));
  EXPECT_EQ(thin.pipelines[0].domains[2].rows, 0);
  EXPECT_FALSE(get(thin.pipelines[0].domains[2].metrics, "accuracy"));
  EXPECT_TRUE(thin.pipelines[0].domains[2].prevalence.empty());
}

TEST(Score, BadWeightsAreRefused) {
  Dataset data = tiny(3, 10);
  data.weight = Vector::Ones(data.rows());
  data.weight[4] = -1;
  const Error error =
      error_of([&] { evaluate(data, pipelines({"constant"}), quick(Protocol::leave_one_domain_out), on(1)); });
  EXPECT_EQ(error.code(), "negative_weight");
  EXPECT_THAT(error.what(), HasSubstr("row 5"));
}

TEST(Score, PrevalenceIsTheShareOfEachClassByWeight) {
  Dataset data = tiny(2, 4);  // rows of the domains alternate
  data.y->index = {0, 1, 1, 1, 1, 0, 0, 1};
  data.weight = Vector::Ones(8);
  data.weight[2] = 3;
  const Evaluation result = evaluate(data, pipelines({"constant"}), quick(Protocol::k_fold), on(1));
  EXPECT_THAT(result.pipelines[0].domains[0].prevalence, ::testing::ElementsAre(2.0 / 6, 4.0 / 6));
  EXPECT_THAT(result.pipelines[0].domains[1].prevalence, ::testing::ElementsAre(0.25, 0.75));
  EXPECT_EQ(to_json(result).at("pipelines").at(0).at("domains").at(1).at("prevalence"),
            Json({{"c0", 0.25}, {"c1", 0.75}}));
  const Dataset numbers = tiny_regression(2, 5);
  const Evaluation means = evaluate(numbers, pipelines({"constant"}), quick(Protocol::leave_one_domain_out), on(1));
  double mean = 0;
  for (const Index row : numbers.domain.rows_of(1)) mean += numbers.y->value[row] / 5;
  EXPECT_NEAR(means.pipelines[0].domains[1].prevalence.at(0), mean, 1e-12);
  EXPECT_NEAR(to_json(means).at("pipelines").at(0).at("domains").at(1).at("label_mean").get<double>(), mean, 1e-12);
}

TEST(Score, WorstDomainOfEveryMetric) {
  const Evaluation result =
      evaluate(tiny(4, 30), pipelines({"scale | logistic l2=0.1"}), quick(Protocol::leave_one_domain_out), on(1));
  const PipelineScore& score = result.pipelines[0];
  ASSERT_EQ(score.worst.size(), result.metrics.size());
  for (const auto& [name, worst] : score.worst) {
    ASSERT_TRUE(worst) << name;
    for (const DomainScore& domain : score.domains) {
      EXPECT_LE(find_metric(name)->badness(*get(domain.metrics, name)), find_metric(name)->badness(worst->value));
      if (domain.domain == worst->domain) {
        EXPECT_EQ(*get(domain.metrics, name), worst->value);
      }
    }
  }
  EXPECT_EQ(to_json(result).at("pipelines").at(0).at("worst").at("auroc").at("domain"), score.worst[2].second->domain);
}

TEST(Score, IntervalsContainTheValueInEveryProtocol) {
  for (const Dataset& data : {tiny(3, 30), tiny(3, 40, 3), tiny_regression(3, 30)})
    for (const Protocol protocol :
         {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split, Protocol::k_fold}) {
      EvaluateOptions options = quick(protocol, 100);
      options.repetitions = 4;
      const Evaluation result = evaluate(data, pipelines({"constant"}), options, on(2));
      int found = 0;
      for (const DomainScore& domain : result.pipelines[0].domains) {
        ASSERT_EQ(domain.intervals.size(), domain.metrics.size());
        for (std::size_t m = 0; m < domain.metrics.size(); ++m) {
          const auto& [name, interval] = domain.intervals[m];
          EXPECT_EQ(name, domain.metrics[m].first);
          if (!interval) continue;
          ++found;
          ASSERT_TRUE(domain.metrics[m].second);
          EXPECT_LE(interval->low, *domain.metrics[m].second) << name;
          EXPECT_GE(interval->high, *domain.metrics[m].second) << name;
        }
      }
      EXPECT_GT(found, 5) << protocol_name(protocol);
    }
}

std::optional<Bounds> interval_of(const Evaluation& result, std::size_t domain, const std::string& metric) {
  for (const auto& [name, interval] : result.pipelines[0].domains[domain].intervals)
    if (name == metric) return interval;
  throw std::runtime_error("no interval of " + metric);
}

TEST(Score, IntervalsAreThoseOfResampledTables) {
  // Each resample as a table of its own.
  const Dataset data = tiny(2, 25);
  const auto pipes = pipelines({"logistic l2=1"});
  const int resamples = 60;
  const Evaluation result = evaluate(data, pipes, quick(Protocol::leave_one_domain_out, resamples), on(2, 5));
  const auto held = data.domain.rows_of(0);
  const Model model =
      Model::fit(pipes[0], train_view(data, data.domain.rows_of(1), {}, on(1, 5)), data.schema, on(1, 5));
  std::vector<double> areas, losses;
  for (int r = 0; r < resamples; ++r) {
    const auto counts =
        resample_counts(25, on(1, 5).derived("bootstrap", 0).random("resample", static_cast<std::uint64_t>(r)));
    std::vector<Index> rows;
    for (std::size_t i = 0; i < held.size(); ++i)
      for (int k = 0; k < static_cast<int>(counts[i]); ++k) rows.push_back(held[i]);
    const Prediction prediction = model.predict(batch(data, rows), on(1, 5));
    const Labels truth = data.y->take(rows);
    areas.push_back(auroc(truth.index, prediction.probability).value_or(std::nan("")));
    losses.push_back(log_loss(truth.index, prediction.probability));
  }
  const auto& metrics = result.pipelines[0].domains[0].metrics;
  const Bounds area = *percentile_bounds(areas, *get(metrics, "auroc"));
  EXPECT_NEAR(interval_of(result, 0, "auroc")->low, area.low, 1e-12);
  EXPECT_NEAR(interval_of(result, 0, "auroc")->high, area.high, 1e-12);
  const Bounds loss = *percentile_bounds(losses, *get(metrics, "log_loss"));
  EXPECT_NEAR(interval_of(result, 0, "log_loss")->low, loss.low, 1e-12);
  EXPECT_NEAR(interval_of(result, 0, "log_loss")->high, loss.high, 1e-12);
}

TEST(Score, OneRowOrOneGroupHasNoInterval) {
  Dataset data = tiny(3, 20);
  for (std::size_t i = 3; i < data.domain.index.size(); ++i)
    if (data.domain.index[i] == 2) data.domain.index[i] = 1;  // one row remains in the third domain
  const Evaluation result = evaluate(data, pipelines({"constant"}), quick(Protocol::leave_one_domain_out, 30), on(1));
  EXPECT_EQ(result.pipelines[0].domains[2].rows, 1);
  EXPECT_TRUE(get(result.pipelines[0].domains[2].metrics, "accuracy"));
  EXPECT_FALSE(interval_of(result, 2, "accuracy"));
  EXPECT_TRUE(interval_of(result, 0, "accuracy"));
  data.group.assign(data.domain.index.size(), -1);
  for (const Index row : data.domain.rows_of(0)) data.group[static_cast<std::size_t>(row)] = 7;
  const Evaluation grouped = evaluate(data, pipelines({"constant"}), quick(Protocol::leave_one_domain_out, 30), on(1));
  EXPECT_FALSE(interval_of(grouped, 0, "accuracy"));
  EXPECT_TRUE(interval_of(grouped, 1, "accuracy"));
}

TEST(Score, GroupsAreDrawnWhole) {
  // Ten rows of each of eight groups have one answer: eight independent rows, not eighty.
  Dataset data = tiny(2, 80);
  data.group.assign(data.domain.index.size(), -1);
  for (Index d = 0; d < 2; ++d) {
    const auto rows = data.domain.rows_of(d);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      data.group[row] = static_cast<std::int32_t>(100 * d + static_cast<Index>(i / 10));
      data.y->index[row] = i / 10 % 3 == 0;
    }
  }
  Dataset single = data;
  single.group.clear();
  const auto width = [](const Evaluation& result) {
    const auto interval = interval_of(result, 0, "accuracy");
    return interval->high - interval->low;
  };
  const auto options = quick(Protocol::leave_one_domain_out, 400);
  const double grouped = width(evaluate(data, pipelines({"constant"}), options, on(1)));
  const double alone = width(evaluate(single, pipelines({"constant"}), options, on(1)));
  EXPECT_GT(grouped, 2 * alone);  // sqrt(10) in expectation
}

TEST(Score, IntervalsFollowTheSeedAndNotTheThreads) {
  const Dataset data = tiny(3, 30);
  const auto pipes = pipelines({"constant", "logistic l2=1"});
  const auto options = quick(Protocol::leave_one_domain_out, 200);
  const Json one = to_json(evaluate(data, pipes, options, on(1, 3)));
  for (const int threads : {2, 7}) EXPECT_EQ(to_json(evaluate(data, pipes, options, on(threads, 3))), one);
  const Json other = to_json(evaluate(data, pipes, options, on(1, 4)));
  const auto intervals = [](const Json& json) {
    return json.at("pipelines").at(1).at("domains").at(0).at("intervals");
  };
  EXPECT_NE(intervals(other), intervals(one));
  const Json none = to_json(evaluate(data, pipes, quick(Protocol::leave_one_domain_out), on(1, 3)));
  EXPECT_FALSE(none.at("pipelines").at(0).at("domains").at(0).contains("intervals"));
}

TEST(Score, AFailedPipelineHasNoIntervals) {
  Dataset data = tiny(3, 20);
  for (const Index row : data.domain.rows_of(2)) data.y->index[static_cast<std::size_t>(row)] = 1;
  for (const Index row : data.domain.rows_of(1)) data.y->index[static_cast<std::size_t>(row)] = 1;
  const Evaluation result =
      evaluate(data, pipelines({"constant", "logistic l2=1"}), quick(Protocol::leave_one_domain_out, 50), on(1));
  ASSERT_TRUE(result.pipelines[1].error);
  for (const DomainScore& domain : result.pipelines[1].domains)
    for (const auto& [name, interval] : domain.intervals) EXPECT_FALSE(interval) << name;
  for (const auto& [name, worst] : result.pipelines[1].worst) EXPECT_FALSE(worst) << name;
}

}  // namespace score_test
}  // namespace ecotone::test
