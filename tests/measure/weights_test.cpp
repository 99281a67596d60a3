#include "ecotone/measure/weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace weights_test {

Vector logs() { return Vector{{-3.0, 0.5, 1.0, 2.0, -0.25, 0.0}}; }

TEST(Weights, NormalisedHaveMeanOneAndKeepTheirRatios) {
  const Vector weights = normalised(Vector{{1.0, 3.0, 0.0, 4.0}});
  EXPECT_DOUBLE_EQ(weights.mean(), 1);
  EXPECT_DOUBLE_EQ(weights[1] / weights[0], 3);
  EXPECT_EQ(weights[2], 0);
}

TEST(Weights, LargestShareIsOfTheSum) {
  EXPECT_DOUBLE_EQ(largest_share(Vector{{1.0, 3.0, 0.0, 4.0}}), 0.5);
  EXPECT_DOUBLE_EQ(largest_share(Vector::Ones(8)), 0.125);
}

TEST(Weights, ClippedCutsMultiplesOfTheMean) {
  // Mean 2: 1/2, 1/2, 3 become 1/2, 1/2, 2 of mean 1.
  const Vector weights = clipped(Vector{{1.0, 1.0, 6.0, 0.0}}, 2);
  EXPECT_NEAR((weights - Vector{{2 / 3.0, 2 / 3.0, 8 / 3.0, 0.0}}).cwiseAbs().maxCoeff(), 0, 1e-15);
}

TEST(Weights, FlatteningReachesTheSampleSizeAndNoMore) {
  const double raw = effective_sample_size(logs().array().exp().matrix());
  for (const double ess : {raw + 0.01, 3.5, 4.0, 5.0, 5.99}) {
    const Flattened flat = flatten_to_ess(logs(), ess);
    EXPECT_NEAR(effective_sample_size(flat.weights), ess, 1e-9);
    EXPECT_GE(effective_sample_size(flat.weights), ess * (1 - 1e-14));
    EXPECT_NEAR(flat.weights.mean(), 1, 1e-15);
    EXPECT_GT(flat.exponent, 0);
    EXPECT_LT(flat.exponent, 1);
    // a^lambda up to a factor.
    EXPECT_NEAR(std::log(flat.weights[3] / flat.weights[0]), 5 * flat.exponent, 1e-12);
  }
}

TEST(Weights, EnoughIsLeftAloneAndTooMuchMakesThemEqual) {
  EXPECT_EQ(flatten_to_ess(logs(), 1).exponent, 1);
  const Flattened equal = flatten_to_ess(logs(), 7);
  EXPECT_EQ(equal.exponent, 0);
  EXPECT_EQ(equal.weights, Vector::Ones(6).eval());
}

TEST(Weights, FlatteningSurvivesWeightsThatOverflow) {
  const Vector far{{900.0, -900.0, 890.0, 100.0}};
  const Flattened flat = flatten_to_ess(far, 2);
  EXPECT_NEAR(effective_sample_size(flat.weights), 2, 1e-9);
  EXPECT_TRUE(flat.weights.allFinite());
}

}  // namespace weights_test
}  // namespace ecotone
