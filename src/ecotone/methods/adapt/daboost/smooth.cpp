#include "ecotone/methods/adapt/daboost/smooth.h"

#include <algorithm>

#include "ecotone/methods/learn/rows_of_blocks.h"
#include "ecotone/solve/neighbours/neighbours.h"

namespace ecotone {
namespace {

constexpr Index most_neighbours = 5;
constexpr double spread = 0.95;
/// 0.95^600 is below 1e-13.
constexpr int most_steps = 600;
constexpr double done = 1e-12;

}  // namespace

Vector smooth_over_neighbours(const Matrix& x, const Vector& y, const Context& context, const char* who) {
  const Index k = std::min(most_neighbours, x.rows() - 1);
  if (k < 1) return y;
  const Neighbours near = nearest_neighbours(x, x, k, Self::leave_out, context, who);
  Vector f = y;
  for (int step = 0; step < most_steps; ++step) {
    Vector next(f.size());
    for (Index i = 0; i < f.size(); ++i) {
      double sum = 0;
      for (Index n = 0; n < k; ++n) sum += f[near.index(i, n)];
      next[i] = spread * sum / static_cast<double>(k) + (1 - spread) * y[i];
    }
    const double change = (next - f).cwiseAbs().maxCoeff();
    f = std::move(next);
    if (change < done) break;
  }
  return f;
}

Vector nearest_values(const Features& x, const Matrix& rows, const Vector& values, const Context& context,
                      const char* who) {
  Vector result(x.rows());
  for (Index b = 0; b < x.blocks(); b += blocks_together) {
    const Matrix query = rows_of_blocks(x, b, std::min(b + blocks_together, x.blocks()), context);
    const Index first = x.first_row(b);
    const Neighbours near = nearest_neighbours(query, rows, 1, Self::keep, context, who);
    for (Index i = 0; i < query.rows(); ++i) result[first + i] = values[near.index(i, 0)];
  }
  return result;
}

}  // namespace ecotone
