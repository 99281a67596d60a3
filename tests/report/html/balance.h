#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace ecotone::test {

/// The page without what its script elements hold, which is no HTML.
inline std::string without_scripts(std::string page) {
  for (std::size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1)) {
    const std::size_t begin = page.find('>', at) + 1;
    page.erase(begin, page.find("</script>", begin) - begin);
  }
  return page;
}

/// Whether tags nest and close; void elements must close themselves.
inline std::string balance_error(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    if (page.compare(at, 9, "<!DOCTYPE") == 0) continue;
    std::size_t end = at + 1;
    for (bool quoted = false; end < page.size() && (quoted || page[end] != '>'); ++end) quoted ^= page[end] == '"';
    if (end >= page.size()) return "tag without end";
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.empty() || !(std::isalpha(static_cast<unsigned char>(tag[0])) || tag[0] == '/'))
      return "bad tag <" + tag + ">";
    if (tag.back() == '/') continue;
    const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" \n", 1) - (tag[0] == '/'));
    if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace ecotone::test
