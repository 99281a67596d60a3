#include "ecotone/data/formats/date.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ecotone {
namespace date_test {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double days(std::string_view text, SlashOrder slashes = SlashOrder::none) {
  double value = none;
  return parse_date(text, slashes, value) ? value : none;
}

TEST(Date, DaysCountFrom1970) {
  EXPECT_EQ(days("1970-01-01"), 0);
  EXPECT_EQ(days("1969-12-31"), -1);
  EXPECT_EQ(days("2020-01-31"), 18292);
  EXPECT_EQ(days("31.01.2020"), 18292);
  EXPECT_EQ(days("1.2.2020"), 18293);
  EXPECT_EQ(days("2020/01/31"), 18292);
  EXPECT_EQ(days("31/01/2020", SlashOrder::day_first), 18292);
  EXPECT_EQ(days("1/31/2020", SlashOrder::month_first), 18292);
}

TEST(Date, TheTimeOfDayIsAFraction) {
  EXPECT_EQ(days("1970-01-02T12:00"), 1.5);
  EXPECT_EQ(days("1970-01-02 06:00:00"), 1.25);
  EXPECT_EQ(days("2.1.1970 18:00"), 1.75);
  EXPECT_EQ(days("1970-01-01T00:00:01.5Z"), 1.5 / 86400);
}

TEST(Date, OtherTextIsNotADate) {
  for (const char* text :
       {"", "2020", "2020-1-31", "2020-02-30", "30.02.2020", "29.02.2021", "2020-13-01", "0.1.2020", "31.01.20",
        "2020-01-31x", "2020-01-31T", "2020-01-31T24:00", "2020-01-31 12:60",
        "2020-01-31 12:30:", "2020-01-31 12:30:05.", "2020-01/31", "0000-01-01", "12:30", "-1-01-01"})
    EXPECT_TRUE(std::isnan(days(text))) << text;
  // Slashes mean nothing unless the order is known, and then the day must exist in it.
  EXPECT_TRUE(std::isnan(days("03/04/2020")));
  EXPECT_TRUE(std::isnan(days("01/31/2020", SlashOrder::day_first)));
  EXPECT_TRUE(std::isnan(days("31/01/2020", SlashOrder::month_first)));
}

TEST(Date, TheTextReadsBackAsTheSameNumber) {
  for (const char* text : {"2020-01-31", "1969-12-31", "0001-01-01", "9999-12-31", "2020-02-29T12:30:05",
                           "1969-12-31T23:59:59", "2020-01-31T00:00:00.250000"}) {
    EXPECT_EQ(date_text(days(text)), text);
    EXPECT_TRUE(is_date(days(text)));
  }
  EXPECT_FALSE(is_date(days("9999-12-31") + 1));
  EXPECT_FALSE(is_date(days("0001-01-01") - 1));
  EXPECT_FALSE(is_date(none));
}

}  // namespace date_test
}  // namespace ecotone
