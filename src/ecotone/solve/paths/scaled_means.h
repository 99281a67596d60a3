#pragma once

#include <span>

#include "ecotone/solve/paths/means.h"

namespace ecotone {

/// Means of the labelled groups in the units of those in use: z = (x - m) / u with E[z] = 0 and E[z^2] = 1 over the
/// groups in use, y centred there. Held-out groups do not contribute, so the folds of leave-one-group-out need no
/// further pass over the data.
class ScaledMeans {
 public:
  /// `left_out`: labelled groups by their positions among them.
  ScaledMeans(const Moments& moments, GroupShares shares, std::span<const Index> left_out);

  Index cols() const { return means.cols(); }
  bool constant(Index j) const { return unit[j] == 0; }
  /// v_i = (1 - mix) + mix s_i^2 / mean_j s_j^2, at least 1e-6; 1 if all s_j are 0.
  Vector penalty(double mix) const;
  /// E[z_i z_j] for all i, from the raw column j; 0 for constant features.
  Vector column(const Matrix& raw, Index j) const;
  /// The offset for weights of x as given: E[y] - w . m.
  double offset(ConstVectorView weights) const { return means.y_centre - weights.dot(means.centre); }

  GroupMeans means;  ///< centred, in the units of the data
  Vector unit;       ///< p, u; 0: the feature is constant
  Vector target;     ///< p, b_i = E[z_i y]
  Vector variance;   ///< p, s_i^2 = Var_d E[z_i y|d] with n - 1; 0 for one group
};

}  // namespace ecotone
