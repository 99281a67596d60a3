#include "ecotone/report/text/text_width.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ecotone {

namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr std::array<Range, 10> no_width{{{0x0300, 0x036F},
                                          {0x0483, 0x0489},
                                          {0x0591, 0x05BD},
                                          {0x0610, 0x061A},
                                          {0x064B, 0x065F},
                                          {0x1AB0, 0x1AFF},
                                          {0x1DC0, 0x1DFF},
                                          {0x200B, 0x200F},
                                          {0x20D0, 0x20FF},
                                          {0xFE00, 0xFE0F}}};
constexpr std::array<Range, 10> wide{{{0x1100, 0x115F},
                                      {0x2E80, 0x303E},
                                      {0x3041, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0xFFE0, 0xFFE6},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};
/// Characters that move the cursor, reorder the line or end it.
constexpr std::array<Range, 8> control{{{0x0000, 0x001F},
                                        {0x007F, 0x009F},
                                        {0x061C, 0x061C},
                                        {0x200E, 0x200F},
                                        {0x2028, 0x202E},
                                        {0x2066, 0x2069},
                                        {0xFEFF, 0xFEFF},
                                        {0xFFF9, 0xFFFB}}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return r.first <= code && code <= r.last; });
}

/// One character: its bytes and code point; a malformed byte is a character of its own without a code point.
struct Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;
};

Character next_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t bytes = lead >= 0xF0 && lead < 0xF5   ? 4
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {bytes, code, true};
}

Index width_of(const Character& c) {
  if (!c.valid) return 1;
  return within(no_width, c.code) ? 0 : within(wide, c.code) ? 2 : 1;
}

}  // namespace

Index display_width(std::string_view text) {
  Index width = 0;
  while (!text.empty()) {
    const Character c = next_character(text);
    width += width_of(c);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string display_text(std::string_view text, Index width) {
  std::string clean;
  while (!text.empty()) {
    const Character c = next_character(text);
    if (c.valid && !within(control, c.code)) {
      clean.append(text.substr(0, c.bytes));
    } else {
      clean.push_back('?');
    }
    text.remove_prefix(c.bytes);
  }
  if (display_width(clean) <= width) return clean;
  std::string cut;
  Index used = 0;
  for (std::string_view rest = clean; !rest.empty();) {
    const Character c = next_character(rest);
    if (used + width_of(c) > width - 1) break;
    used += width_of(c);
    cut.append(rest.substr(0, c.bytes));
    rest.remove_prefix(c.bytes);
  }
  return cut + "…";
}

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Character c = next_character(text);
    const auto lead = static_cast<std::uint8_t>(text.front());
    // A byte that is not UTF-8 is left to the terminal, unless it is a control character of Latin-1.
    const bool unsafe = c.valid ? within(control, c.code) : lead >= 0x80 && lead <= 0x9F;
    if (unsafe && lead != '\n' && lead != '\t') {
      safe.push_back('?');
    } else {
      safe.append(text.substr(0, c.bytes));
    }
    text.remove_prefix(c.bytes);
  }
  return safe;
}

std::string pad_right(std::string_view text, Index width) {
  return std::string(text) +
         std::string(static_cast<std::size_t>(std::max<Index>(0, width - display_width(text))), ' ');
}

std::string pad_left(std::string_view text, Index width) {
  return std::string(static_cast<std::size_t>(std::max<Index>(0, width - display_width(text))), ' ') +
         std::string(text);
}

std::string wrapped(std::string_view text, Index width, std::string_view head) {
  const Index indent = display_width(head);
  std::string result(head);
  Index column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const Index length = display_width(word);
    if (column > indent && column + 1 + length > width) {
      result += '\n';
      result.append(static_cast<std::size_t>(indent), ' ');
      column = indent;
    }
    if (column > indent) result += ' ';
    column += (column > indent ? 1 : 0) + length;
    result += word;
  }
  return result + "\n";
}

std::string letter_name(std::size_t i) {
  std::string name = i >= 26 ? letter_name(i / 26 - 1) : std::string();
  name.push_back(static_cast<char>('A' + i % 26));
  return name;
}

}  // namespace ecotone
