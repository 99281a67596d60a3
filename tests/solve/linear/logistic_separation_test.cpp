// Without a penalty there is an optimum only when the classes overlap.
#include <gtest/gtest.h>

#include "solve/linear/logistic_support.h"

namespace ecotone {
namespace logistic_separation_test {

Sample on_a_line(const std::vector<double>& x, const std::vector<std::int32_t>& cls, Index classes = 2) {
  return {Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size())), cls, classes, Vector()};
}

TEST(LogisticSeparation, CompleteSeparationIsRefused) {
  EXPECT_EQ(error_code(on_a_line({-2, -1, 1, 2}, {0, 0, 1, 1}), {}), "separable");
  // A narrow gap far from the origin.
  EXPECT_EQ(error_code(on_a_line({1e6, 1e6 + 1, 1e6 + 1.001, 1e6 + 2}, {0, 0, 1, 1}), {}), "separable");
  Sample sample = draw_sample(200, 5);
  const Vector direction = Vector::LinSpaced(5, -1, 1);
  for (Index i = 0; i < 200; ++i)
    sample.cls[static_cast<std::size_t>(i)] = sample.x.row(i).dot(direction) > 0.3 ? 1 : 0;
  EXPECT_EQ(error_code(sample, {}), "separable");
  EXPECT_EQ(error_code(sample, {.l2 = 1e-8}), "");
}

TEST(LogisticSeparation, QuasiCompleteSeparationIsRefused) {
  EXPECT_EQ(error_code(on_a_line({-1, 0, 0, 1}, {0, 0, 1, 1}), {}), "separable");
  // Overlap in the first column; the second is 1 for some rows of class 1 only.
  Sample sample = draw_sample(300, 2);
  for (Index i = 0; i < 300; ++i) sample.x(i, 1) = sample.cls[static_cast<std::size_t>(i)] == 1 && i % 4 == 0 ? 1 : 0;
  EXPECT_EQ(error_code(sample, {}), "separable");
  EXPECT_EQ(error_code(sample, {.offset = false}), "separable");
  EXPECT_EQ(error_code(sample, {.l2 = 1e-6}), "");
}

TEST(LogisticSeparation, QuasiCompleteSeparationOfOneClassOfThree) {
  Sample sample = draw_sample(300, 2, 3);
  for (Index i = 0; i < 300; ++i) sample.x(i, 1) = sample.cls[static_cast<std::size_t>(i)] == 1 && i % 4 == 0 ? 1 : 0;
  EXPECT_EQ(error_code(sample, {}), "separable");
  EXPECT_EQ(error_code(sample, {.l2 = 1e-6}), "");
  EXPECT_EQ(error_code(on_a_line({-3, -2, 0, 0.5, 2, 3}, {0, 0, 1, 1, 2, 2}, 3), {}), "separable");
}

TEST(LogisticSeparation, CollinearColumnsDoNotHideIt) {
  Sample sample = on_a_line({-1, 0, 0, 1, 3, -4}, {0, 0, 1, 1, 1, 0});
  sample.x.conservativeResize(6, 3);
  sample.x.col(1) = 2 * sample.x.col(0);
  sample.x.col(2).setConstant(7);
  EXPECT_EQ(error_code(sample, {}), "separable");
}

TEST(LogisticSeparation, OnlyRowsWithWeightCount) {
  Sample sample = on_a_line({-2, -1, 1.5, 1, 2}, {0, 0, 0, 1, 1});
  EXPECT_EQ(error_code(sample, {}), "");
  sample.weight = Vector{{1, 1, 0, 1, 1}};
  EXPECT_EQ(error_code(sample, {}), "separable");
  sample.weight = Vector{{1, 1, 1e-6, 1, 1}};
  EXPECT_EQ(error_code(sample, {}), "");
}

TEST(LogisticSeparation, WellSeparatedButOverlappingIsFitted) {
  for (const double overlap : {1e-1, 1e-3, 1e-5}) {
    std::vector<double> x;
    std::vector<std::int32_t> cls;
    for (int i = 1; i <= 50; ++i) {
      x.insert(x.end(), {-0.02 * i, 0.02 * i});
      cls.insert(cls.end(), {0, 1});
    }
    x.insert(x.end(), {-overlap, overlap});
    cls.insert(cls.end(), {1, 0});
    const Sample sample = on_a_line(x, cls);
    const LinearFit best = fit(sample, {});
    EXPECT_TRUE(best.converged) << overlap;
    EXPECT_GT(best.weights(0, 0), 10);
    const double risk = risk_of(sample, best.weights, best.offset, {});
    EXPECT_NEAR(risk, best.risk, 1e-13);
    for (const double factor : {0.99, 1.01}) {
      EXPECT_GT(risk_of(sample, factor * best.weights, best.offset, {}), risk) << overlap;
    }
  }
}

TEST(LogisticSeparation, ManyClassesWellSeparatedButOverlapping) {
  Sample sample = draw_sample(300, 2, 3);
  for (Index i = 0; i < 300; ++i) sample.x(i, sample.cls[static_cast<std::size_t>(i)] % 2) += 8;
  for (std::size_t i = 0; i < 6; ++i) sample.cls[i] = static_cast<std::int32_t>(i % 3);
  const LinearFit best = fit(sample, {});
  EXPECT_TRUE(best.converged);
  EXPECT_LT(best.kkt, 1e-11);
}

}  // namespace logistic_separation_test
}  // namespace ecotone
