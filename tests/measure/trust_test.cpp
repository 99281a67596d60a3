#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/expected_metrics.h"
#include "ecotone/measure/loss_shift.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/residual_interval.h"
#include "ecotone/measure/weighted_quantile.h"
#include "ecotone/measure/weights.h"
#include "error_code.h"
#include "golden_json.h"

namespace ecotone::test::trust_measure_test {

constexpr MetricScale share{.least = 0, .most = 1};

TEST(WeightedQuantile, GoldenCases) {
  const GoldenTasks golden("trust", "01_quantiles");
  for (const Json& task : golden.of("weighted_quantile")) {
    const WeightedQuantiles quantiles(numbers_of(task["scores"]), numbers_of(task["weights"]));
    golden.expect(task, "quantile", quantiles.at(task["level"].get<double>(), task["weight_inf"].get<double>()));
  }
  for (const Json& task : golden.of("split_quantile"))
    golden.expect(task, "quantile",
                  WeightedQuantiles(numbers_of(task["scores"])).at(1 - task["alpha"].get<double>(), 1));
}

TEST(WeightedQuantile, IsTheLeastScoreThatReachesTheLevel) {
  const std::vector<double> scores = {3, 1, 2, 2, 5}, weights = {1, 2, 0.5, 0.5, 0};
  const WeightedQuantiles quantiles(scores, weights);
  EXPECT_EQ(quantiles.total(), 4);
  for (const double level : {0.1, 0.5, 0.6, 0.75, 0.8, 1.0}) {
    const double q = quantiles.at(level);
    double up_to = 0, below = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      up_to += scores[i] <= q ? weights[i] : 0;
      below += scores[i] < q ? weights[i] : 0;
    }
    EXPECT_GE(up_to, level * 4) << level;
    EXPECT_LT(below, level * 4) << level;
    EXPECT_EQ(quantiles.weight_from(q), 4 - below);
  }
  EXPECT_EQ(quantiles.weight_from(3.5), 0);
}

TEST(WeightedConformal, GoldenCases) {
  const GoldenTasks golden("trust", "04_weighted_conformal");
  for (const Json& task : golden.of("weighted_conformal")) {
    const std::vector<double> weights = numbers_of(task["weights"]);
    const WeightedQuantiles quantiles(numbers_of(task["scores"]), weights);
    const double own = task["new_weight"].get<double>();
    golden.expect(task, "quantile", quantiles.at(1 - task["alpha"].get<double>(), own));
    golden.expect(task, "ess", effective_sample_size(vector_of(task["weights"])));
    golden.expect(task, "infinite_mass", own / (quantiles.total() + own));
  }
  for (const Json& task : golden.of("flatten")) {
    const Flattened flat =
        flatten_to_ess(vector_of(task["weights"]).array().log().matrix(), task["ess_target"].get<double>());
    golden.expect(task, "weights", flat.weights);
    golden.expect(task, "exponent", flat.exponent);
    golden.expect(task, "ess", effective_sample_size(flat.weights));
  }
}

TEST(WeightedQuantile, RefusesWhatItCannotSort) {
  const std::vector<double> two = {0.1, 0.2};
  const auto code = [&](std::vector<double> weights, double level, double inf) {
    return code_of([&] { WeightedQuantiles(two, weights).at(level, inf); });
  };
  EXPECT_EQ(code({1, -1}, 0.9, 1), "negative_weight");
  EXPECT_EQ(code({0, 0}, 0.9, 1), "zero_weights");
  EXPECT_EQ(code({1}, 0.9, 1), "shape_mismatch");
  EXPECT_EQ(code({1, std::nan("")}, 0.9, 1), "non_finite");
  EXPECT_EQ(code({1, 1}, 0, 1), "bad_level");
  EXPECT_EQ(code({1, 1}, 0.9, -1), "negative_weight");
  EXPECT_EQ(code_of([] { WeightedQuantiles(std::vector<double>{}); }), "empty_data");
  EXPECT_EQ(code_of([] { WeightedQuantiles(std::vector<double>{HUGE_VAL}); }), "non_finite");
}

