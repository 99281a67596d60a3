#include "ecotone/report/text/text_table.h"

#include <algorithm>

#include "ecotone/report/text/text_width.h"

namespace ecotone {

std::string TextTable::text() const {
  constexpr Index gap = 2;
  std::vector<Index> width;
  Index total = -gap;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    width.push_back(display_width(columns[c].head));
    for (const auto& line : lines) width[c] = std::max(width[c], display_width(line[c]));
    total += gap + width[c];
  }
  const auto laid_out = [&](const auto& cell) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) line.append(gap, ' ');
      line += columns[c].left ? pad_right(cell(c), width[c]) : pad_left(cell(c), width[c]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line + "\n";
  };
  std::string result = laid_out([&](std::size_t c) { return columns[c].head; });
  for (Index i = 0; i < total; ++i) result += "─";
  result += "\n";
  for (const auto& line : lines) result += laid_out([&](std::size_t c) { return line[c]; });
  return result;
}

}  // namespace ecotone
