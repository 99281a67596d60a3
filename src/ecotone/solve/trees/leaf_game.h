#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// The Shapley values of one leaf. A row passes the nodes of some columns of its path, the set A, and not those of the
/// others, B; column j has z_j of the rows of training on its way. With d columns,
///   j in A: value (1 - z_j) prod_B z  int_0^1 (1-t)^|B| prod_(A without j) (t + z_i (1-t)) dt
///   j in B: -value prod_B z  int_0^1 (1-t)^(|B|-1) prod_A (t + z_i (1-t)) dt,
/// as k! (d-1-k)! / d! = int t^k (1-t)^(d-1-k) dt. The integrands are polynomials of degree d - 1 without a negative
/// coefficient, so the sums over Gauss's points are exact but for rounding and lose no digits, however long the path.
class LeafGame {
 public:
  /// `share`: z of each column.
  void set(std::span<const double> share, double value);
  /// Writes the value of each column; `passed` says which are in A.
  void values(std::span<const std::uint8_t> passed, double* result);

 private:
  struct Points {
    std::vector<double> t, rest, weight;  ///< rest: 1 - t
  };
  /// Gauss's points and weights for (0, 1).
  static Points gauss_points(Index count);

  std::vector<Points> points_;  ///< by their number, made when needed
  const Points* now_ = nullptr;
  std::span<const double> share_;
  double value_ = 0;
  std::vector<double> factor_, inverse_;  ///< t + z (1-t) at the points, column after column
  std::vector<double> product_;
};

}  // namespace ecotone
