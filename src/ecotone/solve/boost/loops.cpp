#include "ecotone/solve/boost/loops.h"

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
using lanes::Mask;
using lanes::store;

[[gnu::always_inline]] inline double sum_of(const Four& a, const Four& b) {
  const Four s = a + b;
  return (s[0] + s[1]) + (s[2] + s[3]);
}
[[gnu::always_inline]] inline double least_of(const Four& a) {
  double least = a[0];
  for (int lane = 1; lane < 4; ++lane) least = a[lane] < least ? a[lane] : least;
  return least;
}

/// Two sums of four lanes: every row goes into exactly one of them.
struct Split {
  Four yes[2] = {all(0), all(0)};
  Four no[2] = {all(0), all(0)};
  [[gnu::always_inline]] void add(const Mask& mask, const Four& w, int half) {
    yes[half] += mask ? w : all(0);
    no[half] += mask ? all(0) : w;
  }
  [[gnu::always_inline]] void result(double& a, double& b) const {
    a = sum_of(yes[0], yes[1]);
    b = sum_of(no[0], no[1]);
  }
};

[[gnu::always_inline]] inline Mask right_side(const double* x, const double* y, const Four& theta) {
  Four xi, yi;
  load(x, xi);
  load(y, yi);
  return ~((xi > theta) ^ (yi > all(0)));
}

[[gnu::always_inline]] inline void source_all(const double* x, const double* y, const double* weight, double theta,
                                              Index count, double& right, double& wrong) {
  Split sums;
  const Four t = all(theta);
  for (Index i = 0; i < count; i += boost_lanes) {
    for (int half = 0; half < 2; ++half) {
      const Index k = i + 4 * half;
      Four w;
      load(weight + k, w);
      sums.add(right_side(x + k, y + k, t), w, half);
    }
  }
  sums.result(right, wrong);
}

/// |h| = min(1, |v| / scale): the one place that decides who is in the band.
struct Size {
  Four theta, left, right;
  explicit Size(const Stump& stump) : theta(all(stump.theta)), left(all(stump.left)), right(all(stump.right)) {}
  [[gnu::always_inline]] void of(const double* x, Four& size) const {
    Four xi;
    load(x, xi);
    const Four v = xi - theta;
    const Mask above = v > all(0);
    const Four ratio = (above ? v : -v) / (above ? right : left);
    size = ratio < all(1) ? ratio : all(1);
  }
};

[[gnu::always_inline]] inline void target_all(const double* x, const double* weight, const Stump& stump, double gamma,
                                              Index count, double& inside, double& outside) {
  Split sums;
  const Size h(stump);
  const Four edge = all(gamma);
  for (Index i = 0; i < count; i += boost_lanes) {
    for (int half = 0; half < 2; ++half) {
      const Index k = i + 4 * half;
      Four w, size;
      load(weight + k, w);
      h.of(x + k, size);
      sums.add(size <= edge, w, half);
    }
  }
  sums.result(inside, outside);
}

[[gnu::always_inline]] inline void source_step(const double* x, const double* y, const double* first,
                                               const Stump& stump, const SourceUpdate& update, double* weight,
                                               double* margin, Index count, SourceSums& sums) {
  const Four theta = all(stump.theta), zero = all(0), gamma = all(update.gamma), normalised = all(update.normalised);
  const Mask flip = stump.sign > 0 ? Mask{0, 0, 0, 0} : ~Mask{0, 0, 0, 0};
  Four total = zero, err = zero, raw = zero, scaled = zero, least = all(infinity);
  for (Index i = 0; i < count; i += 4) {
    Four w, m, f;
    load(weight + i, w);
    load(margin + i, m);
    load(first + i, f);
    const Mask right = right_side(x + i, y + i, theta) ^ flip;
    w *= right ? all(update.when_right) : all(update.when_wrong);
    m += right ? all(update.alpha) : all(-update.alpha);
    store(w, weight + i);
    store(m, margin + i);
    total += w;
    err += m <= zero ? f : zero;
    raw += m <= gamma ? f : zero;
    scaled += m <= normalised ? f : zero;
    least = m < least ? m : least;
  }
  sums = {sum_of(total, zero), sum_of(err, zero), sum_of(raw, zero), sum_of(scaled, zero), least_of(least)};
}

[[gnu::always_inline]] inline void target_step(const double* x, const double* first, const Stump& stump, double gamma,
                                               double beta, double* margin, Index count, TargetSums& sums) {
  const Size h(stump);
  const Four edge = all(gamma), zero = all(0);
  Four least = all(infinity), lost = zero;
  for (Index i = 0; i < count; i += 4) {
    Four m, f, size;
    load(margin + i, m);
    load(first + i, f);
    h.of(x + i, size);
    const Four gain = beta * size;
    m += size <= edge ? -gain : gain;
    store(m, margin + i);
    lost += m < zero ? f : zero;
    least = m < least ? m : least;
  }
  sums = {least_of(least), sum_of(lost, zero)};
}

}  // namespace

void source_masses(const double* x, const double* y, const double* weight, double theta, Index count, double& right,
                   double& wrong) {
  run_wide_exactly<source_all>(x, y, weight, theta, count, right, wrong);
}

void target_masses(const double* x, const double* weight, const Stump& stump, double gamma, Index count, double& inside,
                   double& outside) {
  run_wide_exactly<target_all>(x, weight, stump, gamma, count, inside, outside);
}

SourceSums update_source(const double* x, const double* y, const double* first, const Stump& stump,
                         const SourceUpdate& update, double* weight, double* margin, Index count) {
  SourceSums sums;
  run_wide_exactly<source_step>(x, y, first, stump, update, weight, margin, count, sums);
  return sums;
}

TargetSums update_target(const double* x, const double* first, const Stump& stump, double gamma, double beta,
                         double* margin, Index count) {
  TargetSums sums;
  run_wide_exactly<target_step>(x, first, stump, gamma, beta, margin, count, sums);
  return sums;
}

double weights_of_margins(const double* first, const double* margin, double least, double* weight, Index count) {
  for (Index i = 0; i < count; ++i) weight[i] = margin[i] - least;
  exp_of_negative(1, weight, count);
  double sums[boost_lanes] = {};
  for (Index i = 0; i < count; i += boost_lanes) {
    for (Index k = 0; k < boost_lanes; ++k) {
      weight[i + k] *= first[i + k];
      sums[k] += weight[i + k];
    }
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace ecotone
