#pragma once

#include "ecotone/data/features.h"

namespace ecotone {

/// How many fits on parts of these rows run side by side, for `Context::parallel`; threads that are left work inside
/// them. 0: as many as there are threads. Large data: as many as fit in half of the free memory, each with its own part
/// of the rows and what it makes of them. Results do not depend on it.
int fits_at_once(const Features& x);

}  // namespace ecotone
