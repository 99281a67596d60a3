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

/// The kernel on pairs (domain, row) in low rank, phi(P, x).phi(P', x') ~ k1(P, P') k2(x, x') as in
/// distribution_kernel.h, in time and memory linear in the rows.
namespace ecotone {

/// Rows wherever they lie and the domain of each, 0 .. domains - 1.
struct DomainFeatures {
  Features x;
  std::span<const std::int32_t> domain;
  Index domains = 1;
};

/// Where domains lie, seen from those of training: ||mu_P - mu_a||^2 = ||c_P - c_a||^2 + outside_P.
struct DomainPlaces {
  Vector rows;         ///< of each domain; one without rows lies at the centre
  Matrix coordinates;  ///< c_P, a row per domain, in the span of the training domains' means
  Vector outside;      ///< squared length of what is outside of that span; of training domains rounding
  /// psi(P), what phi has of a domain: exp(-outside_P / (2 sigma1^2)) for rbf, else that times the map of k1.
  Matrix factors;
};

/// All that a map consists of: what model files hold.
///
/// Means: mu_P ~ average of rho(x), rho = `means` of k2; of the linear kernel the average row less `origin`. Then
/// c_P = (mu_P - centre)' basis.
/// rbf: k1 k2 is one rbf kernel on (x, (sigma / sigma1) c_P), so phi = exp(-outside_P / (2 sigma1^2)) `rows`(x, ...).
/// Others: phi = exp(-outside_P / (2 sigma1^2)) `domains`(c_P) (x) `rows`(x), the map of k1 times that of k2; without
/// `rows` the linear kernel takes x itself, which is exact.
struct DistributionMapParts {
  Kernel kernel;       ///< k2
  double sigma1 = 1;   ///< of k1
  LowRankMap means;    ///< none (rank 0) of the linear kernel
  Vector origin;       ///< of the linear kernel alone; others: empty
  Vector centre;       ///< as long as a mean
  Matrix basis;        ///< orthonormal columns; at least one, which may be 0
  Matrix coordinates;  ///< of the training domains
  LowRankMap domains;  ///< none of the rbf kernel
  LowRankMap rows;     ///< none: the rows themselves
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

  /// Option error `bad_option`; data error `bad_map` when these cannot be the parts of a map (a model file may hold
  /// anything).
  explicit DistributionMap(DistributionMapParts parts);

  const DistributionMapParts& parts() const { return *parts_; }
  const Kernel& row_kernel() const { return parts_->kernel; }
  double sigma1() const { return parts_->sigma1; }
  /// Of rows.
  Index cols() const { return cols_; }
  /// Numbers of phi.
  Index rank() const { return rank_; }
  /// Of training.
  Index domains() const { return parts_->coordinates.rows(); }
  /// The kernel that `rows` is a map of: k2, but poly of degree 1 for the linear one, because maps of the linear kernel
  /// see rows from an origin.
  static Kernel kernel_of_rows(const Kernel& kernel);

  /// One pass over the rows, which are the samples of their domains. The same bytes for any number of threads. Data
  /// errors `shape_mismatch`, `empty_data`, `non_finite`, `not_enough_memory`.
  DomainPlaces place(const DomainFeatures& sample, const Context& context) const;
  /// ||mu_P - mu_a||^2 of the domains placed (down) and the training domains (across).
  Matrix squared_distances(const DomainPlaces& places) const;
  /// k1 of the same.
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

/// A map, and what is known of the training domains.
struct DistributionMapFit {
  DistributionMap map;
  MeanEmbeddings means;
  DomainWidth width;    ///< where sigma1 was given only its sigma is set
  DomainPlaces places;  ///< of the training domains
  /// tr(K - Phi Phi') / tr(K) over sampled rows; 0: exact, as the linear kernel is while domains x columns fit.
  double residual = 0;
};

/// A map of at most options.rank numbers, which is made of landmarks: `fourier` is refused. sigma1 = 0: by domain_width
/// of the low-rank means with this factor. Option error `bad_option`; data errors `shape_mismatch`, `empty_data`,
/// `non_finite`, `not_enough_memory`.
DistributionMapFit fit_distribution_map(const Kernel& kernel, const DomainFeatures& rows, double sigma1,
                                        const LowRankOptions& options, const Context& context, double factor = 1);

}  // namespace ecotone
