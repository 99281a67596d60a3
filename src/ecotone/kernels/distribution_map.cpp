#include "ecotone/kernels/distribution_map.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/data/storage/domain_storage.h"
#include "ecotone/kernels/domain_means.h"

namespace ecotone {
namespace {

void require_map(bool good, const char* what) {
  if (!good) data_error("bad_map", "distributional map: {}", what);
}

/// out = first (x) second, with the entries of the first varying slowest.
void outer_product(const double* first, Index firsts, const double* second, Index seconds, double* out) {
  for (Index a = 0; a < firsts; ++a)
    for (Index b = 0; b < seconds; ++b) out[a * seconds + b] = first[a] * second[b];
}

}  // namespace

Kernel DistributionMap::kernel_of_rows(const Kernel& kernel) {
  if (kernel.kind != KernelKind::linear) return kernel;
  return {.kind = KernelKind::poly, .degree = 1, .coef0 = 0, .scale = 1};
}

DistributionMap::DistributionMap(DistributionMapParts parts) {
  check_kernel(parts.kernel);
  domain_kernel(Matrix(0, 0), parts.sigma1);
  const bool linear = parts.kernel.kind == KernelKind::linear;
  const bool rbf = parts.kernel.kind == KernelKind::rbf;
  const Index along = parts.basis.cols();
  require_map((parts.means.rank() == 0) == linear,
              "the linear kernel needs no map for its means, other kernels need one");
  require_map(linear || parts.origin.size() == 0, "only the linear kernel has an origin");
  cols_ = linear ? parts.origin.size() : parts.means.cols();
  const Index length = linear ? cols_ : parts.means.rank();
  require_map(cols_ > 0, "there are no columns");
  require_map(parts.centre.size() == length && parts.basis.rows() == length,
              "the centre or the basis does not have the length of a mean");
  require_map(along > 0 && parts.coordinates.cols() == along,
              "coordinates and basis have different numbers of columns");
  require_map(parts.coordinates.rows() > 0, "there are no training domains");
  require_map(
      parts.origin.allFinite() && parts.centre.allFinite() && parts.basis.allFinite() && parts.coordinates.allFinite(),
      "a value is not finite");
  require_map((parts.domains.rank() == 0) == rbf, "the rbf kernel needs no domain map, other kernels need one");
  require_map(rbf || parts.domains.cols() == along, "the columns of the domain map do not match the coordinates");
  require_map(linear || parts.rows.rank() > 0, "there is no row map");
  require_map(parts.rows.rank() == 0 || parts.rows.cols() == (rbf ? cols_ + along : cols_),
              "the columns of the row map do not match the rows");
  const Index wide = parts.rows.rank() > 0 ? parts.rows.rank() : cols_;
  rank_ = rbf ? wide : parts.domains.rank() * wide;
  parts_ = std::make_shared<const DistributionMapParts>(std::move(parts));
}

void DistributionMap::check(const DomainFeatures& rows) const {
  if (rows.x.cols() != cols())
    data_error("shape_mismatch", "distributional map: the rows have {} columns, the training rows {}", rows.x.cols(),
               cols());
  if (std::ssize(rows.domain) != rows.x.rows())
    data_error("shape_mismatch", "distributional map: {} rows, but {} domain indices", rows.x.rows(),
               rows.domain.size());
  for (const std::int32_t d : rows.domain)
    if (d < 0 || d >= rows.domains)
      data_error("shape_mismatch", "distributional map: a row has domain {}, but there are {} domains", d,
                 rows.domains);
  if (rows.x.rows() == 0) data_error("empty_data", "distributional map: there are no rows");
}

DomainPlaces DistributionMap::place(const DomainFeatures& sample, const Context& context) const {
  check(sample);
  LowRankMeans found = low_rank_means(parts_->means, parts_->origin, sample, context);
  return places_of(std::move(found.rows), found.mean);
}

DomainPlaces DistributionMap::places_of(Vector rows, ConstMatrixView means) const {
  const Index count = means.rows();
  const bool rbf = parts_->kernel.kind == KernelKind::rbf;
  DomainPlaces places{std::move(rows), Matrix::Zero(count, parts_->basis.cols()), Vector::Zero(count),
                      Matrix::Ones(count, rbf ? 1 : parts_->domains.rank())};
  for (Index p = 0; p < count; ++p) {
    if (places.rows[p] == 0) continue;
    const Vector from = means.row(p).transpose() - parts_->centre;
    // c = B'(mu - centre), outside = ||mu - centre - B c||^2
    const Vector c = parts_->basis.transpose() * from;
    places.coordinates.row(p) = c.transpose();
    places.outside[p] = (from - parts_->basis * c).squaredNorm();
  }
  LowRankMap::Workspace workspace;
  if (!rbf) parts_->domains.features(places.coordinates, places.factors, workspace);
  for (Index p = 0; p < count; ++p) places.factors.row(p) *= std::exp(-0.5 * places.outside[p] / sigma1() / sigma1());
  return places;
}

Matrix DistributionMap::squared_distances(const DomainPlaces& places) const {
  Matrix squared = Matrix::Zero(places.coordinates.rows(), domains());
  for (Index p = 0; p < squared.rows(); ++p)
    for (Index a = 0; a < squared.cols() && places.rows[p] > 0; ++a)
      squared(p, a) = (places.coordinates.row(p) - parts_->coordinates.row(a)).squaredNorm() + places.outside[p];
  return squared;
}

Matrix DistributionMap::domains_of(const DomainPlaces& places) const {
  return domain_kernel(squared_distances(places), sigma1());
}

void DistributionMap::features(ConstMatrixView x, std::span<const std::int32_t> domain, const DomainPlaces& places,
                               MatrixView out, Workspace& workspace) const {
  const Index n = x.rows(), along = parts_->basis.cols();
  if (x.cols() != cols() || out.rows() != n || out.cols() != rank() || std::ssize(domain) != n ||
      places.coordinates.cols() != along || places.factors.rows() != places.coordinates.rows())
    internal_error("distributional map: {} x {} rows, {} domain indices, {} x {} features", n, x.cols(), domain.size(),
                   out.rows(), out.cols());
  const auto d = [&](Index i) { return static_cast<Index>(domain[at(i)]); };
  if (parts_->kernel.kind == KernelKind::rbf) {
    // (x, (sigma / sigma1) c_P)
    workspace.rows.resize(n, cols() + along);
    workspace.rows.leftCols(cols()) = x;
    const double scale = parts_->kernel.sigma / sigma1();
    for (Index i = 0; i < n; ++i) workspace.rows.row(i).tail(along) = scale * places.coordinates.row(d(i));
    parts_->rows.features(workspace.rows, out, workspace.map);
    for (Index i = 0; i < n; ++i) {
      const double factor = places.factors(d(i), 0);
      if (factor != 1) out.row(i) *= factor;
    }
    return;
  }
  if (parts_->rows.rank() > 0) {
    workspace.rows.resize(n, parts_->rows.rank());
    parts_->rows.features(x, workspace.rows, workspace.map);
  } else {
    workspace.rows = x;
  }
  for (Index i = 0; i < n; ++i)
    outer_product(places.factors.row(d(i)).data(), places.factors.cols(), workspace.rows.row(i).data(),
                  workspace.rows.cols(), out.data() + i * out.outerStride());
}

Features DistributionMap::map(const DomainFeatures& rows, const DomainPlaces& places) const {
  check(rows);
  if (places.coordinates.rows() != rows.domains)
    internal_error("distributional map: {} places for {} domains", places.coordinates.rows(), rows.domains);
  const auto phi = [self = *this, places](ConstMatrixMap x, std::span<const std::int32_t> domain, MatrixView out) {
    Workspace workspace;
    self.features(x, domain, places, out, workspace);
  };
  std::vector<std::int32_t> domain(rows.domain.begin(), rows.domain.end());
  return {std::make_shared<DomainStorage>(rows.x.shared_storage(), std::move(domain), rank(), phi), {}};
}

}  // namespace ecotone
