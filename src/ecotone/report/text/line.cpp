#include "ecotone/report/text/line.h"

#include <fmt/format.h>

namespace ecotone {

std::string printable(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) {
    const auto code = static_cast<unsigned char>(c);
    if (c != '\n' && c != '\t' && (code < 0x20 || code == 0x7f)) c = '?';
  }
  return safe;
}

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
