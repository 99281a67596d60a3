#include "ecotone/solve/svm/inner.h"

#include <algorithm>
#include <limits>

#include "ecotone/base/numbers.h"
#include "ecotone/solve/svm/loops.h"

namespace ecotone {
namespace {

constexpr double least_curvature = 1e-12;

}  // namespace

// For 1/2 b'Kb - t'b + epsilon |b|: -d/db = u - epsilon sign(b), with the one-sided sign at 0.
double svm_up(double beta, double high, double epsilon) {
  if (!(beta < high)) return -infinity;
  return beta < 0 ? epsilon : -epsilon;
}

double svm_down(double beta, double low, double epsilon) {
  if (!(beta > low)) return infinity;
  return beta > 0 ? -epsilon : epsilon;
}

SvmInner::SvmInner(Index rows)
    : size(rows),
      padded((rows + svm_lanes - 1) / svm_lanes * svm_lanes),
      k(Matrix::Zero(padded, padded)),
      diagonal(Vector::Ones(padded)),
      beta(Vector::Zero(padded)),
      low(Vector::Zero(padded)),
      high(Vector::Zero(padded)),
      up(padded),
      down(padded),
      u(Vector::Zero(padded)) {}

void SvmInner::prepare() {
  for (Index i = 0; i < padded; ++i) {
    up[i] = svm_up(beta[i], high[i], epsilon);
    down[i] = svm_down(beta[i], low[i], epsilon);
  }
}

double SvmInner::step(Index i, Index j, double slope) {
  // A coefficient stops at 0, where the slope of epsilon |b| jumps.
  const double end_i = beta[i] < 0 ? std::min(high[i], 0.0) : high[i];
  const double end_j = beta[j] > 0 ? std::max(low[j], 0.0) : low[j];
  const double curvature = std::max(diagonal[i] + diagonal[j] - 2 * k(i, j), least_curvature);
  double t = slope / curvature;
  const double room_i = end_i - beta[i];
  const double room_j = beta[j] - end_j;
  if (t < room_i && t < room_j) {
    beta[i] += t;
    beta[j] -= t;
  } else if (room_i <= room_j) {
    t = room_i;
    beta[i] = end_i;
    beta[j] = room_i == room_j ? end_j : beta[j] - t;
  } else {
    t = room_j;
    beta[j] = end_j;
    beta[i] += t;
  }
  for (const Index m : {i, j}) {
    up[m] = svm_up(beta[m], high[m], epsilon);
    down[m] = svm_down(beta[m], low[m], epsilon);
  }
  return t;
}

Index SvmInner::solve(double tolerance, Index limit) {
  SvmScan scan = step_and_scan(0, k.data(), k.data(), up.data(), down.data(), u.data(), padded);
  Index steps = 0;
  for (; steps < limit && scan.top - scan.bottom > tolerance; ++steps) {
    const Index i = scan.at;
    const double* const k_i = k.data() + i * padded;
    const Index j = best_partner(scan.top, diagonal[i], k_i, diagonal.data(), down.data(), u.data(), padded);
    if (j < 0) break;
    const double t = step(i, j, scan.top - (u[j] + down[j]));
    scan = step_and_scan(t, k_i, k.data() + j * padded, up.data(), down.data(), u.data(), padded);
  }
  return steps;
}

}  // namespace ecotone
