#include "ecotone/measure/fold_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ecotone {
namespace fold_choice_test {

/// Candidate 2 is best; 1 is 0.1 worse on average, sometimes better; 0 is always 1 worse.
Matrix losses_of(Index folds) {
  Matrix losses(folds, 3);
  for (Index f = 0; f < folds; ++f) losses.row(f) << 2.0, f % 2 == 0 ? 1.5 : 0.7, 1.0;
  return losses;
}

TEST(FoldChoice, ClearlyWorseIsMoreThanOneStandardErrorOfThePairedDifference) {
  // Four folds that lie sqrt(3) standard errors from their mean of 1, on either side.
  const auto spread = [](double error) {
    const double by = error * std::sqrt(3.0);
    return std::vector<double>{1 + by, 1 - by, 1 + by, 1 - by};
  };
  EXPECT_TRUE(clearly_worse(spread(0.9)));
  EXPECT_FALSE(clearly_worse(spread(1.1)));
  EXPECT_FALSE(clearly_worse(std::vector<double>{-1, -1, -1}));
  EXPECT_FALSE(clearly_worse(std::vector<double>{0, 0, 0})) << "equals are not worse";
  EXPECT_TRUE(clearly_worse(std::vector<double>{0.1})) << "one fold has no error";
}

TEST(FoldChoice, TakesTheSimplestWithinTheErrorOfTheDifference) {
  const std::vector<Index> order = {0, 1, 2};
  EXPECT_EQ(simplest_within_error(losses_of(6), 2, order), 1);
  // Three folds do not tell a standard error.
  EXPECT_EQ(simplest_within_error(losses_of(4), 2, order), 2);
  // Nothing simpler than the best is listed.
  EXPECT_EQ(simplest_within_error(losses_of(6), 2, std::vector<Index>{2, 1, 0}), 2);
}

TEST(FoldChoice, ErrorsAreThoseOfPairedDifferences) {
  const Vector errors = paired_errors(losses_of(6), 2);
  EXPECT_EQ(errors[0], 0.0);
  // Differences are 0.5 and -0.3 in turn: sd 0.8 / 2 sqrt(6 / 5), divided by sqrt(6).
  EXPECT_NEAR(errors[1], 0.4 / std::sqrt(5.0), 1e-15);
  EXPECT_EQ(errors[2], 0.0);
}

TEST(FoldChoice, AFoldCountsAtMostAsMuchAgainstACandidateAsAnotherForIt) {
  Matrix losses(2, 2);
  losses << 0.5, 50.0, 0.75, 0.25;
  Matrix expected(2, 2);
  expected << 0.5, 1.0, 0.75, 0.25;  // 0.25 gains 0.375
  EXPECT_EQ(bounded_losses(losses, Vector::Constant(2, 0.625)), expected);
  // Where nothing gains, all are equal to the constant prediction.
  EXPECT_EQ(bounded_losses(losses, Vector::Constant(2, 0.125)), Matrix::Constant(2, 2, 0.125));
}

TEST(FoldChoice, BoundsDoNotFavourWhatVaries) {
  // A candidate that gains and loses as much, in turn, is no better than the constant prediction.
  Matrix losses(6, 2);
  for (Index f = 0; f < 6; ++f) losses.row(f) << 1.0, f % 2 == 0 ? 0.5 : 1.5;
  const Matrix bounded = bounded_losses(losses, Vector::Ones(6));
  EXPECT_EQ(bounded.col(1).mean(), bounded.col(0).mean());
}

}  // namespace fold_choice_test
}  // namespace ecotone
