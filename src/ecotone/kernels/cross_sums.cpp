#include "ecotone/kernels/cross_sums.h"

#include <algorithm>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/tile_sums.h"

namespace ecotone {
namespace {

constexpr Index sum_side = KernelTiles::side;

Index sum_parts(Index size) { return (size + sum_side - 1) / sum_side; }

void require_sums(Index down, Index across, const Context& context) {
  require_memory(at(down) * at(across) * at(context.threads() + 6) * sizeof(double), "distributional kernel",
                 fmt::format("sums over {} x {} domains", down, across), "use fewer domains");
}

void divide(Matrix& sum, const Vector& down, const Vector& across) {
  for (Index a = 0; a < sum.rows(); ++a)
    for (Index b = 0; b < sum.cols(); ++b)
      sum(a, b) = down[a] > 0 && across[b] > 0 ? sum(a, b) / (down[a] * across[b]) : 0;
}

}  // namespace

void check_domain_rows(const DomainRows& rows) {
  if (std::ssize(rows.domain) != rows.x.rows())
    data_error("shape_mismatch", "distributional kernel: {} domain indices for {} rows", rows.domain.size(),
               rows.x.rows());
  if (rows.x.rows() == 0) data_error("empty_data", "distributional kernel: there are no rows");
  for (Index i = 0; i < rows.x.rows(); ++i) {
    const std::int32_t d = rows.domain[at(i)];
    if (d < 0 || d >= rows.domains)
      data_error("shape_mismatch", "distributional kernel: row {} has domain {}, but there are {} domains", i + 1, d,
                 rows.domains);
    if (!rows.x.row(i).allFinite())
      data_error("non_finite", "distributional kernel: row {} has a value that is not finite", i + 1);
  }
}

Vector domain_counts(const DomainRows& rows) {
  Vector counts = Vector::Zero(rows.domains);
  for (const std::int32_t d : rows.domain) counts[d] += 1;
  return counts;
}

Matrix domain_means(const DomainRows& rows, const Vector& origin) {
  Matrix mean = Matrix::Zero(rows.domains, rows.x.cols());
  for (Index i = 0; i < rows.x.rows(); ++i) mean.row(rows.domain[at(i)]) += rows.x.row(i) - origin.transpose();
  const Vector counts = domain_counts(rows);
  for (Index a = 0; a < rows.domains; ++a)
    if (counts[a] > 0) mean.row(a) /= counts[a];
  return mean;
}

Matrix mean_products(const Kernel& kernel, const DomainRows& rows, const Context& context) {
  require_sums(rows.domains, rows.domains, context);
  const KernelTiles tiles(kernel, rows.x);
  const LowerTiles lower(rows.x.rows());
  const std::int32_t* const domain = rows.domain.data();
  const Matrix below =
      sum_blocks(lower.count(), context, Matrix(Matrix::Zero(rows.domains, rows.domains)), [&](Matrix& sum, Index t) {
        const auto at = lower.at(t);
        Matrix k(at.rows, at.cols);
        tiles.tile(at.i, at.j, k);
        // One triangle counts, and half of the diagonal: the transpose is added below.
        if (at.diagonal()) {
          k.triangularView<Eigen::StrictlyUpper>().setZero();
          k.diagonal() *= 0.5;
        }
        add_tile(k, domain + at.i, domain + at.j, sum);
      });
  Matrix sum = below + below.transpose();
  const Vector counts = domain_counts(rows);
  divide(sum, counts, counts);
  return sum;
}

Vector mean_norms(const Kernel& kernel, const DomainRows& rows, const Context& context) {
  std::vector<std::vector<Index>> members(at(rows.domains));
  for (Index i = 0; i < rows.x.rows(); ++i) members[at(rows.domain[at(i)])].push_back(i);
  Vector norms = Vector::Zero(rows.domains);
  for (Index a = 0; a < rows.domains; ++a) {
    const auto& chosen = members[at(a)];
    if (chosen.empty()) continue;
    Matrix x(std::ssize(chosen), rows.x.cols());
    for (Index i = 0; i < x.rows(); ++i) x.row(i) = rows.x.row(chosen[at(i)]);
    const std::vector<std::int32_t> one(chosen.size(), 0);
    norms[a] = mean_products(kernel, {x, one, 1}, context)(0, 0);
  }
  return norms;
}

Matrix mean_products(const Kernel& kernel, const DomainRows& x, const DomainRows& y, const Context& context) {
  require_sums(x.domains, y.domains, context);
  const KernelTiles tiles(kernel, x.x, y.x);
  const Index across = sum_parts(y.x.rows());
  Matrix sum = sum_blocks(sum_parts(x.x.rows()) * across, context, Matrix(Matrix::Zero(x.domains, y.domains)),
                          [&](Matrix& into, Index t) {
                            const Index i = t / across * sum_side;
                            const Index j = t % across * sum_side;
                            Matrix k(std::min(sum_side, x.x.rows() - i), std::min(sum_side, y.x.rows() - j));
                            tiles.tile(i, j, k);
                            add_tile(k, x.domain.data() + i, y.domain.data() + j, into);
                          });
  divide(sum, domain_counts(x), domain_counts(y));
  return sum;
}

}  // namespace ecotone
