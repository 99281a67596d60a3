#include "ecotone/linalg/blas.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/simd.h"
#include "ecotone/linalg/speed.h"

namespace ecotone {
namespace blas_test {

TEST(Blas, RunsOnOneThreadOnceAsked) {
  prepare_blas();
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

TEST(Blas, SaysWhatItIs) {
  const BlasState state = blas_state();
  EXPECT_TRUE(state.library.starts_with("OpenBLAS ")) << state.library;
  EXPECT_EQ(state.kernels, openblas_get_corename());
  EXPECT_NE(state.replaced, state.kernels);
}

TEST(Blas, UsesWhatTheProcessorHas) {
  // Debian's OpenBLAS takes its oldest kernels on processors that are newer than it; ours are then better ones.
  EXPECT_FALSE(blas_state().fell_back) << blas_state().kernels;
  if (kernel_choice().by == KernelsBy::processor) return;
  EXPECT_EQ(blas_state().kernels, kernel_choice().kernels.blas_core);
}

TEST(Blas, ItsSpeedCanBeMeasured) {
  const ProductSpeed speed = measure_product_speed();
  // How the two compare depends on what else the machine does between them.
  EXPECT_GT(speed.product, 0);
  EXPECT_GT(speed.peak, 0);
  EXPECT_TRUE(std::isfinite(speed.product) && std::isfinite(speed.peak));
}

}  // namespace blas_test
}  // namespace ecotone
