#include "ecotone/reproduce/experiment.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace habrard_slow_test {

/// The table and the figure of habrard2012 with all their claims, on data and stumps that no setting was chosen on.
class Habrard : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Habrard, AllClaimsHoldOnAFreshSeed) {
  const Experiment found = experiment("habrard2012");
  const Context context({.threads = 2, .seed = GetParam()});
  for (const ExperimentItem& item : found.items) {
    const Reproduction result = reproduce(found, item, {}, context);
    EXPECT_FALSE(result.claims.empty());
    for (const ReproducedClaim& claim : result.claims)
      EXPECT_EQ(claim.holds, true) << claim.claim.text << ": ours " << claim.ours;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Habrard, ::testing::Values(20261, 20262));

}  // namespace habrard_slow_test
}  // namespace ecotone::test
