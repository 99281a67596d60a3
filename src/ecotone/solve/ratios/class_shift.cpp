#include "ecotone/solve/ratios/class_shift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/numbers.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/distribution_map.h"
#include "ecotone/kernels/domain_means.h"
#include "ecotone/kernels/domain_sums.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/small.h"

namespace ecotone {
namespace {

constexpr Index most_paired_rows = 20000;
constexpr Index class_map_rank = 500;

/// The minimum over the classes of the support alone, whose sum is 1: [A 1; 1' 0] [p; m] = [b; 1].
struct SupportMinimum {
  Vector p;
  double multiplier = 0;
};

SupportMinimum support_minimum(const Matrix& a, const Vector& b, const std::vector<Index>& support) {
  const auto n = std::ssize(support);
  Matrix system = Matrix::Zero(n + 1, n + 1), right = Matrix::Zero(n + 1, 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) system(i, j) = a(support[at(i)], support[at(j)]);
    system(i, i) += 1e-14 * a.trace();  // dependent means: the shares of smallest length, nearly
    system(i, n) = system(n, i) = 1;
    right(i, 0) = b[support[at(i)]];
  }
  right(n, 0) = 1;
  const Matrix found = solve_square(system, right);
  return {found.topRows(n).col(0), found(n, 0)};
}

}  // namespace

Vector simplex_minimum(const Matrix& a, const Vector& b) {
  const Index n = b.size();
  Vector p = Vector::Zero(n);
  Index best = 0;
  for (Index c = 1; c < n; ++c)
    if (0.5 * a(c, c) - b[c] < 0.5 * a(best, best) - b[best]) best = c;
  p[best] = 1;
  std::vector<Index> support = {best};
  const double tolerance = 1e-13 * std::max(a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff());
  for (Index round = 0; round < 50 * (n + 1); ++round) {
    SupportMinimum found = support_minimum(a, b, support);
    // As far towards the minimum as no share becomes negative.
    double length = 1;
    Index blocking = -1;
    for (Index i = 0; i < std::ssize(support); ++i) {
      const double now = p[support[at(i)]];
      if (found.p[i] >= 0 || now <= found.p[i]) continue;
      const double most = now / (now - found.p[i]);
      if (most < length) {
        length = most;
        blocking = i;
      }
    }
    for (Index i = 0; i < std::ssize(support); ++i) p[support[at(i)]] += length * (found.p[i] - p[support[at(i)]]);
    if (blocking >= 0) {
      p[support[at(blocking)]] = 0;
      support.erase(support.begin() + blocking);
      continue;
    }
    // A class outside joins if more of it would lower the objective: (A p - b)_c + m < 0.
    const Vector slope = (a * p - b).array() + found.multiplier;
    Index next = -1;
    for (Index c = 0; c < n; ++c)
      if (std::ranges::find(support, c) == support.end() && slope[c] < -tolerance &&
          (next < 0 || slope[c] < slope[next]))
        next = c;
    if (next < 0) break;
    support.push_back(next);
  }
  p = p.cwiseMax(0);
  return p / p.sum();
}

ClassShift match_class_means(const Matrix& products) {
  const Index n = products.rows() - 1;
  const Matrix a = products.topLeftCorner(n, n);
  const Vector b = products.col(n).head(n);
  ClassShift shift;
  shift.shares = simplex_minimum(a, b);
  shift.mmd2 = std::max(0.0, shift.shares.dot(a * shift.shares) - 2 * b.dot(shift.shares) + products(n, n));
  const Vector values = singular_values(a);
  shift.condition = values[n - 1] > 0 ? values[0] / values[n - 1] : infinity;
  return shift;
}

ClassShift class_shift(const Features& x, std::span<const std::int32_t> cls, Index classes, std::optional<double> sigma,
                       const char* who, const Context& context) {
  const auto sources = std::ssize(cls);
  if (sources <= 0 || sources >= x.rows())
    data_error("empty_data", "{}: the {} domain has no rows", who, sources <= 0 ? "source" : "target");
  const double width = sigma ? *sigma : median_bandwidth(x, context).sigma;
  if (!std::isfinite(width))
    data_error("non_finite", "{}: the distances between rows overflow; add scale before it", who);
  std::vector<std::int32_t> group(cls.begin(), cls.end());
  group.resize(at(x.rows()), static_cast<std::int32_t>(classes));
  if (x.rows() <= most_paired_rows)
    return match_class_means(rbf_domain_sums(x.to_matrix(), group, classes + 1, width, context).mean_gram());
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = width};
  const LowRankMap map = fit_low_rank(x, kernel, {.rank = class_map_rank}, context).map;
  const Matrix mean = low_rank_means(map, Vector(), DomainFeatures{x, group, classes + 1}, context).mean;
  return match_class_means(mean * mean.transpose());
}

}  // namespace ecotone
