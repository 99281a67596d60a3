#include "ecotone/data/formats/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace ecotone {

namespace number_detail {

namespace {

/// 128 leading bits of 5^q for q >= 0: 5^55 still fits.
constexpr Power positive_power(int q) {
  Wide value = 1;
  for (int i = 0; i < q; ++i) value *= 5;
  while ((value >> 127) == 0) value <<= 1;
  return {static_cast<std::uint64_t>(value >> 64), static_cast<std::uint64_t>(value)};
}

/// 128 leading bits of 5^-q for q > 0, rounded up: long division of a power of two, bit by bit.
constexpr Power negative_power(int q) {
  Wide divisor = 1;
  for (int i = 0; i < q; ++i) divisor *= 5;
  Wide remainder = 1;
  while (remainder < divisor) remainder <<= 1;
  Wide quotient = 0;
  for (int bit = 0; bit < 128; ++bit) {
    quotient <<= 1;
    if (remainder >= divisor) {
      quotient |= 1;
      remainder -= divisor;
    }
    remainder <<= 1;
  }
  ++quotient;
  return {static_cast<std::uint64_t>(quotient >> 64), static_cast<std::uint64_t>(quotient)};
}

constexpr auto make_powers() {
  std::array<Power, highest_power - lowest_power + 1> table{};
  for (int q = lowest_power; q <= highest_power; ++q)
    table[at(q - lowest_power)] = q < 0 ? negative_power(-q) : positive_power(q);
  return table;
}

}  // namespace

constinit const std::array<Power, highest_power - lowest_power + 1> powers_of_ten = make_powers();

}  // namespace number_detail

bool is_missing(std::string_view text) {
  switch (text.size()) {
    case 0:
      return true;
    case 1:
      return text == "?";
    case 2:
      return text == "NA";
    case 3:
      return text == "nan" || text == "NaN" || text == "n/a" || text == "N/A";
    case 4:
      return text == "NULL" || text == "null" || text == "#N/A" || text == "<NA>";
    default:
      return false;
  }
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

namespace {

/// The value of a number beyond the range of doubles: infinity or zero, depending on the position of its first digit.
double out_of_range(std::string_view text) {
  const bool negative = text.front() == '-';
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, exponent_at);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  double magnitude = static_cast<double>(point) - static_cast<double>(first);
  if (exponent_at < text.size()) {
    std::string_view exponent = text.substr(exponent_at + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    std::int64_t power =
        exponent.front() == '-' ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);  // unchanged if the exponent is huge
    magnitude += static_cast<double>(power);
  }
  const double size = magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -size : size;
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (stop != end || status == std::errc::invalid_argument) return false;
  if (status == std::errc::result_out_of_range) value = out_of_range(text);
  return true;
}

bool parse_value(std::string_view text, double& value) {
  if (is_missing(text)) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  return parse_number(text, value);
}

namespace {

/// The separator of thousands at the start of a text, or empty.
std::string_view separator_at(std::string_view text, NumberStyle style) {
  if (!style.grouped) return {};
  const char other[] = {style.decimal == '.' ? ',' : '.', '\0'};
  // The blanks and apostrophes of typesetters, in UTF-8 and Latin-1, too.
  for (const std::string_view sign :
       {std::string_view(other), std::string_view("'"), std::string_view(" "), std::string_view("\xC2\xA0"),
        std::string_view("\xE2\x80\xAF"), std::string_view("\xE2\x80\x99"), std::string_view("\xA0")})
    if (text.starts_with(sign)) return text.substr(0, sign.size());
  return {};
}

/// Takes the digits before the decimal sign off the front of `text`, without separators; false if the groups are wrong.
bool take_integer(std::string_view& text, NumberStyle style, std::string& digits) {
  std::string_view separator;
  const std::size_t first = digits.size();
  std::size_t group = 0;
  while (!text.empty()) {
    if (number_detail::is_digit(text.front())) {
      digits += text.front();
      ++group;
      text.remove_prefix(1);
      continue;
    }
    const std::string_view sign = separator_at(text, style);
    if (sign.empty()) break;
    if (separator.empty() ? group < 1 || group > 3 || digits[first] == '0' : group != 3 || sign != separator)
      return false;
    separator = sign;
    group = 0;
    text.remove_prefix(sign.size());
  }
  return separator.empty() || group == 3;
}

}  // namespace

bool parse_value(std::string_view text, NumberStyle style, double& value) {
  if (style.plain() || is_missing(text)) return parse_value(text, value);
  std::string plain;
  if (text.starts_with('-') || text.starts_with('+')) {
    plain += text.front();
    text.remove_prefix(1);
  }
  if (!take_integer(text, style, plain)) return false;
  if (text.starts_with(style.decimal)) {
    plain += '.';
    text.remove_prefix(1);
  } else if (text.starts_with('.')) {
    return false;
  }
  plain += text;
  return parse_number(plain, value);
}

void append_number(std::string& out, double value) {
  char buffer[32];
  char* end;
  // Integers in full ("100000", not "1e+05").
  if (std::abs(value) < 1e15 && value == std::trunc(value) && !(value == 0 && std::signbit(value))) {
    end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value)).ptr;
  } else {
    end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  }
  out.append(buffer, end);
}

std::string number_text(double value) {
  std::string text;
  append_number(text, value == 0 ? 0.0 : value);
  return text;
}

}  // namespace ecotone
