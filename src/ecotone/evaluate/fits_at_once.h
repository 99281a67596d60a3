#pragma once

#include "ecotone/data/features.h"

namespace ecotone {

/// How many fits on parts of these rows run in parallel, for `Context::parallel`; remaining threads work inside the
/// fits. 0: as many as there are threads. For large data, as many as fit in half of the free memory, each with its own
/// part of the rows and intermediate results. Results do not depend on it.
int fits_at_once(const Features& x);

}  // namespace ecotone
