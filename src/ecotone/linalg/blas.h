#pragma once

#include <string>

namespace ecotone {

/// Makes the BLAS ready, once in a process: one thread, because our pool gives the parallelism and results must not
/// depend on how many threads a product was split over. Throws when the kernels that were asked for cannot be had.
/// Every entry of linalg/ calls it; whoever multiplies with Eigen directly calls it first.
void prepare_blas();

/// The BLAS of this process, for `ecotone doctor`.
struct BlasState {
  std::string library;     ///< "OpenBLAS 0.3.21 ..."
  std::string kernels;     ///< those in use, as the library calls them: "SkylakeX"
  std::string replaced;    ///< those that the library had chosen, where others are in use; else empty
  bool fell_back = false;  ///< the kernels use less than the processor has, and nobody asked for that
};
BlasState blas_state();

}  // namespace ecotone
