#include "ecotone/solve/paths/nonnegative.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ecotone {
namespace {

/// Solves G_ss w_s = b_s by Cholesky; a pivot that is only rounding gets weight 0.
std::vector<double> solve_on(const Matrix& gram, const Vector& target, const std::vector<Index>& set) {
  const std::size_t n = set.size();
  std::vector<std::vector<double>> lower(n, std::vector<double>(n, 0.0));
  std::vector<double> w(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = gram(set[i], set[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i == j) {
        lower[i][i] = sum > 1e-10 * gram(set[i], set[i]) ? std::sqrt(sum) : 0.0;
      } else {
        lower[i][j] = lower[j][j] > 0 ? sum / lower[j][j] : 0.0;
      }
    }
    double sum = target[set[i]];
    for (std::size_t k = 0; k < i; ++k) sum -= lower[i][k] * w[k];
    w[i] = lower[i][i] > 0 ? sum / lower[i][i] : 0.0;
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) w[i] -= lower[k][i] * w[k];
    w[i] = lower[i][i] > 0 ? w[i] / lower[i][i] : 0.0;
  }
  return w;
}

}  // namespace

Vector nonnegative_least_squares(const Matrix& gram, const Vector& target) {
  const Index size = target.size();
  Vector w = Vector::Zero(size);
  std::vector<Index> set;  // those that may be positive
  const double tolerance = 1e-12 * target.cwiseAbs().maxCoeff();
  for (Index round = 0; round < 3 * size + 1; ++round) {
    // Adds the weight with the steepest descent to the set.
    const Vector gradient = target - gram * w;
    Index best = -1;
    for (Index j = 0; j < size; ++j) {
      const bool in = std::find(set.begin(), set.end(), j) != set.end();
      if (!in && gradient[j] > tolerance && (best < 0 || gradient[j] > gradient[best])) best = j;
    }
    if (best < 0) break;
    set.push_back(best);
    for (;;) {
      const std::vector<double> z = solve_on(gram, target, set);
      // Moves towards z as far as all weights stay >= 0; the first to reach 0 leaves the set.
      double part = 1;
      Index leaves = -1;
      for (std::size_t k = 0; k < set.size(); ++k) {
        const double here = w[set[k]];
        if (z[k] > 0 || here - z[k] <= 0) continue;
        if (here / (here - z[k]) >= part) continue;
        part = here / (here - z[k]);
        leaves = set[k];
      }
      for (std::size_t k = 0; k < set.size(); ++k) w[set[k]] += part * (z[k] - w[set[k]]);
      if (leaves < 0) break;
      w[leaves] = 0;
      std::erase_if(set, [&](Index j) { return j == leaves || (w[j] <= 0 && j != best); });
      if (set.empty()) break;
    }
  }
  return w.cwiseMax(0.0);
}

}  // namespace ecotone
