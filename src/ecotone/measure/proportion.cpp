#include "ecotone/measure/proportion.h"

#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace ecotone {
namespace {

/// P(X >= k) of a binomial variable.
double at_least_so_many(Index k, Index trials, double p) {
  if (k <= 0) return 1;
  if (k > trials) return 0;
  return boost::math::ibeta(static_cast<double>(k), static_cast<double>(trials - k + 1), p);
}

/// P(X > k) + P(X = k) / 2, which increases with p.
double mid_p(Index k, Index trials, double p) {
  return (at_least_so_many(k, trials, p) + at_least_so_many(k + 1, trials, p)) / 2;
}

double solve(Index k, Index trials, double value) {
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (mid_p(k, trials, middle) < value ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

ProportionInterval mid_p_interval(Index successes, Index trials, double level) {
  return {successes == 0 ? 0 : solve(successes, trials, (1 - level) / 2),
          successes == trials ? 1 : solve(successes, trials, (1 + level) / 2)};
}

}  // namespace ecotone
