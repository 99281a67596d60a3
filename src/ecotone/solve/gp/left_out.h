#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ecotone/solve/gp/gp.h"

namespace ecotone {

/// y less what fits without a block of rows say of it, a matrix (rows of the block x outputs) for every block; the
/// parameters are those given.
///
/// One factorisation serves all blocks: with P = A^-1 - A^-1 H (H'A^-1 H)^+ H'A^-1 the residuals of a block B are
/// (P_BB)^-1 (P Y)_B, as if A without B had been factored. A mean of `average` is that of the other rows. Empty where
/// there is no factor: of the covariance, or of a block without which the mean is not known. Blocks must not be all
/// rows. Two n x n matrices; memory checked. Errors as check_gp.
std::optional<std::vector<Matrix>> gp_left_out(const GpProblem& problem, const GpParameters& parameters,
                                               std::span<const std::vector<Index>> blocks, const Context& context);

}  // namespace ecotone
