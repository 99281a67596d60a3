#pragma once

#include <span>
#include <vector>

#include "ecotone/solve/moments/moments.h"

namespace ecotone {

/// How groups share in means over all of them: equally, or by their weight.
enum class GroupShares { equal, pooled };

/// What is subtracted before anything else: nothing, or the mean over the groups in use.
struct Centring {
  bool x = false;
  bool y = false;
};

/// Means of the labelled groups of which some are in use (the others are held out), about centres that come from those
/// in use alone. Centring is a correction of rank one: E[(x-m)(y-c)|d] = E[xy|d] - m E[y|d] - c E[x|d] + m c.
class GroupMeans {
 public:
  /// `left_out`: labelled groups by their places among them. Data error `no_weight`.
  GroupMeans(const Moments& moments, GroupShares shares, Centring centring, std::span<const Index> left_out);

  Index groups() const { return xy.rows(); }
  Index cols() const { return xy.cols(); }
  Index used() const { return static_cast<Index>(in_use.size()); }

  std::vector<Index> in_use;  ///< places of the groups in use
  Vector share;               ///< of each group in means; they sum to 1, those held out have 0
  Matrix xy;                  ///< g x p, E[x y|d]
  Vector yy;                  ///< E[y^2|d]
  Vector x2;                  ///< p, E[x^2]; 0 where nothing but rounding is left of a column after centring
  double y2 = 0;              ///< E[y^2]
  Vector centre;              ///< p, subtracted from x; empty: nothing is
  double y_centre = 0;        ///< subtracted from y

  /// E[x_i x_j|d] of the centred columns, from the raw column j.
  double entry(const Matrix& raw, Index d, Index i, Index j) const {
    if (centre.size() == 0) return raw(d, i);
    return raw(d, i) - centre[i] * (x1_(d, j) - centre[j]) - x1_(d, i) * centre[j];
  }
  /// target(d, i) -= factor E[x_i x_j|d] for i in [first, last) and all groups.
  void subtract_column(const Matrix& raw, Index j, double factor, Index first, Index last, Matrix& target) const;
  /// The mean over groups of column j.
  Vector mean_column(const Matrix& raw, Index j) const;

 private:
  Matrix x1_;  ///< g x p, E[x|d]; empty without centring
};

/// A column of which centring leaves no more than this part of E[x^2] is constant.
inline constexpr double constant_part = 1e-10;

}  // namespace ecotone
