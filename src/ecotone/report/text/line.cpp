#include "ecotone/report/text/line.h"

#include <fmt/format.h>

namespace ecotone {

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\t') {
      line += c == '\n' ? "\\n" : "\\t";
    } else {
      line += c;
    }
  }
  return line;
}

std::string counted(Index count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace ecotone
