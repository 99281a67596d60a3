#include "cli/selection_input.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone::cli {

TrainView labelled_view(const Dataset& data, std::string_view who, const Context& context) {
  if (!data.y) data_error("no_labels", "{}: there are no labels to learn from; name their column with --label", who);
  std::vector<bool> has(data.domain.names.size(), false);
  for (std::size_t i = 0; i < data.domain.index.size(); ++i)
    if (!data.y->missing(static_cast<Index>(i))) has[static_cast<std::size_t>(data.domain.index[i])] = true;
  std::vector<std::string> without;
  for (std::size_t d = 0; d < has.size(); ++d)
    if (data.role[d] == Role::source && !has[d]) without.push_back(data.domain.names[d]);
  if (std::find(has.begin(), has.end(), true) == has.end())
    data_error("no_labels", "{}: none of the {} rows has a label", who, data.rows());
  TrainView view = train_view(data, context);
  if (!without.empty())
    context.warn("domain_without_labels", "{}: no row of {} '{}' has a label, so those rows are left out", who,
                 without.size() == 1 ? "domain" : "the domains", fmt::join(without, "', '"));
  return view;
}

}  // namespace ecotone::cli
