#include "cli/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ecotone::cli {

Json options_json(const std::vector<OptionInfo>& options) {
  const auto limit = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json list = Json::array();
  for (const OptionInfo& option : options) {
    const Limits& limits = option.limits;
    Json choices = Json::array();
    for (int i = 0; i < limits.n_choices; ++i) choices.push_back(limits.choices[static_cast<std::size_t>(i)]);
    list.push_back({{"name", option.name},
                    {"type", type_name(option.type)},
                    {"default", option.default_value},
                    {"help", option.help},
                    {"low", limit(limits.low)},
                    {"high", limit(limits.high)},
                    {"open_low", limits.open_low},
                    {"open_high", limits.open_high},
                    {"choices", std::move(choices)}});
  }
  return list;
}

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
    text += fmt::format("{:{}}{:<{}}  {} ({}: {})\n", "", indent, given(option), width, option.help,
                        type_name(option.type), range_text(option));
  return text;
}

}  // namespace ecotone::cli
