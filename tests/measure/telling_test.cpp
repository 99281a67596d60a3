#include "ecotone/measure/telling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ecotone/base/random.h"

namespace ecotone {
namespace telling_test {

using Values = std::vector<double>;
using Classes = std::vector<std::int32_t>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ClassTelling, IntervalsOfAnyOrder) {
  const ClassTelling found = class_telling(Values{5, 6, 7, 1, 2, 3, 9}, Classes{0, 0, 0, 1, 1, 1, 2}, 3);
  EXPECT_EQ(found.rows, 7);
  EXPECT_EQ(found.errors, 0);
  EXPECT_EQ(found.baseline, 4);
  // One row of class 1 among those of class 0.
  EXPECT_EQ(class_telling(Values{5, 6, 7, 1, 2, 6.5}, Classes{0, 0, 0, 1, 1, 1}, 2).errors, 1);
  // Equal values cannot be told apart.
  EXPECT_EQ(class_telling(Values{1, 1, 1}, Classes{0, 1, 1}, 2).errors, 1);
}

TEST(ClassTelling, FrequentValuesStandForClasses) {
  Values values;
  Classes classes;
  for (int i = 0; i < 60; ++i) {
    values.push_back(i % 3);
    classes.push_back(i % 3 == 1);
  }
  EXPECT_EQ(class_telling(values, classes, 2).errors, 0);
  EXPECT_TRUE(class_telling(values, classes, 2).nearly_exact());
  // Values of a single row would tell anything.
  for (int i = 0; i < 60; ++i) values[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(class_telling(values, classes, 2).errors, class_telling(values, classes, 2).baseline);
}

TEST(ClassTelling, MissingValuesAreAValue) {
  Values values;
  Classes classes;
  for (int i = 0; i < 40; ++i) {
    values.push_back(i % 2 ? i : nan);
    classes.push_back(i % 2);
  }
  EXPECT_TRUE(class_telling(values, classes, 2).nearly_exact());
}

TEST(ClassTelling, FewErrorsAreNotEnough) {
  EXPECT_FALSE((ClassTelling{100, 0, 9}.nearly_exact()));
  EXPECT_TRUE((ClassTelling{100, 0, 10}.nearly_exact()));
  EXPECT_FALSE((ClassTelling{100, 1, 50}.nearly_exact()));
  EXPECT_TRUE((ClassTelling{300, 1, 100}.nearly_exact()));
}

TEST(NumberTelling, LinesAndRanks) {
  Random random(1, "telling");
  Values x, line, curve, noisy;
  for (int i = 0; i < 200; ++i) {
    x.push_back(random.normal());
    line.push_back(3 - 2 * x.back());
    curve.push_back(std::exp(4 * x.back()));
    noisy.push_back(x.back() + 0.2 * random.normal());
  }
  EXPECT_NEAR(number_telling(x, line), 1, 1e-12);
  EXPECT_NEAR(number_telling(x, curve), 1, 1e-12);
  EXPECT_LT(number_telling(x, noisy), 0.995);
  EXPECT_EQ(number_telling(Values(200, 1.0), line), 0);
  // Too few values.
  for (std::size_t i = 0; i < 101; ++i) x[i] = nan;
  EXPECT_EQ(number_telling(x, line), 0);
  EXPECT_EQ(number_telling(Values(x.end() - 29, x.end()), Values(line.end() - 29, line.end())), 0);
}

}  // namespace telling_test
}  // namespace ecotone
