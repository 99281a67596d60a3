#include "ecotone/kernels/distribution_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/cross_sums.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr Index pair_side = KernelTiles::side;

Index pair_parts(Index size) { return (size + pair_side - 1) / pair_side; }

void require_gram(Index rows, Index cols) {
  require_memory(at(rows) * at(cols) * sizeof(double), "distributional kernel",
                 fmt::format("the Gram matrix of {} x {} rows", rows, cols), "use fewer rows");
}

/// k(r, c) <- k1(down_r, across_c) k(r, c)
void scale_tile(MatrixView k, const std::int32_t* down, const std::int32_t* across, ConstMatrixView k1) {
  for (Index r = 0; r < k.rows(); ++r) {
    double* const row = k.data() + r * k.outerStride();
    const double* const factor = k1.data() + down[r] * k1.outerStride();
    for (Index c = 0; c < k.cols(); ++c) row[c] *= factor[across[c]];
  }
}

}  // namespace

DistributionKernel::DistributionKernel(const Kernel& kernel, Matrix x, std::vector<std::int32_t> domain, Vector norms,
                                       double sigma1)
    : kernel_(kernel), x_(std::move(x)), domain_(std::move(domain)), norms_(std::move(norms)), sigma1_(sigma1) {
  check_kernel(kernel);
  domain_kernel(Matrix(0, 0), sigma1);
  const auto in_range = [&](std::int32_t d) { return d >= 0 && d < norms_.size(); };
  if (x_.rows() == 0 || std::ssize(domain_) != x_.rows() || !std::all_of(domain_.begin(), domain_.end(), in_range))
    data_error("bad_kernel", "distributional kernel: {} rows, {} domain indices, {} domains", x_.rows(), domain_.size(),
               norms_.size());
  if (!x_.allFinite() || !norms_.allFinite() || (norms_.array() < 0).any())
    data_error("bad_kernel", "distributional kernel: a row or a norm is not a number");
}

void DistributionKernel::check(const DomainRows& rows, ConstMatrixView k1) const {
  check_domain_rows(rows);
  if (rows.x.cols() != x_.cols())
    data_error("shape_mismatch", "distributional kernel: the rows have {} columns, the training rows {}", rows.x.cols(),
               x_.cols());
  if (k1.rows() != rows.domains || k1.cols() != domains())
    data_error("shape_mismatch", "distributional kernel: k1 is {} x {} for {} domains and {} training domains",
               k1.rows(), k1.cols(), rows.domains, domains());
}

Vector DistributionKernel::origin() const {
  return kernel_.kind == KernelKind::rbf ? typical_row(x_) : Vector(Vector::Zero(x_.cols()));
}

Matrix DistributionKernel::squared_distances(const DomainRows& sample, const Context& context) const {
  const DomainRows training{x_, domain_, domains()};
  Matrix squared = Matrix::Zero(sample.domains, domains());
  check(sample, squared);
  const Vector here = domain_counts(sample);
  const Vector there = domain_counts(training);
  const bool linear = kernel_.kind == KernelKind::linear;
  Matrix mean, mean_there, cross;
  Vector norms;
  if (linear) {
    const Vector origin = typical_row(x_);
    mean = domain_means(sample, origin);
    mean_there = domain_means(training, origin);
  } else {
    cross = mean_products(kernel_, sample, training, context);
    norms = mean_norms(kernel_, sample, context);
  }
  for (Index p = 0; p < squared.rows(); ++p)
    for (Index a = 0; a < squared.cols(); ++a) {
      if (here[p] == 0 || there[a] == 0) continue;
      squared(p, a) = linear ? (mean.row(p) - mean_there.row(a)).squaredNorm()
                             : std::max(0.0, norms[p] + norms_[a] - 2 * cross(p, a));
    }
  return squared;
}

Matrix DistributionKernel::domains_of(const DomainRows& sample, const Context& context) const {
  return domain_kernel(squared_distances(sample, context), sigma1_);
}

