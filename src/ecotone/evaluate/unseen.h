#pragma once

#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/protocol.h"

namespace ecotone {

/// Warns (`unseen_category`, once per text column) about held-out rows with a category that does not occur in the
/// training view of their split: the model does not know it and sets all its features to 0.
void warn_unseen_categories(const Dataset& data, const std::vector<Split>& splits, const Context& context);

}  // namespace ecotone
