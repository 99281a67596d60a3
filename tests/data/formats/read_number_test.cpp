#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "ecotone/base/random.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {
namespace read_number_test {

/// What parse_decimal makes of a field, with the bytes around it that it may look at; NaN when it leaves the field to
/// others.
double fast(const std::string& text, bool& taken) {
  const std::string field = text + ",999" + std::string(32, '\0');
  double value = 0;
  const char* end = parse_decimal(field.data(), value);
  taken = end == field.data() + text.size();
  return value;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

double reference(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void expect_as_from_chars(const std::string& text, bool must_take) {
  bool taken = false;
  const double value = fast(text, taken);
  ASSERT_TRUE(taken || !must_take) << text;
  if (taken) {
    ASSERT_EQ(bits(value), bits(reference(text))) << text;
  }
}

TEST(Number, DecimalsOfManyFormsEqualFromCharsBitForBit) {
  Random random(1, "numbers");
  for (int i = 0; i < 200'000; ++i) {
    // Any finite double, and ordinary ones.
    double any = std::bit_cast<double>(random.bits());
    if (!std::isfinite(any)) any = 1.5;
    const double normal = random.normal() * std::pow(10.0, random.uniform(-2, 12));
    char buffer[512];
    const auto text = [&](double value, auto... form) {
      return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, form...).ptr);
    };
    expect_as_from_chars(text(normal), true);
    expect_as_from_chars(text(any), false);
    expect_as_from_chars(text(random.normal(), std::chars_format::fixed, static_cast<int>(random.below(18))), true);
    expect_as_from_chars(text(normal, std::chars_format::scientific, static_cast<int>(random.below(19))), true);
    expect_as_from_chars(text(any, std::chars_format::scientific, static_cast<int>(random.below(25))), false);
    expect_as_from_chars(text(normal, std::chars_format::fixed, static_cast<int>(random.below(30))), false);
  }
}

TEST(Number, IntegersTimesPowersEqualFromChars) {
  Random random(2, "numbers");
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t w = random.bits() >> random.below(64);
    const int q = static_cast<int>(random.below(121)) - 60;
    expect_as_from_chars(std::to_string(w) + "e" + std::to_string(q),
                         w < 10'000'000'000'000'000'000U && q >= -27 && q <= 55);
  }
}

TEST(Number, HalfWayCasesRoundToEven) {
  // 2^53 + 1 lies half way between two doubles; so do its even multiples and decimal fractions.
  for (const char* text :
       {"9007199254740993", "9007199254740993.0", "900719925474099.3e1", "18014398509481986", "18014398509481990",
        "9007199254740993e0", "4503599627370496.5", "4503599627370497.5", "0.500000000000000166", "2251799813685248.25",
        "2251799813685248.75", "9007199254740995", "1e23", "8.5e22", "123456789012345678e-5"})
    expect_as_from_chars(text, true);
}

TEST(Number, OrdinaryTextsAreTaken) {
  const std::pair<const char*, double> cases[] = {{"0", 0},
                                                  {"-0", -0.0},
                                                  {"1", 1},
                                                  {"+7", 7},
                                                  {"007", 7},
                                                  {"1.", 1},
                                                  {".5", 0.5},
                                                  {"-.5", -0.5},
                                                  {"3.38e-005", 3.38e-5},
                                                  {"1e5", 1e5},
                                                  {"1E+5", 1e5},
                                                  {"1.5e0", 1.5},
                                                  {"0.00000000000000000000012345", 1.2345e-22}};
  for (const auto& [text, expected] : cases) {
    bool taken = false;
    EXPECT_EQ(bits(fast(text, taken)), bits(expected)) << text;
    EXPECT_TRUE(taken) << text;
  }
}

TEST(Number, OtherTextsAreNoNumbers) {
  double value = 0;
  for (const char* text : {"", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1,5", "0x10", "1 2", "--1", "+-1", "1e5x",
                           "abc", "1_000", "++1"})
    EXPECT_FALSE(parse_number(text, value)) << text;
  bool taken = true;
  for (const char* text : {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "--1", "inf", "nan"}) {
    fast(text, taken);
    EXPECT_FALSE(taken) << text;
  }
}

TEST(Number, InfinitiesNanAndWhatIsOutOfRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::pair<const char*, double> cases[] = {
      {"inf", infinity},           {"-inf", -infinity},     {"+inf", infinity},     {"Infinity", infinity},
      {"1e400", infinity},         {"-1e400", -infinity},   {"1e-400", 0.0},        {"-1e-400", -0.0},
      {"1e99999999999", infinity}, {"1e-99999999999", 0.0}, {"4.9e-324", 4.9e-324}, {"0.00001e400", infinity}};
  for (const auto& [text, expected] : cases) {
    double value = 1;
    ASSERT_TRUE(parse_number(text, value)) << text;
    EXPECT_EQ(bits(value), bits(expected)) << text << " " << value;
  }
  double value = 0;
  EXPECT_TRUE(parse_number("nan", value) && std::isnan(value));
}

TEST(Number, MissingWords) {
  double value = 0;
  for (const char* text : {"", "NA", "nan", "NaN", "?", "n/a", "N/A", "#N/A", "<NA>", "NULL", "null"}) {
    EXPECT_TRUE(is_missing(text)) << text;
    EXPECT_TRUE(parse_value(text, value) && std::isnan(value)) << text;
  }
  for (const char* text : {"na", "0", "??", "-", "none", "None", "Null", "<na>"})
    EXPECT_FALSE(is_missing(text)) << text;
}

TEST(Number, TextsReadBackAndIntegersAreWrittenInFull) {
  EXPECT_EQ(number_text(1.0), "1");
  EXPECT_EQ(number_text(-1.0), "-1");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(100000), "100000");
  EXPECT_EQ(number_text(0.5), "0.5");
  Random random(3, "numbers");
  for (int i = 0; i < 20'000; ++i) {
    const double value = random.normal() * std::pow(10.0, random.uniform(-300, 300));
    std::string text;
    append_number(text, value);
    EXPECT_EQ(bits(reference(text)), bits(value));
  }
  std::string zero;
  append_number(zero, -0.0);
  EXPECT_EQ(zero, "-0");
}

}  // namespace read_number_test
}  // namespace ecotone
