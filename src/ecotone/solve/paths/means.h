#pragma once

#include <span>
#include <vector>

#include "ecotone/solve/moments/moments.h"

namespace ecotone {

/// How groups are weighted in means over all of them: equally, or by their weight.
enum class GroupShares { equal, pooled };

/// What is subtracted first: nothing, or the mean over the groups in use.
struct Centring {
  bool x = false;
  bool y = false;
};

/// Means of the labelled groups, some of which are in use and the others held out, around centres computed only from
/// those in use. Centring is a rank-one correction: E[(x-m)(y-c)|d] = E[xy|d] - m E[y|d] - c E[x|d] + m c.
class GroupMeans {
 public:
  /// `left_out`: labelled groups by their positions among them. Data error `no_weight`.
  GroupMeans(const Moments& moments, GroupShares shares, Centring centring, std::span<const Index> left_out);

  Index groups() const { return xy.rows(); }
  Index cols() const { return xy.cols(); }
  Index used() const { return static_cast<Index>(in_use.size()); }

  std::vector<Index> in_use;  ///< positions of the groups in use
  Vector share;               ///< share of each group in means; they sum to 1, held-out groups have 0
  Matrix xy;                  ///< g x p, E[x y|d]
  Vector yy;                  ///< E[y^2|d]
  Vector x2;                  ///< p, E[x^2]; 0 if centring leaves only rounding of a column
  double y2 = 0;              ///< E[y^2]
  Vector centre;              ///< p, subtracted from x; empty: nothing is subtracted
  double y_centre = 0;        ///< subtracted from y

  /// E[x_i x_j|d] of the centred columns, from the raw column j.
  double entry(const Matrix& raw, Index d, Index i, Index j) const {
    if (centre.size() == 0) return raw(d, i);
    return raw(d, i) - centre[i] * (x1_(d, j) - centre[j]) - x1_(d, i) * centre[j];
  }
  /// target(d, i) -= factor E[x_i x_j|d] for i in [first, last) and all groups.
  void subtract_column(const Matrix& raw, Index j, double factor, Index first, Index last, Matrix& target) const;
  /// Column j averaged over groups.
  Vector mean_column(const Matrix& raw, Index j) const;

 private:
  Matrix x1_;  ///< g x p, E[x|d]; empty without centring
};

/// A column of which centring leaves at most this share of E[x^2] is constant.
inline constexpr double constant_part = 1e-10;

}  // namespace ecotone
