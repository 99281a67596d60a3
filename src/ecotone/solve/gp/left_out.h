#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ecotone/solve/gp/gp.h"

namespace ecotone {

/// y minus the predictions of fits without a block of rows, one matrix (rows of the block x outputs) for every block,
/// with the given parameters.
///
/// One factorisation serves all blocks: with P = A^-1 - A^-1 H (H'A^-1 H)^+ H'A^-1 the residuals of a block B are
/// (P_BB)^-1 (P Y)_B, as if A without B had been factored. A mean of `average` is that of the other rows. Empty if a
/// factor does not exist: of the covariance, or of a block without which the mean is not determined. A block must not
/// contain all rows. Needs two n x n matrices; memory is checked. Errors as for check_gp.
std::optional<std::vector<Matrix>> gp_left_out(const GpProblem& problem, const GpParameters& parameters,
                                               std::span<const std::vector<Index>> blocks, const Context& context);

}  // namespace ecotone
