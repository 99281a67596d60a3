#include "ecotone/solve/svm/loops.h"

#include <cstring>
#include <limits>

#include "ecotone/base/lanes.h"
#include "ecotone/base/numbers.h"
#include "ecotone/base/simd.h"
#include "ecotone/linalg/exponential.h"

namespace ecotone {
namespace {

using lanes::all;
using lanes::Four;
using lanes::load;

/// Replaces a curvature that is not positive.
constexpr double least_step_curvature = 1e-12;

/// The largest of the lanes; in case of ties the smallest index.
struct Largest {
  Four value = all(-infinity);
  Four at = all(0);

  [[gnu::always_inline]] void see(const Four& v, const Four& k) {
    const auto larger = v > value;
    value = larger ? v : value;
    at = larger ? k : at;
  }

  [[gnu::always_inline]] void result(double& best, Index& where) const {
    best = value[0];
    double k = at[0];
    for (int lane = 1; lane < 4; ++lane) {
      if (value[lane] > best || (value[lane] == best && at[lane] < k)) {
        best = value[lane];
        k = at[lane];
      }
    }
    where = static_cast<Index>(k);
  }
};

[[gnu::always_inline]] inline void step_loop(double t, const double* k_i, const double* k_j, const double* up,
                                             const double* down, double* u, Index count, SvmScan& result) {
  Largest top;
  Four bottom = all(infinity);
  Four k = {0, 1, 2, 3};
  for (Index c = 0; c < count; c += 4, k += 4) {
    Four ki, kj, uc, a, b;
    load(k_i + c, ki);
    load(k_j + c, kj);
    load(u + c, uc);
    load(up + c, a);
    load(down + c, b);
    uc -= t * (ki - kj);
    std::memcpy(u + c, &uc, sizeof(Four));
    top.see(uc + a, k);
    const Four low = uc + b;
    bottom = low < bottom ? low : bottom;
  }
  top.result(result.top, result.at);
  result.bottom = bottom[0];
  for (int lane = 1; lane < 4; ++lane) result.bottom = bottom[lane] < result.bottom ? bottom[lane] : result.bottom;
}

[[gnu::always_inline]] inline void partner_loop(double top, double d_i, const double* k_i, const double* diagonal,
                                                const double* down, const double* u, Index count, Index& where) {
  Largest best;
  Four k = {0, 1, 2, 3};
  const Four none = all(-1);
  const Four least = all(least_step_curvature);
  for (Index c = 0; c < count; c += 4, k += 4) {
    Four ki, uc, b, d;
    load(k_i + c, ki);
    load(u + c, uc);
    load(down + c, b);
    load(diagonal + c, d);
    const Four fall = top - (uc + b);
    Four curvature = d_i + d - 2 * ki;
    curvature = curvature > least ? curvature : least;
    const Four gain = fall * fall / curvature;
    best.see(fall > all(0) ? gain : none, k);
  }
  double value = 0;
  best.result(value, where);
  if (!(value >= 0)) where = -1;
}

template <class T>
[[gnu::always_inline]] inline void subtract_loop(const T* const* rows, const double* factor, Index size, Index first,
                                                 Index count, double* __restrict u) {
  Index r = 0;
  for (; r + 4 <= size; r += 4) {
    const T* __restrict k0 = rows[r] + first;
    const T* __restrict k1 = rows[r + 1] + first;
    const T* __restrict k2 = rows[r + 2] + first;
    const T* __restrict k3 = rows[r + 3] + first;
    const double f0 = factor[r], f1 = factor[r + 1], f2 = factor[r + 2], f3 = factor[r + 3];
    for (Index c = 0; c < count; ++c)
      u[c] -= (f0 * static_cast<double>(k0[c]) + f1 * static_cast<double>(k1[c])) +
              (f2 * static_cast<double>(k2[c]) + f3 * static_cast<double>(k3[c]));
  }
  for (; r < size; ++r) {
    const T* __restrict k0 = rows[r] + first;
    for (Index c = 0; c < count; ++c) u[c] -= factor[r] * static_cast<double>(k0[c]);
  }
}

[[gnu::always_inline]] inline void gaussian_loop(double norm, const double* __restrict norms, double scale,
                                                 double* __restrict values, Index count) {
  for (Index c = 0; c < count; ++c) {
    const double squared = norm + norms[c] - 2 * values[c];
    double x = scale * squared;
    x = x > 0 ? x : 0.0;
    values[c] = exp_of(x > 87.0 ? -87.0 : -x);
  }
}

}  // namespace

SvmScan step_and_scan(double t, const double* k_i, const double* k_j, const double* up, const double* down, double* u,
                      Index count) {
  SvmScan result;
  run_wide<step_loop>(t, k_i, k_j, up, down, u, count, result);
  return result;
}

Index best_partner(double top, double d_i, const double* k_i, const double* diagonal, const double* down,
                   const double* u, Index count) {
  Index where = -1;
  run_wide<partner_loop>(top, d_i, k_i, diagonal, down, u, count, where);
  return where;
}

void subtract_rows(const float* const* rows, const double* factor, Index size, Index first, Index count, double* u) {
  run_wide<subtract_loop<float>>(rows, factor, size, first, count, u);
}

void subtract_rows(const double* const* rows, const double* factor, Index size, Index first, Index count, double* u) {
  run_wide<subtract_loop<double>>(rows, factor, size, first, count, u);
}

void gaussian_values(double norm, const double* norms, double scale, double* values, Index count) {
  run_wide<gaussian_loop>(norm, norms, scale, values, count);
}

}  // namespace ecotone
