#include "ecotone/linalg/computer.h"

#include "ecotone/base/memory.h"
#include "ecotone/base/simd.h"
#include "ecotone/base/thread_pool.h"

namespace ecotone {
namespace {

std::string kernels_chosen_by(const BlasState& blas) {
  switch (kernel_choice().by) {
    case KernelsBy::ecotone_kernels:
      return "ECOTONE_KERNELS";
    case KernelsBy::openblas_coretype:
      return "OPENBLAS_CORETYPE";
    case KernelsBy::processor:
      break;
  }
  return blas.replaced.empty() ? "openblas" : "ecotone";
}

}  // namespace

Computer examine_computer(const Context& context) {
  Computer computer{.threads = available_threads(),
                    .threads_used = context.threads(),
                    .memory = available_memory(),
                    .blas = blas_state(),
                    .kernels_by = {},
                    .instructions = std::string(instructions_name(processor_instructions())),
                    .speed = measure_product_speed()};
  computer.kernels_by = kernels_chosen_by(computer.blas);
  if (computer.blas.fell_back)
    context.warn("blas_fell_back",
                 "OpenBLAS uses its {} kernels although this processor has {}, so matrix products run at a fraction of "
                 "its speed; set OPENBLAS_CORETYPE={} or install a newer OpenBLAS",
                 computer.blas.kernels, computer.instructions, kernel_choice().kernels.blas_core);
  return computer;
}

}  // namespace ecotone
