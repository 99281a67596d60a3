#pragma once

#include <cstdint>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Sums of a kernel over pairs of domains: all that mean embeddings of domains need from a Gram matrix.
struct DomainSums {
  Matrix sum;  ///< S_ab = sum of k(x, y) over rows x of domain a and y of domain b, pairs of a row with itself included
  Vector self;  ///< sum of k(x, x) over the rows of each domain
  Vector rows;  ///< rows of each domain

  /// G_ab = <mu_a, mu_b> = S_ab / (n_a n_b); 0 where a domain has no rows.
  Matrix mean_gram() const;
  /// The unbiased estimate of ||mu_a - mu_b||^2 (gretton2012, eq. 3); NaN unless both domains have at least two rows.
  double mmd_squared(Index a, Index b) const;
  /// Distributional variance tr(KQ) = (1/N) sum_a G_aa - (1/N^2) sum_ab G_ab over domains of equal weight (muandet2013,
  /// eq. 4) = sum_ab ||mu_a - mu_b||^2 / (2 N^2). Domains without rows do not count.
  double distributional_variance() const;
  /// The same with the unbiased ||mu_a - mu_b||^2, so about 0 if the domains do not differ; may be negative. Domains
  /// with fewer than two rows do not count.
  double unbiased_distributional_variance() const;
};

/// Sums of the Gaussian kernel, tile by tile: memory is proportional to the number of rows. `domain` holds 0 .. domains
/// - 1 for each row.
DomainSums rbf_domain_sums(ConstMatrixView x, std::span<const std::int32_t> domain, Index domains, double sigma,
                           const Context& context);
/// Sums of any Gram matrix.
DomainSums gram_domain_sums(ConstMatrixView gram, std::span<const std::int32_t> domain, Index domains);

}  // namespace ecotone
