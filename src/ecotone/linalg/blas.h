#pragma once

#include <string>

namespace ecotone {

/// Prepares the BLAS, once per process: one thread, because our own pool provides the parallelism and results must not
/// depend on how many threads share a product. Throws if the requested kernels are not available. Every entry point of
/// linalg/ calls it; code that multiplies with Eigen directly must call it first.
void prepare_blas();

/// The BLAS of this process, for `ecotone doctor`.
struct BlasState {
  std::string library;     ///< "OpenBLAS 0.3.21 ..."
  std::string kernels;     ///< the kernels in use, by the library's name: "SkylakeX"
  std::string replaced;    ///< the kernels that the library had chosen, if others are in use; otherwise empty
  bool fell_back = false;  ///< the kernels use less than the processor offers, and nobody asked for that
};
BlasState blas_state();

}  // namespace ecotone
