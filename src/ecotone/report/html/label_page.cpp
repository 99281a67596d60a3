#include "ecotone/report/html/label_page.h"

#include <utility>

namespace ecotone {

std::string label_page(std::string_view nonce) {
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"@NONCE@", nonce}, {"@STYLE@", label_page_css()}, {"@SCRIPT@", label_page_js()}};
  std::string page;
  std::string_view rest = label_page_html();
  while (!rest.empty()) {
    std::size_t next = rest.size();
    const std::pair<std::string_view, std::string_view>* found = nullptr;
    for (const auto& part : parts) {
      const std::size_t place = rest.find(part.first);
      if (place >= next) continue;
      next = place;
      found = &part;
    }
    page += rest.substr(0, next);
    if (!found) break;
    page += found->second;
    rest.remove_prefix(next + found->first.size());
  }
  return page;
}

}  // namespace ecotone
