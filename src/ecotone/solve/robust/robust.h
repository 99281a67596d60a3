#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/solve/linear/linear.h"

/// Linear models whose risk looks at domains. L_e is the mean loss of domain e, by row weights; l2 |w|^2 is added once,
/// and the offset is free.
///
///   vrex   mean_e L_e + lam var_e L_e, which is not convex for a large lam
///   irm    mean_e (L_e + lam D_e^2), D_e the derivative of L_e in a factor of all scores; not convex
///   cvar   the mean of the worst share of the domains, or of the rows
///   worst  the worst domain (cvar with a share of at most 1 / domains)
///   anchor (1/A) (sum of losses + (gamma - 1) / 2 sum_e n_e R_e^2), R_e the mean slope of the loss in domain e; one
///   score
///          per row; not convex for a large gamma
///
/// The smooth ones are minimised by L-BFGS on a path of rising lam, irm also from weights of 0 (the lower one counts);
/// the others by the method of multipliers on the mixture of domains (or rows) that is worst, which gives an upper and
/// a lower bound of the optimum.
namespace ecotone {

enum class RobustRisk { vrex, irm, cvar_domains, cvar_rows, worst, anchor };

struct RobustProblem {
  LinearProblem linear;  ///< without l1; its solver and start are not used
  std::span<const std::int32_t> domain;
  Index domains = 1;
  RobustRisk risk = RobustRisk::vrex;
  double lam = 10;            ///< vrex, irm
  double share = 0.5;         ///< cvar
  double gamma = 1;           ///< anchor
  Vector subtracted = {};     ///< worst: a loss of every domain that is subtracted from its own; empty: none
  bool from_zero = false;     ///< irm: only the local optimum that is reached from weights of 0
  int max_iterations = 2000;  ///< of L-BFGS, for each of its runs
};

struct RobustFit {
  LinearFit fit;   ///< `risk` is the whole objective, `kkt` the largest entry of its gradient (of the mixture's)
  Vector losses;   ///< of each domain; NaN where it has no weight
  Vector mixture;  ///< share of each domain in the worst mixture; empty where the risk has none
  std::optional<double> lower;  ///< a bound of the optimum, where the risk is convex
};

/// Data errors are those of fit_linear, and non_finite where losses overflow; but classes that can be separated are not
/// refused: without a penalty the fit does not converge.
RobustFit fit_robust(const RobustProblem& problem, const Context& context);

}  // namespace ecotone
