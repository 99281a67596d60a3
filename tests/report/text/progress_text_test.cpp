#include "ecotone/report/text/progress_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace progress_text_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ProgressText::Time after(double seconds) {
  return ProgressText::Time{} + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

ProgressText begun() { return ProgressText(after(0)); }

TEST(ProgressText, EstimatesFromFinishedUnits) {
  ProgressText text = begun();
  text.update("evaluate", 0, 20, after(10));
  EXPECT_FALSE(text.seconds_left(after(60)));
  text.update("evaluate", 1, 20, after(30));
  EXPECT_FALSE(text.seconds_left(after(30)));
  text.update("evaluate", 2, 20, after(50));
  EXPECT_DOUBLE_EQ(text.seconds_left(after(50)).value(), 18 * 20);
  EXPECT_THAT(text.bar(100, after(50)), HasSubstr(" 10% 0:50, about 6 min left"));
  // Time that goes by without a finished unit makes the estimate grow.
  EXPECT_GT(text.seconds_left(after(90)).value(), 18 * 20);
  text.update("evaluate", 20, 20, after(400));
  EXPECT_FALSE(text.active());
  EXPECT_FALSE(text.seconds_left(after(400)));
}

TEST(ProgressText, SaysNothingOfTimeLeftWhenTooLittleIsDone) {
  ProgressText text = begun();
  text.update("tune", 0, 1000, after(0));
  text.update("tune", 49, 1000, after(100));
  EXPECT_FALSE(text.seconds_left(after(100)));
  text.update("tune", 50, 1000, after(100));
  EXPECT_TRUE(text.seconds_left(after(100)));
}

TEST(ProgressText, AnotherCountBeginsAnew) {
  ProgressText text = begun();
  text.update("read", 0, 10, after(0));
  text.update("read", 9, 10, after(100));
  text.at_hand("a file");
  text.update("evaluate", 0, 10, after(100));
  EXPECT_THAT(text.bar(100, after(101)), Not(HasSubstr("a file")));
  text.update("evaluate", 5, 10, after(110));
  EXPECT_DOUBLE_EQ(text.seconds_left(after(110)).value(), 10);
}

TEST(ProgressText, RoundsWhatIsLeft) {
  const auto shown = [](double each) {
    ProgressText text = begun();
    text.update("tune", 0, 4, after(0));
    text.update("tune", 2, 4, after(2 * each));
    return text.bar(100, after(2 * each));
  };
  EXPECT_THAT(shown(20), EndsWith("0:40, less than a minute left"));
  EXPECT_THAT(shown(600), EndsWith("20:00, about 20 min left"));
  EXPECT_THAT(shown(5400), EndsWith("3:00:00, about 3 h left"));
  EXPECT_THAT(shown(200000), EndsWith("about 5 days left"));
}

TEST(ProgressText, FitsEveryWidth) {
  ProgressText text = begun();
  text.update("evaluate", 0, 10, after(0));
  text.update("evaluate", 4, 10, after(100));
  text.at_hand("Zürich 北京, impute | scale | logistic l2={0.001,0.01}\x1b[31m\n");
  for (Index width = 1; width < 200; ++width) {
    const std::string bar = text.bar(width, after(100));
    EXPECT_LE(display_width(bar), width) << bar;
    EXPECT_EQ(bar.find_first_of("\x1b\n\r"), std::string::npos);
    if (width >= 4) {
      EXPECT_THAT(bar, HasSubstr(" 40%"));
    }
    if (width >= 30) {
      EXPECT_THAT(bar, HasSubstr(" 1:40"));
    }
    if (width >= 60) {
      EXPECT_THAT(bar, HasSubstr("1:40, about 3 min left"));
    }
  }
  EXPECT_THAT(text.bar(100, after(100)),
              HasSubstr("evaluate [########............]  40% 1:40, about 3 min left  Zürich"));
  EXPECT_THAT(text.bar(150, after(100)), HasSubstr("Zürich 北京, impute | scale | logistic l2={0.001,0.01}"));
}

TEST(ProgressText, WritesOneLineAMinute) {
  ProgressText text = begun();
  text.update("evaluate", 0, 120, after(1));
  text.at_hand("north, impute | logistic");
  EXPECT_EQ(text.line_each_minute(after(59)), "");
  EXPECT_EQ(text.line_each_minute(after(61)), "evaluate: 0 of 120 (0%), 1:01; at hand: north, impute | logistic");
  EXPECT_EQ(text.line_each_minute(after(62)), "");
  EXPECT_EQ(text.line_each_minute(after(119)), "");
  text.update("evaluate", 30, 120, after(121));
  EXPECT_THAT(text.line_each_minute(after(121)), StartsWith("evaluate: 30 of 120 (25%), 2:01, about 6 min left"));
  // Minutes in which nobody asked are not made up for.
  EXPECT_NE(text.line_each_minute(after(400)), "");
  EXPECT_EQ(text.line_each_minute(after(410)), "");
  text.update("evaluate", 120, 120, after(500));
  EXPECT_EQ(text.line_each_minute(after(600)), "");
}

}  // namespace progress_text_test
}  // namespace ecotone
