#pragma once

#include <string>

#include "ecotone/base/json.h"
#include "ecotone/solve/moments/moments.h"

namespace ecotone::cli {

/// {"kind": "moments", "features": their number, "classes", "domains": [{"domain", "rows", "labelled"}], "gram"}
Json moments_json(const Moments& moments);

/// Describes a file of moments: sizes, labels, the kind of Gram matrix, and a table of the domains.
std::string moments_text(const Moments& moments);

}  // namespace ecotone::cli
