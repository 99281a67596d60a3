#include "ecotone/linalg/exponential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ecotone {
namespace exponential_test {

TEST(ExpOfNegative, AgreesWithTheLibraryOverTheWholeRange) {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(i * 0.1);
  std::vector<double> result = values;
  exp_of_negative(1.25, result.data(), static_cast<Index>(result.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = std::exp(-1.25 * values[i]);
    // The exponent itself is rounded: half an ulp of 700 is 6e-14.
    EXPECT_NEAR(result[i] / wanted, 1.0, 2e-13) << values[i];
  }
}

TEST(ExpOfNegative, OneAtZeroTinyFarAwayAndNanStays) {
  std::vector<double> values{0.0, 1e9, std::numeric_limits<double>::quiet_NaN(), 1.0, -0.0};
  exp_of_negative(1.0, values.data(), static_cast<Index>(values.size()));
  EXPECT_EQ(values[0], 1.0);
  EXPECT_GT(values[1], 0.0);
  EXPECT_LT(values[1], 1e-307);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_NEAR(values[3], std::exp(-1.0), 1e-16);
  EXPECT_EQ(values[4], 1.0);
}

TEST(ExpOfNegative, DoesNotDependOnHowValuesAreCut) {
  std::vector<double> whole;
  for (int i = 0; i < 77; ++i) whole.push_back(0.37 * i);
  std::vector<double> parts = whole;
  exp_of_negative(0.3, whole.data(), 77);
  for (Index first = 0, size = 1; first < 77; first += size, ++size)
    exp_of_negative(0.3, parts.data() + first, std::min<Index>(size, 77 - first));
  EXPECT_EQ(whole, parts);
}

}  // namespace exponential_test
}  // namespace ecotone