TEST(ExpectedMetrics, AurocGolden) {
  const GoldenTasks golden("trust", "07_accuracy");
  for (const Json& task : golden.of("expected_auroc")) {
    const std::vector<double> score = numbers_of(task["score"]), q = numbers_of(task["probability"]);
    golden.expect(task, "auroc", expected_auroc(score, q).value());
    // The whole of it, from scores as probabilities of the second class.
    Matrix own(std::ssize(score), 2), truth(std::ssize(score), 2);
    std::vector<std::int32_t> predicted;
    for (std::size_t i = 0; i < score.size(); ++i) {
      own.row(static_cast<Index>(i)) << 1 - score[i], score[i];
      truth.row(static_cast<Index>(i)) << 1 - q[i], q[i];
      predicted.push_back(score[i] > 0.5 ? 1 : 0);
    }
    const ExpectedMetrics all = expected_metrics(truth, predicted, own);
    golden.compared(task, "metrics");
    const Json& wanted = task["expect"]["metrics"];
    EXPECT_NEAR(all.accuracy, wanted["accuracy"].get<double>(), 1e-12);
    EXPECT_NEAR(*all.balanced_accuracy, wanted["balanced_accuracy"].get<double>(), 1e-12);
    EXPECT_NEAR(all.log_loss, wanted["log_loss"].get<double>(), 1e-12);
    EXPECT_NEAR(all.brier_sum, wanted["brier"].get<double>(), 1e-12);
    EXPECT_NEAR(*all.auroc, wanted["auroc"].get<double>(), 1e-12);
  }
}

TEST(ExpectedMetrics, AreTheMetricsWhereProbabilitiesAreCertain) {
  // Rows of probability 0 or 1 have known labels.
  const std::vector<std::int32_t> truth = {0, 2, 1, 1, 0, 2, 2}, predicted = {0, 1, 1, 2, 0, 2, 1};
  Matrix own(7, 3);
  own << .6, .3, .1, .2, .5, .3, .1, .8, .1, .3, .3, .4, .7, .2, .1, .1, .1, .8, .3, .5, .2;
  Matrix certain = Matrix::Zero(7, 3);
  for (Index i = 0; i < 7; ++i) certain(i, truth[at(i)]) = 1;
  const ExpectedMetrics all = expected_metrics(certain, predicted, own);
  EXPECT_NEAR(all.accuracy, accuracy(truth, predicted), 1e-15);
  EXPECT_NEAR(*all.balanced_accuracy, balanced_accuracy(truth, predicted), 1e-15);
  EXPECT_NEAR(all.log_loss, log_loss(truth, own), 1e-15);
  EXPECT_NEAR(all.brier_sum, brier_sum(truth, own), 1e-15);
  EXPECT_NEAR(*all.auroc, *auroc(truth, own), 1e-15);
  EXPECT_FALSE(expected_auroc(std::vector<double>{0.2, 0.4}, std::vector<double>{0, 0}));
}

TEST(ResidualInterval, GoldenCases) {
  const GoldenTasks golden("trust", "07_accuracy");
  for (const Json& task : golden.of("residual_interval")) {
    const std::vector<double> residuals = numbers_of(task["residuals"]);
    const double estimate = task["estimate"].get<double>(), level = 1 - task["alpha"].get<double>();
    const auto ends = [](const Bounds& reach) { return Vector{{reach.low, reach.high}}; };
    golden.expect(task, "t", ends(t_reach(estimate, residuals, level, share)));
    golden.expect(task, "t_centred", ends(centred_t_reach(estimate, residuals, level, share)));
    // An infinite quantile is the whole range in the golden cases.
    golden.expect(task, "conformal", ends(conformal_reach(estimate, residuals, level, share).value_or(Bounds{0, 1})));
  }
  EXPECT_EQ(code_of([] { t_reach(0.8, std::vector<double>{0.1}, 0.9, share); }), "too_few_domains");
}

TEST(ResidualInterval, ErrorsAreComparedAsFactors) {
  constexpr MetricScale error{.least = 0, .logarithmic = true};
  EXPECT_NEAR(*error.residual(8, 4), std::log(2), 1e-15);
  EXPECT_FALSE(error.residual(0, 4));
  const std::vector<double> residuals = {std::log(2), -std::log(2), std::log(2)};
  const Bounds reach = t_reach(10, residuals, 0.9, error);
  EXPECT_NEAR(reach.high / 10, 10 / reach.low, 1e-12);
  EXPECT_NEAR(std::log(reach.high / 10), t_half_width(residuals, 0.9), 1e-12);
}

TEST(ResidualInterval, ASmallNewDomainIsWider) {
  const std::vector<double> residuals = {0.02, -0.03, 0.01, 0.02};
  EXPECT_NEAR(t_half_width(residuals, 0.9, 0.0016) / t_half_width(residuals, 0.9),
              std::sqrt((0.0018 / 4 + 0.0016) / (0.0018 / 4)), 1e-12);
}

