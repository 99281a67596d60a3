#include "ecotone/kernels/rbf.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/linalg/exponential.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

/// 1 / (2 sigma^2); a bandwidth whose square vanishes or overflows is refused.
double scale_of(double sigma) {
  const double scale = 0.5 / sigma / sigma;
  if (!(sigma > 0) || !std::isfinite(sigma) || !std::isfinite(scale))
    option_error("bad_option", "rbf: sigma must be a positive number, got {}", sigma);
  return scale;
}

void require_gram(Index rows, Index cols) {
  require_memory(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double), "rbf",
                 fmt::format("the Gram matrix of {} x {} rows", rows, cols), "take fewer rows");
}

}  // namespace

RbfTiles::RbfTiles(ConstMatrixView x, double sigma) : distances_(x), scale_(scale_of(sigma)) {}

RbfTiles::RbfTiles(ConstMatrixView x, ConstMatrixView y, double sigma) : distances_(x, y), scale_(scale_of(sigma)) {}

void RbfTiles::tile(Index i, Index j, MatrixView k) const {
  distances_.tile(i, j, k);
  for (Index r = 0; r < k.rows(); ++r) exp_of_negative(scale_, k.data() + r * k.outerStride(), k.cols());
}

LowerTiles::Tile LowerTiles::at(Index t) const {
  // Row a of tiles begins at a (a + 1) / 2.
  auto a = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(t) + 1.0) - 1.0) / 2.0);
  while (a * (a + 1) / 2 > t) --a;
  while ((a + 1) * (a + 2) / 2 <= t) ++a;
  const Index i = a * RbfTiles::side;
  const Index j = (t - a * (a + 1) / 2) * RbfTiles::side;
  return {i, j, std::min(RbfTiles::side, n_ - i), std::min(RbfTiles::side, n_ - j)};
}

Matrix rbf_gram(ConstMatrixView x, double sigma, const Context& context) {
  const RbfTiles tiles(x, sigma);
  const Index n = x.rows();
  require_gram(n, n);
  Matrix k(n, n);
  prefer_large_pages(k.data(), static_cast<std::size_t>(k.size()) * sizeof(double));
  const LowerTiles lower(n);
  context.parallel(lower.count(), [&](Index t) {
    const auto at = lower.at(t);
    auto block = k.block(at.i, at.j, at.rows, at.cols);
    tiles.tile(at.i, at.j, block);
    if (at.diagonal()) {
      mirror_lower(block);
    } else {
      k.block(at.j, at.i, at.cols, at.rows) = block.transpose();
    }
  });
  return k;
}

Matrix rbf_gram(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context) {
  const RbfTiles tiles(x, y, sigma);
  require_gram(x.rows(), y.rows());
  Matrix k(x.rows(), y.rows());
  const Index across = (y.rows() + RbfTiles::side - 1) / RbfTiles::side;
  const Index down = (x.rows() + RbfTiles::side - 1) / RbfTiles::side;
  context.parallel(down * across, [&](Index t) {
    const Index i = t / across * RbfTiles::side;
    const Index j = t % across * RbfTiles::side;
    tiles.tile(i, j, k.block(i, j, std::min(RbfTiles::side, x.rows() - i), std::min(RbfTiles::side, y.rows() - j)));
  });
  return k;
}

}  // namespace ecotone
