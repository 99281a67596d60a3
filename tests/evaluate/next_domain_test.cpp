#include "ecotone/evaluate/next_domain.h"

#include "ecotone/methods/model.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace next_domain_test {

Evaluation evaluated(const Dataset& data, const std::vector<std::string>& texts, NextDomainBy by,
                     Protocol protocol = Protocol::leave_one_domain_out) {
  EvaluateOptions options = with(protocol);
  options.next_domain = by;
  options.resamples = 0;
  return evaluate(data, pipelines(texts), options, on(2, 5));
}

const NextDomain& next_of(const PipelineScore& score, const std::string& metric) {
  for (const auto& [name, next] : score.next)
    if (name == metric) return next.value();
  throw std::runtime_error("no " + metric);
}

/// Accuracy in domain j of a model without the domains in `without`.
double accuracy_without(const Dataset& data, const std::string& text, Index j, const std::vector<Index>& without) {
  std::vector<Index> train;
  for (Index i = 0; i < data.rows(); ++i)
    if (std::ranges::find(without, data.domain.index[at(i)]) == without.end()) train.push_back(i);
  const Model model = Model::fit(Pipeline::parse(text), train_view(data, train, {}, on(1, 5)), data.schema, on(1, 5));
  const std::vector<Index> own = data.domain.rows_of(j);
  const Prediction p = model.predict(batch(data, own), on(1, 5));
  double right = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    right += model.classes()[at(p.index[i])] == data.y->classes[at(data.y->index[at(own[i])])];
  return right / static_cast<double>(own.size());
}

TEST(NextDomain, ReplaysEveryDomainWithModelsThatHaveNotSeenIt) {
  const Dataset data = tiny(4, 30);
  const std::string text = "scale | logistic l2=0.1";
  const Evaluation found = evaluated(data, {text}, NextDomainBy::replay);
  std::vector<double> residuals;
  double mean = 0;
  for (Index k = 0; k < 4; ++k) {
    double expected = 0;
    for (Index j = 0; j < 4; ++j)
      if (j != k) expected += accuracy_without(data, text, j, {j, k}) / 3;
    const double truth = accuracy_without(data, text, k, {k});
    mean += truth / 4;
    residuals.push_back(truth - expected);
  }
  const NextDomain& next = next_of(found.pipelines[0], "accuracy");
  const Bounds wanted = t_reach(mean, residuals, 0.9, {.least = 0, .most = 1});
  EXPECT_NEAR(next.estimate, mean, 1e-12);
  EXPECT_NEAR(next.reach.low, wanted.low, 1e-12);
  EXPECT_NEAR(next.reach.high, wanted.high, 1e-12);
  EXPECT_EQ(next.domains, 4);
  EXPECT_FALSE(next.conformal);  // four domains cannot promise 90%
  EXPECT_EQ(found.pipelines[0].next_by, NextDomainBy::replay);
}

TEST(NextDomain, CheapUsesTheScoresThatAreThere) {
  const Dataset data = tiny(5, 30);
  const Evaluation found = evaluated(data, {"scale | logistic l2=0.1"}, NextDomainBy::cheap);
  const PipelineScore& score = found.pipelines[0];
  std::vector<double> values, residuals;
  for (const DomainScore& domain : score.domains) values.push_back(*value_of(domain.metrics, "auroc"));
  double sum = 0;
  for (const double v : values) sum += v;
  for (const double v : values) residuals.push_back(v - (sum - v) / 4);
  EXPECT_NEAR(next_of(score, "auroc").reach.low, t_reach(sum / 5, residuals, 0.9, {.least = 0, .most = 1}).low, 1e-12);
  EXPECT_EQ(score.next_by, NextDomainBy::cheap);
}

TEST(NextDomain, IsThereOnlyWhereDomainsAreHeldOutOneByOne) {
  EXPECT_TRUE(evaluated(tiny(2, 30), {"logistic l2=1"}, NextDomainBy::automatic).pipelines[0].next.empty());
  EXPECT_TRUE(evaluated(tiny(4, 30), {"logistic l2=1"}, NextDomainBy::none).pipelines[0].next.empty());
  EXPECT_TRUE(
      evaluated(tiny(4, 30), {"logistic l2=1"}, NextDomainBy::automatic, Protocol::k_fold).pipelines[0].next.empty());
  // A pipeline that adapts, and grids, have the cheap one.
  EXPECT_EQ(evaluated(tiny(4, 30), {"logistic l2=1"}, NextDomainBy::automatic, Protocol::adapt).pipelines[0].next_by,
            NextDomainBy::cheap);
}

TEST(NextDomain, ScoresDoNotDependOnIt) {
  const Dataset data = tiny(4, 30);
  const Evaluation with_it = evaluated(data, {"logistic l2=1", "constant"}, NextDomainBy::replay);
  const Evaluation without = evaluated(data, {"logistic l2=1", "constant"}, NextDomainBy::none);
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t d = 0; d < 4; ++d)
      EXPECT_EQ(with_it.pipelines[p].domains[d].metrics, without.pipelines[p].domains[d].metrics);
}

TEST(NextDomain, ErrorsOfNumbersAreComparedAsFactors) {
  const Evaluation found = evaluated(tiny_regression(6, 20), {"ridge"}, NextDomainBy::replay);
  const NextDomain& rmse = next_of(found.pipelines[0], "rmse");
  EXPECT_GT(rmse.reach.low, 0);
  EXPECT_NEAR(rmse.reach.high / rmse.estimate, rmse.estimate / rmse.reach.low, 1e-9);
}

TEST(NextDomain, SetsHaveMetricsOfTheirOwn) {
  const Evaluation found =
      evaluated(tiny(4, 40), {"logistic l2=1", "logistic l2=1 | conformal level=0.6"}, NextDomainBy::none);
  EXPECT_NE(std::ranges::find(found.metrics, "set_coverage"), found.metrics.end());
  EXPECT_FALSE(value_of(found.pipelines[0].mean, "set_coverage"));
  EXPECT_GT(*value_of(found.pipelines[1].mean, "set_coverage"), 0.4);
  EXPECT_GE(*value_of(found.pipelines[1].mean, "set_size"), *value_of(found.pipelines[1].mean, "set_coverage"));
  EXPECT_EQ(found.pipelines[1].set_level, 0.6);
  EXPECT_FALSE(found.pipelines[0].set_level);
}

}  // namespace next_domain_test
}  // namespace ecotone::test
