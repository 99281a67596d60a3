#include "ecotone/label/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ecotone/base/random.h"

namespace ecotone {
namespace {

TEST(AuditEstimate, NeedsRows) {
  EXPECT_FALSE(audit_accuracy(0, 0));
  EXPECT_FALSE(audit_rmse(std::vector<double>{1.0}));
  EXPECT_EQ(audit_rmse(std::vector<double>{0.0, 0.0})->high, 0);
}

TEST(AuditEstimate, OfAnAccuracyHoldsTheShareOfRightRows) {
  const AuditEstimate estimate = *audit_accuracy(15, 20);
  EXPECT_EQ(estimate.value, 0.75);
  EXPECT_EQ(estimate.rows, 20);
  EXPECT_LT(estimate.low, 0.6);
  EXPECT_GT(estimate.high, 0.86);
}

TEST(AuditEstimate, OfAnRmseCoversTheTruthInNineOfTenSamples) {
  for (const Index rows : {10, 20, 40}) {
    int covered = 0;
    const int samples = 2000;
    for (int s = 0; s < samples; ++s) {
      Random random(5, "errors", static_cast<std::uint64_t>(s));
      std::vector<double> errors;
      for (Index i = 0; i < rows; ++i) errors.push_back(2 * random.normal());
      const AuditEstimate estimate = *audit_rmse(errors);
      covered += estimate.low <= 2 && 2 <= estimate.high ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(covered) / samples, 0.9, 0.04) << rows;
  }
}

TEST(LabelAdvice, SaysStopOnlyWhenTheAnswersHaveSettledTwice) {
  const auto advice = [](std::vector<AnswerChange> changes) {
    return label_advice(Task::classify, 60, audit_accuracy(9, 12), changes);
  };
  EXPECT_FALSE(advice({}).may_stop);
  EXPECT_FALSE(advice({{20, 0.005}}).may_stop);
  EXPECT_FALSE(advice({{20, 0.005}, {20, 0.03}}).may_stop);
  const LabelAdvice settled = advice({{20, 0.03}, {20, 0.01}, {20, 0.004}});
  EXPECT_TRUE(settled.may_stop);
  EXPECT_NE(settled.text.find("you may stop"), std::string::npos);
  EXPECT_NE(advice({{20, 0.03}}).text.find("moves by at most 3 percentage points"), std::string::npos);
}

}  // namespace
}  // namespace ecotone
