#include <algorithm>

#include "ecotone/reproduce/experiment.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace guard_slow_test {

TEST(GuardOnTwelveCases, IsNeverWorseThanPlainBeyondItsStandardError) {
  const Experiment found = experiment("labelfree");
  const Reproduction result = reproduce(found, found.item("guard", "table"), {.repetitions = 30, .data = {}}, on(2, 1));
  ASSERT_EQ(result.claims.size(), 14U);
  for (const ReproducedClaim& one : result.claims) EXPECT_EQ(one.holds, true) << one.claim.text << ": " << one.ours;
  // The cases have teeth: adapting without the guard loses points in some and gains many in others.
  std::vector<double> adapted;
  for (const ReproducedRow& row : result.rows)
    if (row.row == "adapted") adapted.push_back(row.ours);
  ASSERT_EQ(adapted.size(), 12U);
  EXPECT_GT(std::ranges::max(adapted), 2);
  EXPECT_LT(std::ranges::min(adapted), -5);
}

}  // namespace guard_slow_test
}  // namespace ecotone::test
