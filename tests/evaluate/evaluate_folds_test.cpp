#include "ecotone/measure/metrics.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace evaluate_folds_test {

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
  const auto splits = make_splits(places_of(data), options, on(2));
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

}  // namespace evaluate_folds_test
}  // namespace ecotone::test
