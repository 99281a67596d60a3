#include "ecotone/choose/plain.h"

#include <algorithm>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/choose/guard.h"
#include "ecotone/evaluate/adapting.h"

namespace ecotone {

namespace {

std::optional<Pipeline> counterpart(const Pipeline& pipeline, Task task) {
  try {
    return plain_counterpart(pipeline, task);
  } catch (const Error& error) {
    if (error.code() != "nothing_to_guard") throw;
    return std::nullopt;
  }
}

}  // namespace

std::vector<Pipeline> plain_first(std::vector<Pipeline> candidates, Task task, const Context& context) {
  if (candidates.empty()) return candidates;
  const std::string first = candidates.front().text();
  const std::optional<Pipeline> plain = counterpart(candidates.front(), task);
  if (!plain) {
    if (adapts(candidates.front()))
      context.note("choose: the first pipeline, \"{}\", adapts and has no plain counterpart", first);
    return candidates;
  }
  const auto same = std::ranges::find(candidates, plain->text(), &Pipeline::text);
  if (same == candidates.end()) {
    candidates.insert(candidates.begin(), *plain);
    context.note("choose: the first pipeline, \"{}\", adapts, so its plain counterpart is added", first);
  } else {
    std::rotate(candidates.begin(), same, same + 1);
    context.note("choose: the first pipeline, \"{}\", adapts, so its plain counterpart is placed before it", first);
  }
  return candidates;
}

}  // namespace ecotone
