#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "ecotone/base/index.h"

namespace ecotone {

/// Whether a text stands for a missing value: empty, NA, n/a, N/A, #N/A, <NA>, nan, NaN, NULL, null or ?.
bool is_missing(std::string_view text);

/// The text without spaces and tabs at both ends.
std::string_view trim(std::string_view text);

/// The text with the letters A to Z made small.
std::string lower_case(std::string text);

/// Reads the number that the whole text spells (a leading '+', inf and nan are allowed); false if it is not a number.
/// Values too large or too small for a double become +-inf or +-0.
bool parse_number(std::string_view text, double& value);

/// As parse_number, with NaN for a missing value.
bool parse_value(std::string_view text, double& value);

/// How numbers are written: 1234.5 (plain), 1,234.5 or 1.234,5.
struct NumberStyle {
  char decimal = '.';
  /// Thousands may be set apart by the other of point and comma, by blanks or by apostrophes.
  bool grouped = false;

  bool plain() const { return decimal == '.' && !grouped; }
};

/// As parse_value, for numbers of this style. Groups have three digits and one kind of separator, so that 1.23 with a
/// decimal comma is not a number.
bool parse_value(std::string_view text, NumberStyle style, double& value);

/// Appends the shortest text that reads back as the same number; integers below 1e15 in full.
void append_number(std::string& out, double value);

/// The canonical name of a number used as a class: as append_number, and 0 for -0.
std::string number_text(double value);

namespace number_detail {

__extension__ using Wide = unsigned __int128;

/// Decimal exponents for which the 128-bit product below decides every rounding: 5^-27 .. 5^55.
inline constexpr int lowest_power = -27;
inline constexpr int highest_power = 55;

/// 64 leading bits of 5^q, and the next 64; rounded down for q >= 0 (where 128 bits are exact), up below.
struct Power {
  std::uint64_t high;
  std::uint64_t low;
};
extern const std::array<Power, highest_power - lowest_power + 1> powers_of_ten;

inline bool eight_digits(std::uint64_t v) {
  return (((v + 0x4646464646464646U) | (v - 0x3030303030303030U)) & 0x8080808080808080U) == 0;
}

/// The value of eight digits (0 .. 9, not ASCII), the first in the lowest byte: three steps that join neighbours.
inline std::uint64_t eight_digits_value(std::uint64_t v) {
  v = (v * 10) + (v >> 8);
  return (((v & 0x000000FF000000FFU) * 0x000F424000000064U) +
          (((v >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
         32;
}

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Appends the digits at `p` to `w` and returns where they end. May read 8 bytes from any digit on.
inline const char* take_digits(const char* p, std::uint64_t& w) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  while (eight_digits(word)) {
    w = w * 100'000'000 + eight_digits_value(word - 0x3030303030303030U);
    p += 8;
    std::memcpy(&word, p, 8);
  }
  while (is_digit(*p)) w = w * 10 + static_cast<std::uint64_t>(*p++ - '0');
  return p;
}

/// w 10^q correctly rounded, for w > 0 and lowest_power <= q <= highest_power (Eisel and Lemire's product, Lemire
/// 2021).
inline double scale_by_power(std::uint64_t w, int q) {
  const int shift = std::countl_zero(w);
  w <<= shift;
  const Power& power = powers_of_ten[at(q - lowest_power)];
  Wide product = static_cast<Wide>(w) * power.high;
  // 55 bits are enough unless the bits below them are all ones: then the other half of the power is needed.
  if ((static_cast<std::uint64_t>(product >> 64) & 0x1FF) == 0x1FF)
    product += static_cast<std::uint64_t>((static_cast<Wide>(w) * power.low) >> 64);
  const auto high = static_cast<std::uint64_t>(product >> 64);
  const auto low = static_cast<std::uint64_t>(product);
  const int upper = static_cast<int>(high >> 63);
  std::uint64_t mantissa = high >> (upper + 9);
  // floor(q log2(10)) + 63, minus the shift of w
  const int exponent = ((217706 * q) >> 16) + 63 + upper - shift + 1023;
  // Exactly half way: round to even.
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && (mantissa << (upper + 9)) == high)
    mantissa &= ~std::uint64_t{1};
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  // A carry out of the 53 bits propagates into the exponent field by itself.
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent) << 52) + (mantissa - (std::uint64_t{1} << 52));
  return std::bit_cast<double>(bits);
}

/// w 10^q correctly rounded, if the power is in the table; otherwise false.
inline bool decimal(std::uint64_t w, int q, double& value) {
  if (q == 0 && w <= (std::uint64_t{1} << 53)) {
    value = static_cast<double>(w);
    return true;
  }
  if (q < lowest_power || q > highest_power) return false;
  value = w == 0 ? 0.0 : scale_by_power(w, q);
  return true;
}

}  // namespace number_detail

/// Reads a common decimal ([+-]digits[.digits][e[+-]digits], at most 19 significant digits) at `p` and returns its end,
/// or null if the text is anything else, which is left to parse_value. At least 16 readable bytes that are not digits
/// must follow the text.
inline const char* parse_decimal(const char* p, double& value) {
  using namespace number_detail;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  std::uint64_t w = 0;
  const char* const begin = p;
  // Usually few digits: the wide steps are for the fraction.
  while (is_digit(*p)) w = w * 10 + static_cast<std::uint64_t>(*p++ - '0');
  std::ptrdiff_t digits = p - begin;
  std::ptrdiff_t q = 0;
  if (*p == '.') {
    const char* const point = ++p;
    p = take_digits(p, w);
    q = point - p;
    digits += p - point;
  }
  if (digits == 0) return nullptr;
  if (digits > 19) {
    // Leading zeros are not significant digits.
    for (const char* c = begin; *c == '0' || *c == '.'; ++c) digits -= *c == '0';
    if (digits > 19) return nullptr;
  }
  if ((*p | 0x20) == 'e') {
    const char* e = p + 1;
    const bool down = *e == '-';
    e += down || *e == '+';
    const char* const first = e;
    int size = 0;
    while (is_digit(*e) && e - first < 4) size = size * 10 + (*e++ - '0');
    if (e == first || is_digit(*e)) return nullptr;
    q += down ? -size : size;
    p = e;
  }
  if (q < -1000 || q > 1000 || !decimal(w, static_cast<int>(q), value)) return nullptr;
  // The sign is unpredictable: no branch.
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | static_cast<std::uint64_t>(negative) << 63);
  return p;
}

}  // namespace ecotone