TEST(ResidualInterval, MoreDomainsNarrowItOnlySoFar) {
  // t(2) sqrt(3/2) = 3.576 halves at 19 domains: t(18) sqrt(19/18) = 1.782, while 18 give 1.790.
  const MoreDomains few = more_domains(3, 0.9);
  EXPECT_EQ(few.for_half, 19);
  EXPECT_NEAR(few.narrowest, 1.6449 / 3.5764, 1e-4);
  EXPECT_FALSE(more_domains(4, 0.9).for_half);
  EXPECT_GT(more_domains(40, 0.9).narrowest, 0.95);
}

TEST(LossShift, GoldenCases) {
  const GoldenTasks golden("trust", "08_disde");
  for (const Json& task : golden.of("disde")) {
    const Vector pi_s = vector_of(task["pi_source"]), pi_t = vector_of(task["pi_target"]);
    const Vector loss_s = vector_of(task["loss_source"]), loss_t = vector_of(task["loss_target"]);
    const LossShift shift = loss_shift({pi_s, loss_s}, {pi_t, loss_t});
    golden.expect(task, "alpha", static_cast<double>(pi_t.size()) / static_cast<double>(pi_s.size() + pi_t.size()));
    golden.expect(task, "P", shift.source);
    golden.expect(task, "Q", shift.target);
    golden.expect(task, "S_s", shift.shared_source);
    golden.expect(task, "S_t", shift.shared_target);
    golden.expect(task, "w_s", shift.source_weight);
    golden.expect(task, "w_t", shift.target_weight);
    golden.expect(task, "ess_s", shift.source_rows);
    golden.expect(task, "ess_t", shift.target_rows);
    golden.expect(task, "x_source_to_shared", shift.x_source_to_shared());
    golden.expect(task, "y_given_x", shift.y_given_x());
    golden.expect(task, "x_shared_to_target", shift.x_shared_to_target());
    golden.expect(task, "se_y_given_x", shift.y_given_x_error);
    EXPECT_NEAR(shift.x_source_to_shared() + shift.y_given_x() + shift.x_shared_to_target(), shift.total(), 1e-15);
  }
}

TEST(LossShift, TheDifferenceHasTheErrorOfTwoMeans) {
  const Vector half = Vector::Constant(4, 0.5), less{{0.0, 0.0, 1.0, 1.0}}, more{{0.0, 2.0, 2.0, 4.0}};
  // Of four rows each with variances 1/4 and 2.
  EXPECT_NEAR(loss_shift({half, less}, {half, more}).total_error, std::sqrt(0.25 / 4 + 2.0 / 4), 1e-12);
}

TEST(TrustMeasure, RefusesWhatTheGoldenCasesRefuse) {
  const GoldenTasks golden("trust", "10_errors");
  const auto expect_code = [&](const Json& task, const std::string& code) {
    golden.compared(task, "error");
    EXPECT_EQ(code, task["expect"]["error"].get<std::string>());
  };
  for (const Json& task : golden.of("weighted_conformal"))
    expect_code(task, code_of([&] {
                  const WeightedQuantiles quantiles(numbers_of(task["scores"]), numbers_of(task["weights"]));
                  quantiles.at(1 - task["alpha"].get<double>(), task["new_weight"].get<double>());
                }));
  for (const Json& task : golden.of("residual_interval"))
    expect_code(task, code_of([&] {
                  t_reach(task["estimate"].get<double>(), numbers_of(task["residuals"]),
                          1 - task["alpha"].get<double>(), share);
                }));
  for (const Json& task : golden.of("disde"))
    expect_code(task, code_of([&] {
                  loss_shift({vector_of(task["pi_source"]), vector_of(task["loss_source"])},
                             {vector_of(task["pi_target"]), vector_of(task["loss_target"])});
                }));
}

TEST(LossShift, SamplesWithoutAnOverlapAreRefused) {
  const Vector none = Vector::Zero(2), all = Vector::Ones(2), loss = Vector{{0.0, 1.0}};
  EXPECT_EQ(code_of([&] { loss_shift({none, loss}, {all, loss}); }), "no_overlap");
  EXPECT_EQ(code_of([&] { loss_shift({Vector(), Vector()}, {all, loss}); }), "empty_data");
}

}  // namespace ecotone::test::trust_measure_test