Matrix DistributionKernel::gram(ConstMatrixView k1, const Context& context) const {
  const Index n = x_.rows();
  check({x_, domain_, domains()}, k1);
  const KernelTiles tiles(kernel_, x_);
  require_gram(n, n);
  Matrix k(n, n);
  take_pages(k.data(), at(k.size()) * sizeof(double), context);
  const LowerTiles lower(n);
  context.parallel(lower.count(), [&](Index t) {
    const auto tile = lower.at(t);
    auto block = k.block(tile.i, tile.j, tile.rows, tile.cols);
    tiles.tile(tile.i, tile.j, block);
    scale_tile(block, domain_.data() + tile.i, domain_.data() + tile.j, k1);
    if (tile.diagonal()) {
      mirror_lower(block);
    } else {
      k.block(tile.j, tile.i, tile.cols, tile.rows) = block.transpose();
    }
  });
  return k;
}

Matrix DistributionKernel::cross(const DomainRows& rows, ConstMatrixView k1, const Context& context) const {
  check(rows, k1);
  const LandmarkKernel training(kernel_, origin(), x_);
  require_gram(rows.x.rows(), x_.rows());
  Matrix k(rows.x.rows(), x_.rows());
  const Index across = pair_parts(k.cols());
  context.parallel(pair_parts(k.rows()) * across, [&](Index t) {
    const Index i = t / across * pair_side;
    const Index j = t % across * pair_side;
    auto block = k.block(i, j, std::min(pair_side, k.rows() - i), std::min(pair_side, k.cols() - j));
    Matrix centred;
    training.block(rows.x.middleRows(i, block.rows()), j, block, centred);
    scale_tile(block, rows.domain.data() + i, domain_.data() + j, k1);
  });
  return k;
}

Matrix DistributionKernel::multiply(const DomainRows& rows, ConstMatrixView k1, ConstMatrixView b,
                                    const Context& context) const {
  check(rows, k1);
  if (b.rows() != x_.rows())
    data_error("shape_mismatch", "distributional kernel: {} coefficients for {} training rows", b.rows(), x_.rows());
  const LandmarkKernel training(kernel_, origin(), x_);
  Matrix result = Matrix::Zero(rows.x.rows(), b.cols());
  context.parallel(pair_parts(result.rows()), [&](Index s) {
    const Index i = s * pair_side;
    const Index height = std::min(pair_side, result.rows() - i);
    Matrix part(height, b.cols()), centred;
    for (Index j = 0; j < x_.rows(); j += pair_side) {
      Matrix k(height, std::min(pair_side, x_.rows() - j));
      training.block(rows.x.middleRows(i, height), j, k, centred);
      scale_tile(k, rows.domain.data() + i, domain_.data() + j, k1);
      ecotone::multiply(k, b.middleRows(j, k.cols()), part);
      result.middleRows(i, height) += part;
    }
  });
  return result;
}

DistributionFit fit_distribution_kernel(const Kernel& kernel, const DomainRows& rows, double sigma1,
                                        const Context& context, double factor) {
  if (!(sigma1 >= 0) || !std::isfinite(sigma1))
    option_error("bad_option", "distributional kernel: sigma1 must be >= 0 (0: chosen from the domains), got {}",
                 sigma1);
  MeanEmbeddings means = mean_embeddings(kernel, rows, context);
  DomainWidth width;
  if (sigma1 > 0) {
    width.sigma = sigma1;
  } else {
    width = domain_width(means, factor);
  }
  Matrix k1 = domain_kernel(means.squared, width.sigma);
  return {DistributionKernel(kernel, rows.x, {rows.domain.begin(), rows.domain.end()},
                             means.gram.diagonal().cwiseMax(0.0), width.sigma),
          std::move(means), width, std::move(k1)};
}

}  // namespace ecotone
