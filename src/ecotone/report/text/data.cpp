#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/options.h"
#include "ecotone/report/text/text.h"

namespace ecotone {
namespace {

constexpr std::size_t most_names = 12;  // more would fill the screen

std::string shortened(std::vector<std::string> names) {
  if (names.size() <= most_names) return fmt::format("{}", fmt::join(names, ", "));
  const std::size_t more = names.size() - (most_names - 2);
  names.resize(most_names - 2);
  return fmt::format("{}, and {} more", fmt::join(names, ", "), more);
}

std::string domains_text(const Dataset& data) {
  const auto rows = data.domain.sizes();
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    const bool target = d < data.role.size() && data.role[d] == Role::target;
    names.push_back(fmt::format("{} {}{}", data.domain.names[d], rows[d], target ? " target" : ""));
  }
  return fmt::format("{} ({})", counted(data.domain.count(), "domain"), shortened(names));
}

}  // namespace

std::string data_summary(const Dataset& data) {
  std::string text = fmt::format("{}, {}", counted(data.rows(), "row"), counted(data.x.cols(), "feature"));
  if (data.domain.count() > 1) text += ", " + domains_text(data);
  if (!data.y) return text + ", no label";
  text += fmt::format(", label {} ({}", data.schema.label, task_name(data.y->task));
  if (data.y->task == Task::classify) text += ": " + shortened(data.y->classes);
  return text + ")";
}

std::string generators_text(const std::vector<Generator>& generators) {
  std::string text;
  for (const Generator& generator : generators) {
    text += fmt::format("{:<18} {}\n", generator.name, generator.summary);
    text += option_lines(generator.options, 4);
  }
  return text;
}

}  // namespace ecotone
