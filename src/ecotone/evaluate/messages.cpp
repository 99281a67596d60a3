#include "ecotone/evaluate/messages.h"

#include <algorithm>
#include <map>
#include <set>

namespace ecotone {

namespace {

using Item = std::pair<std::string, std::string>;

/// The words before the first ":".
std::string stage_of(const std::string& text) { return text.substr(0, text.find(':')); }

/// The number of fits with this stage; all fits if none has it.
std::size_t fits_with(const std::vector<std::unique_ptr<Messages>>& fits, const std::string& stage) {
  const auto count =
      std::count_if(fits.begin(), fits.end(), [&](const auto& fit) { return fit->may_come_from(stage); });
  return count > 0 ? static_cast<std::size_t>(count) : fits.size();
}

/// The key of messages that are reported as one: a note's text, or a warning's code and stage.
Item group_of(const Item& item) {
  if (item.first.empty()) return item;
  return {item.first, stage_of(item.second)};
}

struct Group {
  Index fits = 0;               ///< that had such a message
  std::set<std::string> texts;  ///< all different ones
};

}  // namespace

void pass_on(const std::vector<std::unique_ptr<Messages>>& fits, const Context& context, std::string_view what) {
  if (StageTimes* times = stage_times(context))
    for (const auto& fit : fits)
      for (const auto& [stage, seconds] : fit->times()) times->stage_time(stage, seconds);
  std::map<Item, Group> groups;
  for (const auto& fit : fits) {
    std::set<Item> counted;
    for (const Item& item : fit->items()) {
      const Item key = group_of(item);
      Group& group = groups[key];
      group.texts.insert(item.second);
      if (counted.insert(key).second) ++group.fits;
    }
  }
  for (const auto& fit : fits)
    for (const Item& item : fit->items()) {
      const auto it = groups.find(group_of(item));
      if (it == groups.end()) continue;  // already passed on
      const Group& group = it->second;
      std::string text = item.second;
      if (group.fits > 1) {
        text += fmt::format(" ({} of {} {}{})", group.fits, fits_with(fits, stage_of(item.second)), what,
                            group.texts.size() > 1 ? ", details differ" : "");
      } else if (group.texts.size() > 1) {
        text += fmt::format(" (and {} similar)", group.texts.size() - 1);
      }
      if (item.first.empty()) {
        context.note("{}", text);
      } else {
        context.warn(item.first, "{}", text);
      }
      groups.erase(it);
    }
}

void warn_below_chance(std::string_view who, std::string_view what, std::optional<double> auroc,
                       const Context& context) {
  constexpr double limit = 0.4;
  if (!auroc || !(*auroc < limit)) return;
  context.warn("below_chance",
               "{}: {} has a mean AUROC of {:.3f} on held-out domains, below chance; check for features centred over "
               "the held-out domain, for reversed labels there, and for domains with few rows",
               who, what, *auroc);
}

}  // namespace ecotone
