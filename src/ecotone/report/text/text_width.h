#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ecotone/base/index.h"

namespace ecotone {

/// The page width of tables, the longest domain name they show, and the largest number of domains.
inline constexpr Index page_width = 100;
inline constexpr Index longest_domain = 32;
inline constexpr std::size_t most_domains = 60;

/// Columns that UTF-8 text takes on a terminal: combining marks none, East Asian wide characters and emoji two.
Index display_width(std::string_view text);
/// Text for a terminal's one line: control characters and malformed UTF-8 become "?"; cut to `width` columns with "…"
/// at the end when longer.
std::string display_text(std::string_view text, Index width);
/// Text that is safe for a terminal: characters that control it or reorder a line become "?", except line breaks and
/// tabs, so that names in a file do nothing to it.
std::string printable(std::string_view text);
/// Padded with spaces on the right or left to `width` columns.
std::string pad_right(std::string_view text, Index width);
std::string pad_left(std::string_view text, Index width);
/// Wraps words into lines of at most `width` columns, each with a newline; the first follows `head`, the others are
/// indented below it. A word longer than a line gets its own line.
std::string wrapped(std::string_view text, Index width, std::string_view head);
/// A short name for the i-th of several things: A, B, .. Z, AA, AB, ..
std::string letter_name(std::size_t i);

}  // namespace ecotone
