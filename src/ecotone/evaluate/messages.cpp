#include "ecotone/evaluate/messages.h"

#include <map>

namespace ecotone {

void pass_on(const std::vector<std::unique_ptr<Messages>>& fits, const Context& context, std::string_view what) {
  std::map<std::pair<std::string, std::string>, Index> count;
  for (const auto& fit : fits) {
    std::map<std::pair<std::string, std::string>, Index> once;
    for (const auto& item : fit->items())
      if (++once[item] == 1) ++count[item];
  }
  for (const auto& fit : fits)
    for (const auto& item : fit->items()) {
      const auto it = count.find(item);
      if (it == count.end()) continue;  // told already
      const std::string where = it->second == 1 ? "" : fmt::format(" ({} of {} {})", it->second, fits.size(), what);
      if (item.first.empty()) {
        context.note("{}{}", item.second, where);
      } else {
        context.warn(item.first, "{}{}", item.second, where);
      }
      count.erase(it);
    }
}

}  // namespace ecotone
