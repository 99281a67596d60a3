// The examples of the chapter in full.
#include "ecotone/reproduce/experiment.h"
#include "evaluate/support.h"
#include "shared_data.h"

namespace ecotone::test {
namespace logistic_examples_slow_test {

void expect_claims(const char* item, const std::filesystem::path& data) {
  const Experiment found = experiment("sayed2022");
  const Reproduction result = reproduce(found, found.item(item), {.repetitions = 0, .data = data}, on(2, 1));
  EXPECT_FALSE(result.claims.empty());
  for (const ReproducedClaim& one : result.claims)
    EXPECT_EQ(one.holds, true) << item << ": " << one.claim.text << ": " << one.ours;
}

TEST(LogisticExamplesSlow, ClaimsHoldOnAnotherSeed) {
  for (const char* item : {"59.4", "59.6", "59.7"}) expect_claims(item, {});
  ECOTONE_SKIP_WITHOUT(shared_data() / "iris/iris.csv");
  for (const char* item : {"59.1", "59.2", "59.3"}) expect_claims(item, shared_data());
}

}  // namespace logistic_examples_slow_test
}  // namespace ecotone::test
