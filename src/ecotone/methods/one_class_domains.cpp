#include "ecotone/methods/one_class_domains.h"

#include <algorithm>

namespace ecotone {

namespace {

constexpr Index enough_rows = 10;      // fewer often have one class
constexpr std::size_t most_named = 3;  // domains in the message

/// The class of all rows of a domain, or -1 if they differ or are few.
std::int32_t only_class(const Prediction& prediction, const std::vector<Index>& rows) {
  if (static_cast<Index>(rows.size()) < enough_rows) return -1;
  const std::int32_t first = prediction.index[static_cast<std::size_t>(rows.front())];
  const bool same =
      std::ranges::all_of(rows, [&](Index row) { return prediction.index[static_cast<std::size_t>(row)] == first; });
  return same ? first : -1;
}

}  // namespace

void warn_of_one_class_domains(const std::string& who, const Batch& batch, const Prediction& prediction,
                               const std::vector<std::string>& classes, const std::vector<std::string>& known,
                               const Context& context) {
  if (prediction.task != Task::classify || classes.size() < 2) return;
  Domains one{{"the data"}, std::vector<std::int32_t>(prediction.index.size(), 0)};
  const Domains& domains = batch.domain ? *batch.domain : one;
  std::vector<std::string> found;
  for (Index d = 0; d < domains.count(); ++d) {
    const std::string& name = domains.names[static_cast<std::size_t>(d)];
    if (batch.domain && std::ranges::find(known, name) != known.end()) continue;
    const std::vector<Index> rows = domains.rows_of(d);
    const std::int32_t cls = only_class(prediction, rows);
    if (cls >= 0)
      found.push_back(fmt::format("all {} rows of {} get class '{}'", rows.size(),
                                  batch.domain ? fmt::format("the new domain '{}'", name) : "the new domain",
                                  classes[static_cast<std::size_t>(cls)]));
  }
  if (found.empty()) return;
  const std::size_t more = found.size() > most_named ? found.size() - most_named : 0;
  found.resize(found.size() - more);
  context.warn("one_class_domain",
               "{}: {}{}; a domain unlike the training domains is far from every training row, so compare with "
               "distributional=false",
               who, fmt::join(found, ", "), more > 0 ? fmt::format(" ({} more domains)", more) : "");
}

}  // namespace ecotone
