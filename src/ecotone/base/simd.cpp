#include "ecotone/base/simd.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

constexpr Kernels all_kernels[] = {
    {"prescott", "Prescott", Instructions::sse2},
    {"nehalem", "Nehalem", Instructions::sse2},
    {"sandybridge", "Sandybridge", Instructions::avx},
    {"haswell", "Haswell", Instructions::avx2},
    {"zen", "Zen", Instructions::avx2},
    {"skylakex", "SkylakeX", Instructions::avx512},
};

const Kernels* find(std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const Kernels& each : all_kernels)
    if (std::ranges::equal(each.name, name, same)) return &each;
  return nullptr;
}

const Kernels& best_for(Instructions processor) {
  switch (processor) {
    case Instructions::avx512:
      return *find("skylakex");
    case Instructions::avx2:
      return *find("haswell");
    case Instructions::avx:
      return *find("sandybridge");
    case Instructions::sse2:
      break;
  }
  return *find("prescott");
}

std::string names_of_kernels() {
  std::vector<std::string_view> names;
  for (const Kernels& each : all_kernels) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view instructions_name(Instructions instructions) {
  constexpr std::string_view names[] = {"SSE2", "AVX", "AVX2 and FMA", "AVX-512"};
  return names[static_cast<std::size_t>(instructions)];
}

std::span<const Kernels> known_kernels() { return all_kernels; }

Instructions processor_instructions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
  if (__builtin_cpu_supports("avx")) return Instructions::avx;
#endif
  return Instructions::sse2;
}

KernelChoice choose_kernels(const char* ecotone_kernels, const char* openblas_coretype, Instructions processor) {
  KernelChoice choice{best_for(processor), KernelsBy::processor, {}};
  const bool pinned = ecotone_kernels != nullptr && *ecotone_kernels != '\0';
  if (!pinned) {
    // OpenBLAS handles names that are unknown here.
    const Kernels* named = openblas_coretype == nullptr ? nullptr : find(openblas_coretype);
    if (named != nullptr && named->instructions <= processor) choice = {*named, KernelsBy::openblas_coretype, {}};
    return choice;
  }
  choice.by = KernelsBy::ecotone_kernels;
  if (const Kernels* named = find(ecotone_kernels); named == nullptr) {
    choice.problem =
        fmt::format("ECOTONE_KERNELS: unknown kernels '{}'; choose one of {}", ecotone_kernels, names_of_kernels());
  } else if (named->instructions > processor) {
    choice.problem = fmt::format("ECOTONE_KERNELS: {} needs {}, which this processor does not have", named->name,
                                 instructions_name(named->instructions));
  } else {
    choice.kernels = *named;
  }
  return choice;
}

const KernelChoice& kernel_choice() {
  static const KernelChoice choice =
      choose_kernels(std::getenv("ECOTONE_KERNELS"), std::getenv("OPENBLAS_CORETYPE"), processor_instructions());
  return choice;
}

void require_kernels() {
  if (!kernel_choice().problem.empty()) option_error("bad_kernels", "{}", kernel_choice().problem);
}

bool may_use(Instructions instructions) {
  static const Instructions widest = kernel_choice().kernels.instructions;
  return instructions <= widest;
}

}  // namespace ecotone
