#include "ecotone/report/text/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/text/text_width.h"

namespace ecotone {

std::string range_text(const OptionInfo& option) {
  if (option.type == OptionType::boolean) return "true or false";
  constexpr std::string_view prefix = "must be ";
  std::string text = option.limits.text();
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  if (option.type == OptionType::auto_real) text = text.empty() ? "a number or auto" : text + ", or auto";
  return text.empty() ? "any" : text;
}

std::string option_lines(const std::vector<OptionInfo>& options, std::size_t indent) {
  std::size_t width = 0;
  const auto given = [](const OptionInfo& o) { return fmt::format("{}={}", o.name, option_text(o.default_value)); };
  for (const OptionInfo& option : options) width = std::max(width, given(option).size());
  std::string text;
  for (const OptionInfo& option : options)
    text += wrapped(fmt::format("{} ({}: {})", option.help, type_name(option.type), range_text(option)), page_width,
                    fmt::format("{:{}}{:<{}}  ", "", indent, given(option), width));
  return text;
}

}  // namespace ecotone
