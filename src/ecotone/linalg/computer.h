#pragma once

#include <cstddef>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/speed.h"

/// How fast and how large this computer is.
namespace ecotone {

struct Computer {
  int threads = 0;         ///< that the computer has
  int threads_used = 0;    ///< by the context
  std::size_t memory = 0;  ///< available bytes
  BlasState blas;
  std::string kernels_by;    ///< who chose them: "ECOTONE_KERNELS", "OPENBLAS_CORETYPE", "openblas" or "ecotone"
  std::string instructions;  ///< the widest vector instructions of the processor
  ProductSpeed speed;
};

/// Takes two tenths of a second, nearly all of it for the speed. Warns (`blas_fell_back`) where the BLAS uses old
/// instructions and cannot be made to use others.
Computer examine_computer(const Context& context);

}  // namespace ecotone
