#pragma once

#include <optional>
#include <span>

#include "ecotone/solve/gp/gp.h"

/// What fitting and likelihood share.
namespace ecotone {

/// Y less what is known of its mean, and the functions of the basis.
struct GpTargets {
  GpBasis basis;
  Vector offset;
  Matrix y;
  Matrix h;
  Vector inverse_weight;  ///< of each row

  explicit GpTargets(const GpProblem& problem);
};

/// Weighted averages; 0 under a mean of zero. Means by least squares find beta of what is left, so an offset of Y costs
/// no digits.
Vector gp_offset(GpMean mean, ConstMatrixView y, std::span<const double> weight);

/// R with R R' = S^+: columns that say the same, and constant ones, have no slope of their own.
Matrix gp_inverse_root(const Matrix& s, const Context& context);

/// The lower triangle of amplitude K + noise / W + jitter I; above it nothing is set. Memory checked.
Matrix gp_covariance(const GpProblem& problem, const GpParameters& parameters, double jitter, const Context& context);

/// Factor, mean and likelihood; empty where the covariance has no factor.
std::optional<GpFit> factor_gp(Matrix covariance, const GpTargets& targets, const GpParameters& parameters,
                               const Context& context);

}  // namespace ecotone
