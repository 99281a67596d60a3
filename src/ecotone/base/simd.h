#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ecotone {

/// Vector instruction sets; each includes those before it.
enum class Instructions { sse2, avx, avx2, avx512 };

/// The common name, such as "AVX2 and FMA".
std::string_view instructions_name(Instructions instructions);

/// The matrix multiplication kernels of a process. With the same kernels, results are identical to the byte across
/// machines; between kernels they may differ in the last digits.
struct Kernels {
  std::string_view name;      ///< value of ECOTONE_KERNELS
  const char* blas_core;      ///< OpenBLAS's name for them
  Instructions instructions;  ///< the instructions they need; ecotone's own loops use the same
};

/// All kernels that can be chosen, by increasing requirements.
std::span<const Kernels> known_kernels();

/// What decided on the kernels.
enum class KernelsBy { processor, ecotone_kernels, openblas_coretype };

/// The kernels of this process: those named by the environment variable ECOTONE_KERNELS, else by OPENBLAS_CORETYPE,
/// else the best for the processor. Read once; never throws.
struct KernelChoice {
  Kernels kernels;
  KernelsBy by = KernelsBy::processor;
  std::string problem;  ///< why the setting cannot be followed; empty if it can
};
const KernelChoice& kernel_choice();

/// The choice for given values of both variables (null: not set) on a processor with these instructions.
KernelChoice choose_kernels(const char* ecotone_kernels, const char* openblas_coretype, Instructions processor);

/// Throws the error `bad_kernels` if the setting cannot be followed.
void require_kernels();

/// The widest instructions that the processor and the operating system support.
Instructions processor_instructions();

/// Whether loops may use these instructions.
bool may_use(Instructions instructions);

#if defined(__x86_64__)
namespace simd {
template <auto loop, class... Args>
[[gnu::target("avx2,fma")]] void fused(Args&&... args) {
  loop(std::forward<Args>(args)...);
}
template <auto loop, class... Args>
[[gnu::target("avx2")]] void unfused(Args&&... args) {
  loop(std::forward<Args>(args)...);
}
}  // namespace simd
#endif

/// Runs a loop, an always-inline function, compiled for the widest vectors allowed. Multiplications and additions may
/// be fused, so the last digits depend on the kernels.
template <auto loop, class... Args>
void run_wide(Args&&... args) {
#if defined(__x86_64__)
  if (may_use(Instructions::avx2)) return simd::fused<loop>(std::forward<Args>(args)...);
#endif
  loop(std::forward<Args>(args)...);
}

/// The same for a loop of two kinds, loop<fused>, that does not leave it to the compiler what is fused (lanes.h): a
/// value has the same bytes wherever the loop computes it.
template <auto fused_loop, auto plain_loop, class... Args>
void run_fused(Args&&... args) {
#if defined(__x86_64__)
  if (may_use(Instructions::avx2)) return simd::fused<fused_loop>(std::forward<Args>(args)...);
#endif
  plain_loop(std::forward<Args>(args)...);
}

/// The same without fused operations: identical bytes on all kernels.
template <auto loop, class... Args>
void run_wide_exactly(Args&&... args) {
#if defined(__x86_64__)
  if (may_use(Instructions::avx2)) return simd::unfused<loop>(std::forward<Args>(args)...);
#endif
  loop(std::forward<Args>(args)...);
}

}  // namespace ecotone
