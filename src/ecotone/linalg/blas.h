#pragma once

#include <string>

namespace ecotone {

/// Sets the BLAS to one thread, once in a process: our pool gives the parallelism, and results must not depend on how
/// many threads a product was split over. Every entry of linalg/ calls it; whoever multiplies with Eigen directly calls
/// it first.
void use_one_blas_thread();

/// Which BLAS runs, and its kernel («OpenBLAS 0.3.21 ..., kernel Haswell»), for `ecotone doctor`.
std::string blas_description();

}  // namespace ecotone
