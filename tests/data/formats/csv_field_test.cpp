#include "ecotone/data/formats/csv/csv_field.h"

#include <gtest/gtest.h>

#include <limits>

namespace ecotone {
namespace csv_field_test {

TEST(CsvField, IsQuotedOnlyWhereItWouldNotReadBack) {
  EXPECT_EQ(csv_field("St Mary"), "St Mary");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a;b"), "\"a;b\"");
  EXPECT_EQ(csv_field("a\tb"), "\"a\tb\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(" blank"), "\" blank\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
}

TEST(CsvField, LabelsAreNamesOrNumbersOrNothing) {
  Labels classes{Task::classify, {"ill", "well, really"}, {1, 0, -1}, {}};
  Labels numbers{Task::regress, {}, {}, Vector(2)};
  numbers.value << 0.1, std::numeric_limits<double>::quiet_NaN();
  std::string row;
  for (Index i = 0; i < 3; ++i) {
    append_csv_label(row, classes, i);
    row += '|';
  }
  for (Index i = 0; i < 2; ++i) {
    append_csv_label(row, numbers, i);
    row += '|';
  }
  EXPECT_EQ(row, "\"well, really\"|ill||0.1||");
}

}  // namespace csv_field_test
}  // namespace ecotone
