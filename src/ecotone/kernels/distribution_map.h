#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/distribution_kernel.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/matrix.h"

/// The kernel on pairs (domain, row) in low rank: phi(P, x).phi(P', x') ~ k1(P, P') k2(x, x') as in
/// distribution_kernel.h, in time and memory linear in the number of rows. With the rbf kernel the product k1 k2 is one
/// rbf kernel on the row joined with coordinates of its domain's mean. With other kernels it is the product of two
/// maps, exact for the linear kernel while domains x columns fit into the rank.
namespace ecotone {

/// Rows in any storage, with the domain of each, 0 .. domains - 1.
struct DomainFeatures {
  Features x;
  std::span<const std::int32_t> domain;
  Index domains = 1;
};

/// The position of domains relative to the training domains: ||mu_P - mu_a||^2 = ||c_P - c_a||^2 + outside_P.
struct DomainPlaces {
  Vector rows;         ///< number of rows of each domain; one without rows lies at the centre
  Matrix coordinates;  ///< c_P, a row per domain, in the span of the training domains' means
  Vector outside;      ///< squared length of the part outside that span; for training domains only rounding
  /// psi(P), the domain's part of phi: exp(-outside_P / (2 sigma1^2)) for rbf, otherwise that times the map of k1.
  Matrix factors;
};

/// All parts of a map: what model files hold.
///
/// Means: mu_P ~ average of rho(x), where rho = `means` is a map of k2; for the linear kernel the average row minus
/// `origin`. Then c_P = (mu_P - centre)' basis.
/// rbf: k1 k2 is one rbf kernel on (x, (sigma / sigma1) c_P), so phi = exp(-outside_P / (2 sigma1^2)) `rows`(x, ...).
/// Other kernels: phi = exp(-outside_P / (2 sigma1^2)) `domains`(c_P) (x) `rows`(x), the map of k1 times that of k2;
/// without `rows` the linear kernel uses x itself, which is exact.
struct DistributionMapParts {
  Kernel kernel;       ///< k2
  double sigma1 = 1;   ///< width of k1
  LowRankMap means;    ///< empty (rank 0) for the linear kernel
  Vector origin;       ///< for the linear kernel only; otherwise empty
  Vector centre;       ///< has the length of a mean
  Matrix basis;        ///< orthonormal columns; at least one, which may be 0
  Matrix coordinates;  ///< of the training domains
  LowRankMap domains;  ///< empty for the rbf kernel
  LowRankMap rows;     ///< empty: the rows themselves
};

struct DistributionMapFit;

/// A fitted map.
class DistributionMap {
 public:
  /// Memory that one thread reuses.
  struct Workspace {
    LowRankMap::Workspace map;
    Matrix rows;
  };

  /// Option error `bad_option`; data error `bad_map` if these cannot be the parts of a map (a model file may hold
  /// anything).
  explicit DistributionMap(DistributionMapParts parts);

  const DistributionMapParts& parts() const { return *parts_; }
  const Kernel& row_kernel() const { return parts_->kernel; }
  double sigma1() const { return parts_->sigma1; }
  /// Columns of a row.
  Index cols() const { return cols_; }
  /// Length of phi.
  Index rank() const { return rank_; }
  /// Number of training domains.
  Index domains() const { return parts_->coordinates.rows(); }
  /// The kernel that `rows` maps: k2, but poly of degree 1 instead of linear, because maps of the linear kernel measure
  /// rows from an origin.
  static Kernel kernel_of_rows(const Kernel& kernel);

  /// Places the domains in one pass over the rows, which are the samples of their domains. The bytes of the result do
  /// not depend on the number of threads. Data errors `shape_mismatch`, `empty_data`, `non_finite`,
  /// `not_enough_memory`.
  DomainPlaces place(const DomainFeatures& sample, const Context& context) const;
  /// ||mu_P - mu_a||^2 between the placed domains (down) and the training domains (across).
  Matrix squared_distances(const DomainPlaces& places) const;
  /// k1 between the same.
  Matrix domains_of(const DomainPlaces& places) const;

  /// out(i, :) = phi(P_i, x_i), on the calling thread.
  void features(ConstMatrixView x, std::span<const std::int32_t> domain, const DomainPlaces& places, MatrixView out,
                Workspace& workspace) const;
  /// phi of all rows, computed whenever a block is read.
  Features map(const DomainFeatures& rows, const DomainPlaces& places) const;

 private:
  std::shared_ptr<const DistributionMapParts> parts_;
  Index cols_ = 0;
  Index rank_ = 0;

  void check(const DomainFeatures& rows) const;
  DomainPlaces places_of(Vector rows, ConstMatrixView means) const;

  friend DistributionMapFit fit_distribution_map(const Kernel& kernel, const DomainFeatures& rows, double sigma1,
                                                 const LowRankOptions& options, const Context& context, double factor);
};

/// A map, and what is known about the training domains.
struct DistributionMapFit {
  DistributionMap map;
  MeanEmbeddings means;
  DomainWidth width;    ///< if sigma1 was given, only its sigma is set
  DomainPlaces places;  ///< of the training domains
  /// tr(K - Phi Phi') / tr(K) over sampled rows; 0: exact, as for the linear kernel while domains x columns fit.
  double residual = 0;
};

/// A map of at most options.rank features, made from landmarks: `fourier` is refused. sigma1 = 0: chosen by
/// domain_width from the low-rank means with this factor. Option error `bad_option`; data errors `shape_mismatch`,
/// `empty_data`, `non_finite`, `not_enough_memory`.
DistributionMapFit fit_distribution_map(const Kernel& kernel, const DomainFeatures& rows, double sigma1,
                                        const LowRankOptions& options, const Context& context, double factor = 1);

}  // namespace ecotone
