#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/kernels/cross_sums.h"
#include "ecotone/kernels/distribution_kernel.h"
#include "ecotone/linalg/distances.h"

namespace ecotone {
namespace {

constexpr double least_share = 0.25;  // share of the spread within domains

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// s^2 = n/(n - 1) (mean of k(x, x) - ||mu||^2); 0 for a single row.
Vector spreads(const Vector& rows, const Vector& diagonal_means, const Vector& norms) {
  Vector spread = Vector::Zero(rows.size());
  for (Index a = 0; a < rows.size(); ++a)
    if (rows[a] > 1) spread[a] = rows[a] / (rows[a] - 1) * std::max(0.0, diagonal_means[a] - norms[a]);
  return spread;
}

/// Means of k(x, x) over the rows of each domain.
Vector diagonal_means(const Vector& diagonal, const DomainRows& rows, const Vector& counts) {
  Vector sum = Vector::Zero(rows.domains);
  for (Index i = 0; i < diagonal.size(); ++i) sum[rows.domain[at(i)]] += diagonal[i];
  for (Index a = 0; a < rows.domains; ++a) sum[a] = counts[a] > 0 ? sum[a] / counts[a] : 0;
  return sum;
}

/// mu_a is the mean of the rows themselves. Distances and spreads do not depend on the origin.
void linear_embeddings(const DomainRows& rows, MeanEmbeddings& result) {
  const Vector origin = typical_row(rows.x);
  const Matrix mean = domain_means(rows, origin);
  Vector diagonal(rows.x.rows());
  for (Index i = 0; i < rows.x.rows(); ++i) diagonal[i] = (rows.x.row(i) - origin.transpose()).squaredNorm();
  result.spread = spreads(result.rows, diagonal_means(diagonal, rows, result.rows), mean.rowwise().squaredNorm());
  for (Index a = 0; a < rows.domains; ++a)
    for (Index b = 0; b < rows.domains; ++b) {
      if (result.rows[a] == 0 || result.rows[b] == 0) continue;
      result.squared(a, b) = (mean.row(a) - mean.row(b)).squaredNorm();
      result.gram(a, b) = (mean.row(a) + origin.transpose()).dot(mean.row(b) + origin.transpose());
    }
}

}  // namespace

MeanEmbeddings mean_embeddings(const Kernel& kernel, const DomainRows& rows, const Context& context) {
  check_kernel(kernel);
  check_domain_rows(rows);
  const Index n = rows.domains;
  MeanEmbeddings result{domain_counts(rows), Matrix::Zero(n, n), Matrix::Zero(n, n), Vector::Zero(n)};
  if (kernel.kind == KernelKind::linear) {
    linear_embeddings(rows, result);
    return result;
  }
  result.gram = mean_products(kernel, rows, context);
  const Matrix& g = result.gram;
  if (!g.allFinite()) data_error("non_finite", "distributional kernel: k2 overflows; scale the columns first");
  result.spread =
      spreads(result.rows, diagonal_means(kernel_diagonal(kernel, rows.x), rows, result.rows), g.diagonal());
  for (Index a = 0; a < n; ++a)
    for (Index b = 0; b < n; ++b)
      if (a != b && result.rows[a] > 0 && result.rows[b] > 0)
        result.squared(a, b) = std::max(0.0, g(a, a) + g(b, b) - 2 * g(a, b));
  return result;
}

DomainWidth domain_width(const MeanEmbeddings& means, double factor) {
  std::vector<double> distance, sampling, spread;
  // A single row says nothing about the spread of its domain: the median of the others stands in.
  for (Index a = 0; a < means.rows.size(); ++a)
    if (means.rows[a] > 1) spread.push_back(std::sqrt(means.spread[a]));
  DomainWidth width;
  const double typical = median(spread);
  const auto error = [&](Index a) { return (means.rows[a] > 1 ? means.spread[a] : typical * typical) / means.rows[a]; };
  for (Index a = 0; a < means.rows.size(); ++a) {
    if (means.rows[a] == 0) continue;
    // A single domain: the distance that a second sample of it would have.
    if (means.rows[a] == means.rows.sum()) sampling.push_back(std::sqrt(2 * error(a)));
    for (Index b = 0; b < a; ++b) {
      if (means.rows[b] == 0) continue;
      distance.push_back(std::sqrt(means.squared(a, b)));
      sampling.push_back(std::sqrt(error(a) + error(b)));
    }
  }
  width.median = median(distance);
  width.sampling = median(sampling);
  width.share = least_share * typical;
  width.sigma = std::max({factor * width.median, width.sampling, width.share});
  width.floored = std::max(width.sampling, width.share) > width.median;
  // Too small a width would underflow when squared.
  width.fallback = !(width.sigma > 1e-150);
  if (width.fallback) width.sigma = 1;
  return width;
}

Matrix domain_kernel(ConstMatrixView squared, double sigma1) {
  if (!(sigma1 > 0) || !std::isfinite(sigma1) || !std::isfinite(0.5 / sigma1 / sigma1))
    option_error("bad_option", "distributional kernel: sigma1 must be a positive number, got {}", sigma1);
  return (squared.array() * (-0.5 / sigma1 / sigma1)).exp().matrix();
}

}  // namespace ecotone
