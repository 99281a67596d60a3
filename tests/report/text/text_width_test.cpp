#include "ecotone/report/text/text_width.h"

#include <gtest/gtest.h>

namespace ecotone {
namespace text_width_test {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("Zürich"), 6);
  EXPECT_EQ(display_width("Zu\xCC\x88rich"), 6);  // combining diaeresis
  EXPECT_EQ(display_width("北京"), 4);
  EXPECT_EQ(display_width("🏥"), 2);
  EXPECT_EQ(display_width("─"), 1);
  EXPECT_EQ(display_width("a\xFF"), 2);
  EXPECT_EQ(display_width(""), 0);
}

TEST(DisplayText, RemovesWhatWouldMoveTheCursor) {
  EXPECT_EQ(display_text("a\x1B[31mb\nc", 20), "a?[31mb?c");
  EXPECT_EQ(display_text("a\xFF\xC3", 20), "a??");
  EXPECT_EQ(display_text("a\xE2\x80\xAE"
                         "b",
                         20),
            "a?b");                                    // right-to-left override
  EXPECT_EQ(display_text("\xED\xA0\x80", 20), "???");  // a surrogate is not UTF-8
}

TEST(DisplayText, CutsAtColumns) {
  EXPECT_EQ(display_text("abcdef", 6), "abcdef");
  EXPECT_EQ(display_text("abcdefg", 6), "abcde…");
  EXPECT_EQ(display_text("北京北京", 6), "北京…");  // a wide character is not cut in half
  EXPECT_LE(display_width(display_text("北京北京", 6)), 6);
}

TEST(Printable, ReplacesWhatControlsATerminalAndNothingElse) {
  EXPECT_EQ(printable("a\x1b[2J\x7f\r"), "a?[2J??");
  EXPECT_EQ(printable("\u009b2J \u0080 \u202e \u2066 \u200e \u200f \u061c"), "?2J ? ? ? ? ? ?");
  EXPECT_EQ(printable("one\ttwo\nZürich 北京 👩\u200d⚕"), "one\ttwo\nZürich 北京 👩\u200d⚕");
  EXPECT_EQ(printable("\x9b \xe4"), "? \xe4");  // not UTF-8
}

TEST(Pad, FillsToTheWidth) {
  EXPECT_EQ(pad_left("北", 4), "  北");
  EXPECT_EQ(pad_right("ü", 3), "ü  ");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(LetterName, GoesOnAfterZ) {
  EXPECT_EQ(letter_name(0), "A");
  EXPECT_EQ(letter_name(25), "Z");
  EXPECT_EQ(letter_name(26), "AA");
  EXPECT_EQ(letter_name(701), "ZZ");
  EXPECT_EQ(letter_name(702), "AAA");
}

TEST(TextWidth, WrapsWordsBelowTheirHead) {
  EXPECT_EQ(wrapped("one two three", 9, "a  "), "a  one\n   two\n   three\n");
  EXPECT_EQ(wrapped("one two  three", 10, "a  "), "a  one two\n   three\n");
  EXPECT_EQ(wrapped("ü ü longer x", 3, ""), "ü ü\nlonger\nx\n");
  EXPECT_EQ(wrapped("", 10, "head"), "head\n");
}

}  // namespace text_width_test
}  // namespace ecotone
