#pragma once

#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/protocol.h"

namespace ecotone {

/// Warns (`unseen_category`, once per text column) of held-out rows with a category that the rows of their split's
/// training view do not have: the model knows nothing of it and takes all its features as 0.
void warn_unseen_categories(const Dataset& data, const std::vector<Split>& splits, const Context& context);

}  // namespace ecotone
