#include "ecotone/methods/query/strategy.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace ecotone {
namespace {

constexpr std::array infos{
    StrategyInfo{QueryRule::least_confidence, "least_confidence",
                 "Asks the row whose likeliest class has the smallest probability", "sayed2022"},
    StrategyInfo{QueryRule::entropy, "entropy", "Asks the row whose class probabilities have the largest entropy",
                 "sayed2022"},
    StrategyInfo{QueryRule::margin, "margin", "Asks the row whose two likeliest classes are closest in probability",
                 "sayed2022"},
    StrategyInfo{QueryRule::hyperplane, "hyperplane", "Asks the row nearest to the boundary between two classes",
                 "sayed2022"},
    StrategyInfo{QueryRule::neighbours, "neighbours",
                 "Asks the row whose nearest labelled rows are most divided, or whose labels vary most", "sayed2022"},
    StrategyInfo{QueryRule::random, "random", "Asks rows at random", ""},
};

const StrategyInfo& info_of(std::string_view name) {
  std::vector<std::string> names;
  for (const StrategyInfo& info : infos) {
    if (info.name == name) return info;
    names.emplace_back(info.name);
  }
  const std::string near = did_you_mean(name, names);
  option_error("unknown_strategy", "unknown strategy '{}'; {}", name,
               near.empty() ? "there are " + or_list(names) : fmt::format("did you mean '{}'?", near));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

}  // namespace

std::span<const StrategyInfo> strategy_infos() { return infos; }

Strategy Strategy::parse(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) option_error("bad_strategy", "a strategy is a name and options, such as \"entropy batch=5\"");
  const StrategyInfo& info = info_of(words.front());
  OptionTexts given;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t sign = words[i].find('=');
    if (sign == std::string::npos || sign == 0)
      option_error("bad_strategy", "{}: expected option=value, got '{}'", info.name, words[i]);
    given.emplace_back(words[i].substr(0, sign), words[i].substr(sign + 1));
  }
  Strategy strategy{info.rule,
                    read_options<QueryOptions>(complete_options(info.name, describe_options<QueryOptions>(), given))};
  if (strategy.rule == QueryRule::random && strategy.options.domain_aware)
    option_error("bad_option", "random: domain_aware needs an uncertainty; use it with another strategy");
  return strategy;
}

std::string Strategy::text() const {
  std::string text(infos[static_cast<std::size_t>(rule)].name);
  const QueryOptions defaults;
  std::apply(
      [&](const auto&... f) {
        ((options.*f.member == defaults.*f.member
              ? void()
              : void(text +=
                     fmt::format(" {}={}", f.name, option_text(detail::option_json(options.*f.member, f.limits))))),
         ...);
      },
      QueryOptions::fields());
  return text;
}

}  // namespace ecotone
