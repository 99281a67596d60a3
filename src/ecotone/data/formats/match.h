#pragma once

#include <string>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// The features of a data set with names, matched to the schema of a model, whichever form categories have in either.
/// Levels that the data lack are zeros, levels that the model does not know are missing and are counted in the warning
/// `unseen_category`.
Dataset match_by_name(Dataset data, const Schema& schema, const std::string& origin, const Context& context);

}  // namespace ecotone
