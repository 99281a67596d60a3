#include "ecotone/kernels/rbf.h"

#include <algorithm>
#include <cmath>

#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/exponential.h"

namespace ecotone {
namespace {

/// 1 / (2 sigma^2); rejects a bandwidth whose square vanishes or overflows.
double scale_of(double sigma) {
  check_kernel({.kind = KernelKind::rbf, .sigma = sigma});
  return 0.5 / sigma / sigma;
}

}  // namespace

RbfTiles::RbfTiles(ConstMatrixView x, double sigma) : distances_(x), scale_(scale_of(sigma)) {}

RbfTiles::RbfTiles(ConstMatrixView x, ConstMatrixView y, double sigma) : distances_(x, y), scale_(scale_of(sigma)) {}

void RbfTiles::tile(Index i, Index j, MatrixView k) const {
  distances_.tile(i, j, k);
  for (Index r = 0; r < k.rows(); ++r) exp_of_negative(scale_, k.data() + r * k.outerStride(), k.cols());
}

LowerTiles::Tile LowerTiles::at(Index t) const {
  // Row a of tiles starts at a (a + 1) / 2.
  auto a = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(t) + 1.0) - 1.0) / 2.0);
  while (a * (a + 1) / 2 > t) --a;
  while ((a + 1) * (a + 2) / 2 <= t) ++a;
  const Index i = a * RbfTiles::side;
  const Index j = (t - a * (a + 1) / 2) * RbfTiles::side;
  return {i, j, std::min(RbfTiles::side, n_ - i), std::min(RbfTiles::side, n_ - j)};
}

Matrix rbf_gram(ConstMatrixView x, double sigma, const Context& context) {
  return kernel_gram({.kind = KernelKind::rbf, .sigma = sigma}, x, context);
}

Matrix rbf_gram(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context) {
  return kernel_gram({.kind = KernelKind::rbf, .sigma = sigma}, x, y, context);
}

}  // namespace ecotone
