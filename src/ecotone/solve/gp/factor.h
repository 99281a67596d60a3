#pragma once

#include <optional>
#include <span>

#include "ecotone/solve/gp/gp.h"

/// Code shared by fitting and likelihood.
namespace ecotone {

/// Y minus the known part of its mean, and the basis functions.
struct GpTargets {
  GpBasis basis;
  Vector offset;
  Matrix y;
  Matrix h;
  Vector inverse_weight;  ///< of each row

  explicit GpTargets(const GpProblem& problem);
};

/// Weighted averages; 0 for a mean of zero. Means fitted by least squares find beta of the remainder, so an offset of Y
/// costs no digits.
Vector gp_offset(GpMean mean, ConstMatrixView y, std::span<const double> weight);

/// R with R R' = S^+: redundant and constant columns have no slope of their own.
Matrix gp_inverse_root(const Matrix& s, const Context& context);

/// The lower triangle of amplitude K + noise / W + jitter I; the upper one is not set. Memory is checked.
Matrix gp_covariance(const GpProblem& problem, const GpParameters& parameters, double jitter, const Context& context);

/// Factor, mean and likelihood; empty if the covariance has no factor.
std::optional<GpFit> factor_gp(Matrix covariance, const GpTargets& targets, const GpParameters& parameters,
                               const Context& context);

}  // namespace ecotone
