#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "ecotone/solve/linear/linear.h"
#include "solve/linear/logistic_support.h"

namespace ecotone {
namespace logistic_test {

TEST(Logistic, RiskIsThatOfTheDefinitionAndLeast) {
  for (const Index classes : {2, 4}) {
    for (const bool offset : {true, false}) {
      Sample sample = draw_sample(150, 3, classes);
      sample.weight = Vector::LinSpaced(150, 0.0, 2.0);
      const FitSettings settings{.l2 = 0.02, .offset = offset};
      const LinearFit best = fit(sample, settings);
      EXPECT_TRUE(best.converged);
      const double risk = risk_of(sample, best.weights, best.offset, settings);
      EXPECT_NEAR(best.risk, risk, 1e-14);
      // Central differences of the definition: each derivative is zero at the optimum.
      const double h = 1e-5;
      for (Index k = 0; k < best.weights.rows(); ++k) {
        for (Index j = 0; j < (offset ? 4 : 3); ++j) {
          const auto at = [&](double step) {
            LinearFit moved = best;
            (j < 3 ? moved.weights(k, j) : moved.offset[k]) += step;
            return risk_of(sample, moved.weights, moved.offset, settings);
          };
          EXPECT_NEAR((at(h) - at(-h)) / (2 * h), 0.0, 1e-10);
          EXPECT_GT(at(0.1), risk);
          EXPECT_GT(at(-0.1), risk);
        }
      }
    }
  }
}

TEST(Logistic, KktIsTheGradientInGivenUnits) {
  // Stopped early, the gradient is not zero and must match differences of the definition.
  for (const Index classes : {2, 3}) {
    Sample sample = draw_sample(80, 2, classes);
    sample.x.col(0) = 30 * sample.x.col(0).array() + 500;
    const FitSettings settings{.l2 = 1e-4};
    const LinearFit early = fit_linear({.x = Features::dense(sample.x),
                                        .cls = sample.cls,
                                        .classes = classes,
                                        .weight = sample.weight,
                                        .l2 = settings.l2,
                                        .max_iterations = 1},
                                       Context(Context::Settings{.threads = 1}));
    EXPECT_FALSE(early.converged);
    EXPECT_EQ(early.iterations, 1);
    double largest = 0;
    for (Index k = 0; k < early.weights.rows(); ++k) {
      for (Index j = 0; j < 3; ++j) {
        const auto at = [&](double step) {
          LinearFit moved = early;
          (j < 2 ? moved.weights(k, j) : moved.offset[k]) += step;
          return risk_of(sample, moved.weights, moved.offset, settings);
        };
        largest = std::max(largest, std::abs(at(1e-6) - at(-1e-6)) / 2e-6);
      }
    }
    EXPECT_GT(largest, 1e-3);
    EXPECT_NEAR(early.kkt, largest, 1e-5 * largest);
  }
}

TEST(Logistic, WeightsAreRepetitions) {
  for (const Index classes : {2, 3}) {
    Sample sample = draw_sample(120, 3, classes);
    sample.weight = Vector::Ones(120);
    sample.weight.head(40).setConstant(2);
    sample.weight.segment(40, 10).setZero();
    Sample repeated{Matrix(150, 3), {}, classes, Vector()};
    for (Index i = 0; i < 120; ++i) {
      for (int copy = 0; copy < static_cast<int>(sample.weight[i]); ++copy) {
        repeated.x.row(static_cast<Index>(repeated.cls.size())) = sample.x.row(i);
        repeated.cls.push_back(sample.cls[static_cast<std::size_t>(i)]);
      }
    }
    const LinearFit all = fit(repeated, {.l2 = 0.01});
    EXPECT_LT(gap(fit(sample, {.l2 = 0.01, .norm_by_weights = true}), all), 1e-11);
    // A = 120 rows in place of 150: the same optimum with the penalty scaled along.
    const LinearFit by_count = fit(sample, {.l2 = 0.01 * 150 / 120});
    EXPECT_LT(gap(by_count, all), 1e-11);
    EXPECT_NEAR(by_count.risk, all.risk * 150 / 120, 1e-13);
  }
}

TEST(Logistic, RowOrderDoesNotMatter) {
  for (const Index classes : {2, 3}) {
    const Sample sample = draw_sample(2000, 5, classes);
    Sample shuffled = sample;
    const std::vector<Index> order = Random(5, "test.order").permutation(2000);
    for (Index i = 0; i < 2000; ++i) {
      const Index from = order[static_cast<std::size_t>(i)];
      shuffled.x.row(i) = sample.x.row(from);
      shuffled.cls[static_cast<std::size_t>(i)] = sample.cls[static_cast<std::size_t>(from)];
    }
    EXPECT_LT(gap(fit(sample, {.l2 = 1e-3}), fit(shuffled, {.l2 = 1e-3})), 1e-12);
    EXPECT_LT(gap(fit(sample, {}), fit(shuffled, {})), 1e-12);
  }
}

TEST(Logistic, WithoutPenaltyUnitsDoNotMatter) {
  const Sample sample = draw_sample(300, 3);
  Sample scaled = sample;
  scaled.x.col(0) = 1e9 * sample.x.col(0).array() + 1e12;
  scaled.x.col(1) *= 1e-12;
  scaled.x.col(2).array() -= 1e5;
  const LinearFit a = fit(sample, {});
  const LinearFit b = fit(scaled, {});
  EXPECT_TRUE(b.converged);
  EXPECT_NEAR(b.weights(0, 0) * 1e9, a.weights(0, 0), 1e-9);
  EXPECT_NEAR(b.weights(0, 1) * 1e-12, a.weights(0, 1), 1e-9);
  EXPECT_NEAR(b.weights(0, 2), a.weights(0, 2), 1e-9);
  EXPECT_NEAR(b.risk, a.risk, 1e-13);
}

TEST(Logistic, SwappingTheClassesTurnsTheSign) {
  const Sample sample = draw_sample(200, 3);
  Sample swapped = sample;
  for (std::int32_t& c : swapped.cls) c = 1 - c;
  const LinearFit a = fit(sample, {.l2 = 0.01});
  const LinearFit b = fit(swapped, {.l2 = 0.01});
  EXPECT_LT((a.weights + b.weights).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((a.offset + b.offset).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Logistic, SoftmaxSumsToZeroAndFollowsItsClasses) {
  for (const double l2 : {0.0, 0.01}) {
    const Sample sample = draw_sample(400, 4, 4);
    const LinearFit a = fit(sample, {.l2 = l2});
    EXPECT_LT(a.weights.colwise().sum().cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_NEAR(a.offset.sum(), 0, 1e-13);
    Sample renamed = sample;
    for (std::int32_t& c : renamed.cls) c = (c + 1) % 4;
    const LinearFit b = fit(renamed, {.l2 = l2});
    for (Index k = 0; k < 4; ++k) {
      EXPECT_LT((a.weights.row(k) - b.weights.row((k + 1) % 4)).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_NEAR(a.offset[k], b.offset[(k + 1) % 4], 1e-11);
    }
  }
}

TEST(Logistic, SoftmaxMeetsItsClassFrequencies) {
  // The offsets' equations: mean probabilities are the classes' frequencies.
  const Sample sample = draw_sample(500, 3, 3);
  const LinearFit best = fit(sample, {.l2 = 0.1});
  Vector mean = Vector::Zero(3);
  Vector frequency = Vector::Zero(3);
  for (Index i = 0; i < 500; ++i) {
    const Vector e = (best.weights * sample.x.row(i).transpose() + best.offset).array().exp();
    mean += e / e.sum() / 500;
    frequency[sample.cls[static_cast<std::size_t>(i)]] += 1.0 / 500;
  }
  EXPECT_LT((mean - frequency).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Logistic, RedundantColumnsShareWithoutPenalty) {
  Sample sample = draw_sample(200, 4);
  sample.x.col(1).setConstant(0.1);   // constant
  sample.x.col(3) = sample.x.col(2);  // equal to another
  Sample plain = sample;
  plain.x.resize(200, 2);
  plain.x.col(0) = sample.x.col(0);
  plain.x.col(1) = sample.x.col(2);
  const LinearFit a = fit(sample, {});
  const LinearFit b = fit(plain, {});
  EXPECT_TRUE(a.converged);
  EXPECT_EQ(a.weights(0, 1), 0.0);
  EXPECT_NEAR(a.weights(0, 2), a.weights(0, 3), 1e-10);
  EXPECT_NEAR(a.weights(0, 2) + a.weights(0, 3), b.weights(0, 1), 1e-10);
  EXPECT_NEAR(a.risk, b.risk, 1e-13);
}

TEST(Logistic, AFullSetOfIndicatorsBesideTheOffset) {
  for (const Index classes : {2, 3}) {
    Sample sample = draw_sample(300, 1, classes);
    const Vector x = sample.x.col(0);
    sample.x = Matrix::Zero(300, 4);
    sample.x.col(0) = x;
    for (Index i = 0; i < 300; ++i) sample.x(i, 1 + i % 3) = 1;
    Sample basic = sample;
    basic.x = Matrix(sample.x.leftCols(3));
    const LinearFit a = fit(sample, {});
    const LinearFit b = fit(basic, {});
    EXPECT_TRUE(a.converged);
    EXPECT_NEAR(a.risk, b.risk, 1e-13);
    EXPECT_LT((a.weights.col(0) - b.weights.col(0)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT(a.weights.cwiseAbs().maxCoeff(), 10);
  }
}

TEST(Logistic, WithoutColumnsTheOffsetIsTheLogOdds) {
  const Sample sample{Matrix(5, 0), {1, 0, 1, 1, 1}, 2, Vector()};
  const LinearFit best = fit(sample, {});
  EXPECT_TRUE(best.converged);
  EXPECT_NEAR(best.offset[0], std::log(4.0), 1e-14);
  EXPECT_NEAR(fit(sample, {.offset = false}).risk, std::log(2.0), 1e-15);
}

TEST(Logistic, RefusesBadDataInOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Sample sample = draw_sample(20, 2);
  const auto code = [&] { return error_code(sample, {.l2 = 0.1}); };
  EXPECT_EQ(code(), "");
  for (std::int32_t& c : sample.cls) c = 1;
  EXPECT_EQ(code(), "one_class");
  sample.weight = Vector::Zero(20);
  EXPECT_EQ(code(), "zero_weights");
  sample.weight[3] = -1;
  EXPECT_EQ(code(), "negative_weight");
  sample.cls[4] = 2;
  EXPECT_EQ(code(), "bad_label");
  sample.weight[5] = nan;
  EXPECT_EQ(code(), "non_finite");
  sample.weight[5] = 1;
  sample.x(7, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code(), "non_finite");
  sample.weight.conservativeResize(19);
  EXPECT_EQ(code(), "shape_mismatch");
  EXPECT_EQ(error_code(Sample{Matrix(0, 2), {}, 2, Vector()}, {}), "empty_data");
  EXPECT_EQ(error_code(draw_sample(20, 2), {.l2 = -1}), "bad_option");
  EXPECT_EQ(error_code(draw_sample(20, 2), {.l2 = nan}), "bad_option");
}

TEST(Logistic, ANonFiniteValueIsNamed) {
  Sample sample = draw_sample(20, 2);
  sample.x(7, 1) = std::numeric_limits<double>::quiet_NaN();
  try {
    fit(Features::dense(sample.x, {"age", "weight"}), sample, {.l2 = 1});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("weight"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("impute"), std::string::npos) << error.what();
  }
}

TEST(Logistic, AClassWithoutWeightHasNoOptimum) {
  Sample sample = draw_sample(60, 2, 3);
  sample.weight = Vector::Ones(60);
  for (std::size_t i = 0; i < 60; ++i)
    if (sample.cls[i] == 1) sample.weight[static_cast<Index>(i)] = 0;
  EXPECT_EQ(error_code(sample, {.l2 = 0.1}), "empty_class");
  EXPECT_TRUE(fit(sample, {.l2 = 0.1, .offset = false}).converged);
}

}  // namespace logistic_test
}  // namespace ecotone
