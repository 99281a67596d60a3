#include "ecotone/kernels/domain_sums.h"

#include <limits>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/kernels/rbf.h"
#include "ecotone/kernels/tile_sums.h"

namespace ecotone {
namespace {

Vector rows_of(std::span<const std::int32_t> domain, Index domains) {
  Vector rows = Vector::Zero(domains);
  for (const std::int32_t d : domain) {
    if (d < 0 || d >= domains) internal_error("domain_sums: domain {} of {}", d, domains);
    rows[d] += 1;
  }
  return rows;
}

}  // namespace

Matrix DomainSums::mean_gram() const {
  Matrix mean = Matrix::Zero(sum.rows(), sum.cols());
  for (Index a = 0; a < sum.rows(); ++a)
    for (Index b = 0; b < sum.cols(); ++b)
      if (rows[a] > 0 && rows[b] > 0) mean(a, b) = sum(a, b) / (rows[a] * rows[b]);
  return mean;
}

double DomainSums::mmd_squared(Index a, Index b) const {
  if (rows[a] < 2 || rows[b] < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto within = [&](Index d) { return (sum(d, d) - self[d]) / (rows[d] * (rows[d] - 1)); };
  return within(a) + within(b) - 2 * sum(a, b) / (rows[a] * rows[b]);
}

double DomainSums::distributional_variance() const {
  const Matrix g = mean_gram();
  double domains = 0;
  for (Index a = 0; a < g.rows(); ++a) domains += rows[a] > 0 ? 1 : 0;
  return domains == 0 ? 0 : g.trace() / domains - g.sum() / (domains * domains);
}

double DomainSums::unbiased_distributional_variance() const {
  double domains = 0, total = 0;
  for (Index a = 0; a < sum.rows(); ++a) {
    if (rows[a] < 2) continue;
    domains += 1;
    for (Index b = 0; b < a; ++b)
      if (rows[b] >= 2) total += mmd_squared(a, b);
  }
  return domains == 0 ? 0 : total / (domains * domains);
}

DomainSums rbf_domain_sums(ConstMatrixView x, std::span<const std::int32_t> domain, Index domains, double sigma,
                           const Context& context) {
  if (static_cast<Index>(domain.size()) != x.rows())
    internal_error("domain_sums: {} domains for {} rows", domain.size(), x.rows());
  const RbfTiles tiles(x, sigma);
  const LowerTiles lower(x.rows());
  DomainSums result;
  result.rows = rows_of(domain, domains);
  result.self = result.rows;  // k(x, x) = 1
  Matrix below = sum_blocks(lower.count(), context, Matrix(Matrix::Zero(domains, domains)), [&](Matrix& sum, Index t) {
    const auto at = lower.at(t);
    Matrix k(at.rows, at.cols);
    tiles.tile(at.i, at.j, k);
    // One triangle counts; on the diagonal the row itself is added at the end.
    if (at.diagonal()) k.triangularView<Eigen::Upper>().setZero();
    add_tile(k, domain.data() + at.i, domain.data() + at.j, sum);
  });
  result.sum = below + below.transpose();
  result.sum.diagonal() += result.self;
  return result;
}

DomainSums gram_domain_sums(ConstMatrixView gram, std::span<const std::int32_t> domain, Index domains) {
  if (static_cast<Index>(domain.size()) != gram.rows() || gram.rows() != gram.cols())
    internal_error("domain_sums: {} domains for a Gram matrix of {} x {}", domain.size(), gram.rows(), gram.cols());
  DomainSums result{Matrix::Zero(domains, domains), Vector::Zero(domains), rows_of(domain, domains)};
  add_tile(gram, domain.data(), domain.data(), result.sum);
  for (Index i = 0; i < gram.rows(); ++i) result.self[domain[at(i)]] += gram(i, i);
  return result;
}

}  // namespace ecotone
