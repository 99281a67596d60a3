#include "ecotone/base/simd.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "base/temp_folder.h"
#include "ecotone/base/index.h"

namespace ecotone {
namespace simd_test {

using testing::HasSubstr;

TEST(Kernels, TheProcessorDecidesWhereNothingIsSet) {
  EXPECT_EQ(choose_kernels(nullptr, nullptr, Instructions::avx512).kernels.name, "skylakex");
  EXPECT_EQ(choose_kernels("", nullptr, Instructions::avx2).kernels.name, "haswell");
  EXPECT_EQ(choose_kernels(nullptr, nullptr, Instructions::avx).kernels.name, "sandybridge");
  EXPECT_EQ(choose_kernels(nullptr, nullptr, Instructions::sse2).kernels.name, "prescott");
  EXPECT_EQ(choose_kernels(nullptr, nullptr, Instructions::avx2).by, KernelsBy::processor);
}

TEST(Kernels, TheSettingDecidesBeforeOpenblasAndTheProcessor) {
  const KernelChoice pinned = choose_kernels("Haswell", "Prescott", Instructions::avx512);
  EXPECT_EQ(pinned.kernels.name, "haswell");
  EXPECT_EQ(pinned.by, KernelsBy::ecotone_kernels);
  EXPECT_EQ(pinned.problem, "");
  const KernelChoice followed = choose_kernels(nullptr, "Prescott", Instructions::avx512);
  EXPECT_EQ(followed.kernels.name, "prescott");
  EXPECT_EQ(followed.by, KernelsBy::openblas_coretype);
  // Names that only OpenBLAS knows are its own business.
  EXPECT_EQ(choose_kernels(nullptr, "Cooperlake", Instructions::avx512).by, KernelsBy::processor);
}

TEST(Kernels, EachCanBeNamedWhereItsInstructionsAre) {
  for (const Kernels& each : known_kernels()) {
    const std::string name(each.name);
    EXPECT_EQ(choose_kernels(name.c_str(), nullptr, each.instructions).kernels.name, each.name);
    EXPECT_EQ(choose_kernels(name.c_str(), nullptr, each.instructions).problem, "");
    if (each.instructions == Instructions::sse2) continue;
    const KernelChoice lacking = choose_kernels(name.c_str(), nullptr, Instructions::sse2);
    EXPECT_THAT(lacking.problem, HasSubstr(name + " needs " + std::string(instructions_name(each.instructions))));
    EXPECT_EQ(lacking.kernels.instructions, Instructions::sse2) << "what cannot run is not chosen";
  }
}

TEST(Kernels, AnUnknownNameIsAnsweredWithThoseThereAre) {
  EXPECT_EQ(choose_kernels("pentium", nullptr, Instructions::avx2).problem,
            "ECOTONE_KERNELS: unknown kernels 'pentium'; choose one of prescott, nehalem, sandybridge, haswell, zen, "
            "skylakex");
}

TEST(Kernels, LoopsUseNoMoreThanTheKernels) {
  EXPECT_LE(kernel_choice().kernels.instructions, processor_instructions());
  EXPECT_TRUE(may_use(kernel_choice().kernels.instructions));
  EXPECT_TRUE(may_use(Instructions::sse2));
}

[[gnu::always_inline]] inline void add_products(const double* a, const double* b, double* sum, Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += a[i] * b[i];
}

TEST(RunWide, GivesThePlainLoop) {
  constexpr Index count = 37;
  std::vector<double> a, b, start;
  for (Index i = 0; i < count; ++i) {
    a.push_back(std::sin(static_cast<double>(i)));
    b.push_back(std::cos(static_cast<double>(3 * i)));
    start.push_back(1.0 / static_cast<double>(i + 1));
  }
  std::vector<double> plain = start, exact = start, wide = start;
  add_products(a.data(), b.data(), plain.data(), count);
  run_wide_exactly<add_products>(a.data(), b.data(), exact.data(), count);
  run_wide<add_products>(a.data(), b.data(), wide.data(), count);
  EXPECT_EQ(exact, plain);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(wide[i], plain[i], 3e-16);
}

}  // namespace simd_test
}  // namespace ecotone
