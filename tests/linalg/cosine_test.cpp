#include "ecotone/linalg/cosine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ecotone/base/random.h"

namespace ecotone {
namespace cosine_test {

TEST(Cosine, AgreesWithTheLibrary) {
  constexpr long double two_pi = 6.28318530717958647692528676655900577L;
  Random random(1, "cosine");
  std::vector<double> turns{0, 0.25, 0.5, -0.5, 0.125, 1, -3.75};
  for (int i = 0; i < 1000; ++i) turns.push_back(random.uniform(-20, 20));
  std::vector<double> values = turns;
  cos_of_turns(3.0, values.data(), static_cast<Index>(values.size()));
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto expected = static_cast<double>(3.0L * std::cos(two_pi * static_cast<long double>(turns[i])));
    EXPECT_NEAR(values[i], expected, 3e-15) << turns[i];
  }
}

TEST(Cosine, NotANumberStays) {
  double value = std::numeric_limits<double>::quiet_NaN();
  cos_of_turns(1.0, &value, 1);
  EXPECT_TRUE(std::isnan(value));
}

}  // namespace cosine_test
}  // namespace ecotone
