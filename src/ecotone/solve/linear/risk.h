#pragma once

#include <memory>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/linear/loss.h"
#include "ecotone/solve/linear/newton.h"
#include "ecotone/solve/linear/standardised.h"

namespace ecotone {

/// sum_j penalty_j theta_j^2 + loss(Z theta), with the Hessian formed and factored: for few parameters. All three must
/// outlive the risk.
std::unique_ptr<FactoredRisk> direct_risk(const Standardised& design, const Loss& loss, const Vector& penalty,
                                          const Context& context);

/// The same with steps by preconditioned conjugate gradients; no matrix of size parameters x parameters is formed.
std::unique_ptr<CurvedRisk> iterative_risk(const Standardised& design, const Loss& loss, const Vector& penalty,
                                           const Context& context);

/// v -> A^-1 v for a symmetric matrix (lower triangle), all entries of v at once, or column by column if A is smaller;
/// rows of zeros are left unchanged. Empty if it has no factor.
Preconditioner inverse_of(Matrix a, const Context& context);

/// Rejects Gram (or Hessian) matrices whose sums do not fit into memory.
void require_gram_memory(Index size, const Context& context);
/// Whether the sums of a Gram matrix of this size fit into half of the available memory, of every rank.
bool gram_fits(Index size, const Context& context);

/// Z_A' diag(c) Z_A for the columns A of Z, lower triangle, from every `stride`-th block, scaled up to all blocks.
/// Memory is checked first.
Matrix weighted_gram(const Standardised& design, std::span<const Index> columns, ConstVectorView c, Index stride,
                     const Context& context);

}  // namespace ecotone
