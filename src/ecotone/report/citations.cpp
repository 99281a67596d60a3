#include "ecotone/report/citations.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecotone {

std::string full_citation(std::string_view key) {
  const std::string_view all = citations_of_the_glossary();
  const std::string heading = fmt::format("\n### {}\n\n", key);
  const std::size_t found = all.find(heading);
  if (found == std::string_view::npos) return "";
  const std::size_t begin = found + heading.size();
  const std::size_t end = std::min(all.find("\n\n", begin), all.find_last_not_of('\n') + 1);
  std::string text(all.substr(begin, end - begin));
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace ecotone
