// The examples of the chapter in full, and the study of active learning.
#include "ecotone/reproduce/experiment.h"
#include "evaluate/support.h"
#include "shared_data.h"

namespace ecotone::test {
namespace logistic_examples_slow_test {

void expect_claims(const char* experiment_name, const char* item, const std::filesystem::path& data,
                   int repetitions = 0) {
  const Experiment found = experiment(experiment_name);
  const Reproduction result = reproduce(found, found.item(item), {.repetitions = repetitions, .data = data}, on(2, 1));
  EXPECT_FALSE(result.claims.empty());
  for (const ReproducedClaim& one : result.claims)
    EXPECT_TRUE(one.holds) << item << ": " << one.claim.text << ": " << one.ours;
}

TEST(LogisticExamplesSlow, ClaimsHoldOnAnotherSeed) {
  for (const char* item : {"59.4", "59.6", "59.7"}) expect_claims("sayed2022", item, {});
  ECOTONE_SKIP_WITHOUT(shared_data() / "iris/iris.csv");
  for (const char* item : {"59.1", "59.2", "59.3"}) expect_claims("sayed2022", item, shared_data());
}

TEST(ActiveSlow, ClaimsHoldOnAnotherSeed) { expect_claims("active", "labels", {}, 1); }

}  // namespace logistic_examples_slow_test
}  // namespace ecotone::test
