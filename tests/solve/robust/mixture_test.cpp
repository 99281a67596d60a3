#include "ecotone/solve/robust/mixture.h"

#include <gtest/gtest.h>

namespace ecotone::test {
namespace mixture_test {

TEST(Mixture, TheWorstOneFillsTheLargestLosses) {
  const MixtureSet set{Vector::Constant(4, 0.25), 2};
  Vector losses(4);
  losses << 1, 3, 2, 3;
  Vector expected(4);
  expected << 0, 2, 0, 2;
  EXPECT_EQ(worst_mixture(set, losses), expected);
}

TEST(Mixture, TheNearestOneIsInTheSetAndStationary) {
  const MixtureSet set{(Vector(3) << 0.5, 0.3, 0.2).finished(), 1.6};
  Vector losses(3);
  losses << 0.2, 0.5, 0.9;
  const Vector centre = Vector::Ones(3);
  const Vector r = nearest_mixture(set, losses, centre, 0.4);
  EXPECT_NEAR(set.share.dot(r), 1, 1e-14);
  EXPECT_GE(r.minCoeff(), 0);
  EXPECT_LE(r.maxCoeff(), 1.6);
  // loss - mu (r - centre) is the same for all units between the bounds.
  const Vector level = losses - 0.4 * (r - centre);
  EXPECT_NEAR(level[0], level[1], 1e-12);
  EXPECT_GE(level[2], level[1] - 1e-12) << "at the cap";
}

}  // namespace mixture_test
}  // namespace ecotone::test
