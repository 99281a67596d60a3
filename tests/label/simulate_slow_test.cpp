// What strategies and audits are worth, by simulation on synthetic problems.
#include <algorithm>

#include "ecotone/data/generate/generate.h"
#include "ecotone/label/simulate.h"
#include "methods/support.h"

namespace ecotone::test {
namespace simulate_slow_test {

/// Pool of 1,500 rows, 3,000 held out, seed of 10, logistic l2=0.005; without audits.
LabelSimulation simulated(const std::string& problem, const std::string& strategy, Index budget, Index repeat,
                          std::uint64_t seed) {
  const Context run({.seed = seed});
  const Dataset data = generate(problem, {{"pool", "4500"}, {"test", "0"}}, run);
  return simulate_labelling(data, Pipeline::parse("logistic l2=0.005"), {Strategy::parse(strategy)},
                            {.budget = budget, .repeat = repeat, .audit = 0, .test_share = 2.0 / 3}, run);
}

TEST(SimulateSlow, UncertainRowsHalveTheLabelsOfSeparableClasses) {
  const LabelSimulation simulation = simulated("separable10", "least_confidence explore=0", 150, 20, 1);
  EXPECT_EQ(simulation.pool, 1500);
  EXPECT_EQ(simulation.held_out, 3000);
  const auto uncertain = simulation.curves.front().median_reached;
  const auto random = simulation.curves.back().median_reached;
  ASSERT_TRUE(uncertain && random);
  EXPECT_LE(*uncertain, 0.6 * *random);
}

/// Rows drawn at random, half of them far from all labels, find the region that the seed missed.
TEST(SimulateSlow, ExploringFindsTheHiddenBlob) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const LabelSimulation simulation = simulated("hidden_blob", "least_confidence explore=0.2", 200, 40, seed);
    EXPECT_EQ(
        std::ranges::count_if(simulation.curves.front().reached, [](const auto& labels) { return labels.has_value(); }),
        40)
        << "seed " << seed;
  }
}

/// The audit's 90% interval holds the accuracy on held-out rows of the target in 90% of the runs, whatever asks.
TEST(SimulateSlow, AuditIntervalsHoldTheAccuracyOfTheTarget) {
  const Context run({.seed = 1});
  Dataset data = generate("clinics", {{"size", "4"}}, run);
  set_targets(data, {"Brightwater"});
  const LabelSimulation simulation =
      simulate_labelling(data, Pipeline::parse("impute | scale | logistic l2=0.01"),
                         {Strategy::parse("least_confidence batch=50")}, {.budget = 200, .repeat = 500}, run);
  double sum = 0;
  int points = 0;
  for (const StrategyCurve& curve : simulation.curves)
    for (const CurvePoint& point : curve.points) {
      if (!point.coverage) continue;
      EXPECT_GE(*point.coverage, 0.86) << curve.strategy << " at " << point.labels;
      sum += *point.coverage;
      ++points;
    }
  EXPECT_EQ(points, 8);
  EXPECT_GE(sum / points, 0.88);
  EXPECT_LE(sum / points, 0.97);
}

}  // namespace simulate_slow_test
}  // namespace ecotone::test
