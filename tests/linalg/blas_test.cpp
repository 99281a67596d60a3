#include "ecotone/linalg/blas.h"

#include <cblas.h>
#include <gtest/gtest.h>

namespace ecotone {
namespace {

TEST(Blas, RunsOnOneThreadOnceAsked) {
  use_one_blas_thread();
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

TEST(Blas, DescribesItself) {
  EXPECT_NE(blas_description().find("OpenBLAS"), std::string::npos) << blas_description();
  EXPECT_NE(blas_description().find("kernel"), std::string::npos);
}

}  // namespace
}  // namespace ecotone
