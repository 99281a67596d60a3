#include "ecotone/methods/binary_prediction.h"

#include "methods/support.h"

namespace ecotone::test {
namespace binary_prediction_test {

TEST(BinaryPrediction, TakesTheClassFromTheScoreAndTheProbabilityFromTheOdds) {
  const Vector score{{-800, -0.5, 0, 3}};
  const Prediction plain = binary_prediction(score);
  EXPECT_EQ(plain.index, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(plain.score.col(0), score);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(plain.probability(i, 1), 1 / (1 + std::exp(-2 * score[i])), 1e-15);
    EXPECT_NEAR(plain.probability.row(i).sum(), 1, 1e-15);
  }
  const Prediction mapped = binary_prediction(score, Vector::Constant(4, -1));
  EXPECT_EQ(mapped.index, plain.index);
  EXPECT_NEAR(mapped.probability(3, 1), 1 / (1 + std::exp(1)), 1e-15);
}

TEST(BinaryPrediction, TargetsAreMinusAndPlusOne) {
  EXPECT_EQ(binary_targets(class_labels({"a", "b"}, {1, 0, 1})), (std::vector<double>{1, -1, 1}));
}

}  // namespace binary_prediction_test
}  // namespace ecotone::test
