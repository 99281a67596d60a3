#pragma once

#include "ecotone/base/context.h"
#include "ecotone/solve/linear/linear.h"
#include "ecotone/solve/linear/loss.h"
#include "ecotone/solve/linear/standardised.h"

/// A linear problem in standardised coordinates, for all solvers but the stochastic ones.
namespace ecotone {

/// Parameters below which a Hessian is always worth forming.
inline constexpr Index always_few = 300;
/// Whether a Hessian is formed when the alternative is slow: few parameters, and few enough rows to pay for it.
bool is_direct(Index rows, Index size);

/// Whether the coordinates of the last fit on fewer rows still serve.
bool fits_kept_coordinates(const LinearProblem& problem);

/// The optimum by this solver, in the units of the features.
LinearFit solve_standardised(const LinearProblem& problem, const Loss& loss, Standardised design, LinearSolver solver,
                             const Context& context);

/// Gradient of the smooth part at zero weights and the best offset, in the units of the features.
Matrix gradient_at_constant(const LinearProblem& problem, const Loss& loss, Standardised design,
                            const Context& context);

}  // namespace ecotone
