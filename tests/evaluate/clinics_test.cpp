// The demo data do what they are for: a new hospital costs something that k-fold does not show.
#include <gtest/gtest.h>

#include "ecotone/data/generate/generate.h"
#include "ecotone/evaluate/evaluate.h"

namespace ecotone {
namespace clinics_test {

double mean_auroc(const Dataset& data, Protocol protocol, const Context& context) {
  const std::vector<Pipeline> pooled = {Pipeline::parse("impute | scale | logistic l2=0.001")};
  EvaluateOptions options;
  options.protocol = protocol;
  const Evaluation result = evaluate(data, pooled, options, context);
  for (const auto& [name, value] : result.pipelines[0].mean) {
    if (name == "auroc") return value.value();
  }
  throw std::logic_error("no auroc");
}

class Clinics : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Clinics, ANewHospitalCostsBetween3And10PointsOfAuroc) {
  const Context context({.threads = 2, .seed = GetParam()});
  const Dataset data = ecotone::generate("clinics", {}, context);
  const double known = mean_auroc(data, Protocol::k_fold, context);
  const double fresh = mean_auroc(data, Protocol::leave_one_domain_out, context);
  EXPECT_GE(known - fresh, 0.03) << known << " within hospitals, " << fresh << " in a new one";
  EXPECT_LE(known - fresh, 0.10) << known << " within hospitals, " << fresh << " in a new one";
}

INSTANTIATE_TEST_SUITE_P(ThreeSeeds, Clinics, testing::Values(1, 2, 3));

}  // namespace clinics_test
}  // namespace ecotone
