#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/data/storage/domain_storage.h"
#include "ecotone/kernels/distribution_map.h"
#include "ecotone/kernels/domain_means.h"
#include "ecotone/linalg/distances.h"

namespace ecotone {
namespace {

constexpr Index looked_at = 2000;     // rows used to choose the ranks of products
constexpr double least_mean = 1e-13;  // relative to the longest mean: anything shorter is rounding

/// At most `most` rows, evenly spaced.
std::vector<Index> spaced_rows(Index rows, Index most) {
  const Index count = std::min(rows, most);
  std::vector<Index> chosen;
  for (Index i = 0; i < count; ++i) chosen.push_back(i * rows / count);
  return chosen;
}

/// Orthonormal directions that span the means of domains with rows around their centre (Gram-Schmidt, the longest
/// remainder first, twice for the last digits). Returns at least one column.
void find_span(const LowRankMeans& means, DistributionMapParts& parts) {
  const Index domains = means.mean.rows(), length = means.mean.cols();
  const double counted = (means.rows.array() > 0).cast<double>().sum();
  parts.centre = means.mean.colwise().sum().transpose() / counted;
  Matrix left = Matrix::Zero(domains, length);
  for (Index a = 0; a < domains; ++a)
    if (means.rows[a] > 0) left.row(a) = means.mean.row(a) - parts.centre.transpose();
  const double smallest = least_mean * std::sqrt(means.mean.rowwise().squaredNorm().maxCoeff());
  Matrix basis(0, length);
  while (basis.rows() < std::min(domains - 1, length)) {
    Index longest = 0;
    if (!(std::sqrt(left.rowwise().squaredNorm().maxCoeff(&longest)) > smallest)) break;
    Eigen::RowVectorXd v = left.row(longest) / left.row(longest).norm();
    v -= (v * basis.transpose()) * basis;
    left.row(longest).setZero();
    if (!(v.norm() > 0.5)) continue;  // only rounding was left of it
    v /= v.norm();
    basis.conservativeResize(basis.rows() + 1, Eigen::NoChange);
    basis.bottomRows(1) = v;
    left -= (left * v.transpose()).eval() * v;
  }
  if (basis.rows() == 0) basis = Matrix::Zero(1, length);
  parts.basis = basis.transpose();
  parts.coordinates = Matrix::Zero(domains, basis.rows());
  for (Index a = 0; a < domains; ++a)
    if (means.rows[a] > 0) parts.coordinates.row(a) = (means.mean.row(a) - parts.centre.transpose()) * parts.basis;
}

/// What domain_width needs of mean embeddings, from low-rank ones. The map says nothing about the part of k(x, x) that
/// it leaves out, so s_a^2 uses k(x, x) itself.
MeanEmbeddings embeddings_of(const LowRankMeans& means, const Vector& origin, const Matrix& coordinates) {
  const Index n = means.rows.size();
  MeanEmbeddings result{means.rows, Matrix::Zero(n, n), Matrix::Zero(n, n), Vector::Zero(n)};
  Matrix whole = means.mean;
  if (origin.size() > 0) whole.rowwise() += origin.transpose();
  for (Index a = 0; a < n; ++a) {
    if (means.rows[a] == 0) continue;
    for (Index b = 0; b < n; ++b) {
      if (means.rows[b] == 0) continue;
      result.gram(a, b) = whole.row(a).dot(whole.row(b));
      result.squared(a, b) = (coordinates.row(a) - coordinates.row(b)).squaredNorm();
    }
    // s^2 = n/(n - 1) (mean of k(x, x) - ||mu||^2)
    if (means.rows[a] > 1)
      result.spread[a] =
          means.rows[a] / (means.rows[a] - 1) * std::max(0.0, means.diagonal[a] - means.mean.row(a).squaredNorm());
  }
  return result;
}

/// The first landmarks of a map: what fit_low_rank would return for a smaller rank.
LowRankMap first_landmarks(const LowRankMap& map, Index rank) {
  return LowRankMap::of_landmarks(map.kernel(), map.origin(), map.points().topRows(rank),
                                  map.lower().topLeftCorner(rank, rank));
}

/// sums(i, r) = sum of the squares of the first r features of row i.
Matrix explained(const LowRankMap& map, ConstMatrixView x) {
  Matrix rho(x.rows(), map.rank());
  LowRankMap::Workspace workspace;
  map.features(x, rho, workspace);
  Matrix sums = Matrix::Zero(x.rows(), map.rank() + 1);
  for (Index r = 0; r < map.rank(); ++r) sums.col(r + 1) = sums.col(r) + rho.col(r).cwiseAbs2();
  return sums;
}

/// Chooses ranks t of k1 and r of k2 with t r <= rank that leave the smallest part of tr(K) unexplained; returns that
/// part.
double choose_ranks(const LowRankMap& k1, const LowRankMap& k2, const DomainFeatures& rows, const Matrix& coordinates,
                    Index rank, DistributionMapParts& parts) {
  const std::vector<Index> chosen = spaced_rows(rows.x.rows(), looked_at);
  const Matrix x = rows.x.copy(chosen);
  const Matrix of_domain = explained(k1, coordinates);
  const Matrix of_row = explained(k2, x);
  const double trace = kernel_diagonal(k2.kernel(), x).sum();
  double best = 2;
  Index best_t = 1, best_r = 1;
  for (Index t = 1; t <= std::min(k1.rank(), rank); ++t) {
    const Index r = std::min(k2.rank(), rank / t);
    double sum = 0;
    for (Index i = 0; i < x.rows(); ++i) sum += of_domain(rows.domain[at(chosen[at(i)])], t) * of_row(i, r);
    const double left = trace > 0 ? std::max(0.0, 1 - sum / trace) : 0;
    if (!(left < best)) continue;
    best = left;
    best_t = t;
    best_r = r;
  }
  parts.domains = first_landmarks(k1, best_t);
  parts.rows = first_landmarks(k2, best_r);
  return best;
}

/// Fits the maps of the parts from coordinates and sigma1; returns the part that they leave unexplained.
double fit_maps(const DomainFeatures& rows, const LowRankOptions& options, const Context& context,
                DistributionMapParts& parts) {
  const Index cols = rows.x.cols(), along = parts.coordinates.cols();
  if (parts.kernel.kind == KernelKind::rbf) {
    const Matrix beside = parts.coordinates * (parts.kernel.sigma / parts.sigma1);
    const auto augment = [beside](ConstMatrixMap x, std::span<const std::int32_t> domain, MatrixView out) {
      out.leftCols(x.cols()) = x;
      for (Index i = 0; i < x.rows(); ++i) out.row(i).tail(beside.cols()) = beside.row(domain[at(i)]);
    };
    std::vector<std::int32_t> domain(rows.domain.begin(), rows.domain.end());
    const Features both(
        std::make_shared<DomainStorage>(rows.x.shared_storage(), std::move(domain), cols + along, augment), {});
    LowRankFit fit = fit_low_rank(both, parts.kernel, options, context);
    parts.rows = std::move(fit.map);
    return fit.residual;
  }
  // k1 is an rbf kernel on the coordinates, all of which are known: greedy order, which does not depend on the seed.
  const Kernel k1{.kind = KernelKind::rbf, .sigma = parts.sigma1};
  const LowRankOptions all{.kind = LowRankKind::greedy, .rank = options.rank, .sample = parts.coordinates.rows()};
  LowRankMap domains = fit_low_rank(Features::dense(parts.coordinates), k1, all, context).map;
  if (parts.kernel.kind == KernelKind::linear && domains.rank() * cols <= options.rank) {
    parts.domains = std::move(domains);
    return 0;
  }
  const LowRankMap of_rows =
      parts.kernel.kind == KernelKind::linear
          ? fit_low_rank(rows.x, DistributionMap::kernel_of_rows(parts.kernel), options, context).map
          : parts.means;
  return choose_ranks(domains, of_rows, rows, parts.coordinates, options.rank, parts);
}

void check(const DomainFeatures& rows, double sigma1, const LowRankOptions& options) {
  if (!(sigma1 >= 0) || !std::isfinite(sigma1))
    option_error("bad_option", "distributional map: sigma1 must be >= 0 (0: chosen from the domains), got {}", sigma1);
  if (options.rank < 1) option_error("bad_option", "distributional map: rank must be >= 1, got {}", options.rank);
  if (options.kind == LowRankKind::fourier)
    option_error("bad_option", "distributional map: the map needs landmarks, and fourier has none");
  if (std::ssize(rows.domain) != rows.x.rows())
    data_error("shape_mismatch", "distributional map: {} rows, but {} domain indices", rows.x.rows(),
               rows.domain.size());
  for (const std::int32_t d : rows.domain)
    if (d < 0 || d >= rows.domains)
      data_error("shape_mismatch", "distributional map: a row has domain {}, but there are {} domains", d,
                 rows.domains);
  if (rows.x.rows() == 0 || rows.x.cols() == 0)
    data_error("empty_data", "distributional map: {} rows of {} columns", rows.x.rows(), rows.x.cols());
}

}  // namespace

DistributionMapFit fit_distribution_map(const Kernel& kernel, const DomainFeatures& rows, double sigma1,
                                        const LowRankOptions& options, const Context& context, double factor) {
  check_kernel(kernel);
  check(rows, sigma1, options);
  DistributionMapParts parts;
  parts.kernel = kernel;
  if (kernel.kind == KernelKind::linear) {
    parts.origin = typical_row(rows.x.copy(spaced_rows(rows.x.rows(), 255)));
  } else {
    parts.means = fit_low_rank(rows.x, kernel, options, context).map;
  }
  const LowRankMeans found = low_rank_means(parts.means, parts.origin, rows, context);
  find_span(found, parts);
  MeanEmbeddings means = embeddings_of(found, parts.origin, parts.coordinates);
  DomainWidth width;
  if (sigma1 > 0) {
    width.sigma = sigma1;
  } else {
    width = domain_width(means, factor);
  }
  parts.sigma1 = width.sigma;
  const double residual = fit_maps(rows, options, context, parts);
  DistributionMap map(std::move(parts));
  DomainPlaces places = map.places_of(found.rows, found.mean);
  return {std::move(map), std::move(means), width, std::move(places), residual};
}

}  // namespace ecotone
