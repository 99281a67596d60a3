#pragma once

#include <string_view>

#include "ecotone/data/dataset.h"

namespace ecotone::cli {

/// The training view of data that must have labels. Warns (`domain_without_labels`) about source domains that are left
/// out because none of their rows has a label. Data error `no_labels`.
TrainView labelled_view(const Dataset& data, std::string_view who, const Context& context);

}  // namespace ecotone::cli
