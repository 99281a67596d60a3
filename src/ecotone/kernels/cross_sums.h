#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/distribution_kernel.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

/// Sums of any kernel over pairs of domains, tile by tile: memory is proportional to the number of rows.
namespace ecotone {

/// Data errors `shape_mismatch`, `empty_data`, `non_finite`.
void check_domain_rows(const DomainRows& rows);
/// Number of rows of each domain.
Vector domain_counts(const DomainRows& rows);
/// Means of the rows of each domain, minus an origin; 0 for a domain without rows.
Matrix domain_means(const DomainRows& rows, const Vector& origin);

/// <mu_a, mu_b> for the domains of one set of rows.
Matrix mean_products(const Kernel& kernel, const DomainRows& rows, const Context& context);
/// ||mu_a||^2 of every domain: only pairs within a domain are computed.
Vector mean_norms(const Kernel& kernel, const DomainRows& rows, const Context& context);
/// <mu_a, mu_b> for the domains of X (down) and those of Y (across).
Matrix mean_products(const Kernel& kernel, const DomainRows& x, const DomainRows& y, const Context& context);

}  // namespace ecotone
