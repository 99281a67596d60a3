#include "ecotone/measure/residual_interval.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/weighted_quantile.h"

namespace ecotone {
namespace {

void check_residuals(std::span<const double> residuals, double level) {
  if (residuals.size() < 2)
    data_error("too_few_domains", "interval: {} residual{} of a domain; at least 2 are needed", residuals.size(),
               residuals.size() == 1 ? "" : "s");
  for (const double r : residuals)
    if (!std::isfinite(r)) data_error("non_finite", "interval: a residual is {}", r);
  if (!(level > 0 && level < 1)) data_error("bad_level", "interval: the level must be in (0, 1), got {}", level);
}

double t_of(std::size_t residuals, double level) {
  return t_quantile(0.5 + level / 2, static_cast<double>(residuals) - 1);
}

Bounds around(double estimate, double below, double above, const MetricScale& scale) {
  const auto moved = [&](double by) { return scale.logarithmic ? estimate * std::exp(by) : estimate + by; };
  return {std::clamp(moved(below), scale.least, scale.most), std::clamp(moved(above), scale.least, scale.most)};
}

/// t(K - 1) sqrt(K / (K - 1)): the half width for domains of spread 1.
double half_width_of(int domains, double level) {
  return t_of(static_cast<std::size_t>(domains), level) * std::sqrt(domains / (domains - 1.0));
}

}  // namespace

std::optional<double> MetricScale::residual(double truth, double estimate) const {
  if (!logarithmic) return truth - estimate;
  if (!(truth > 0 && estimate > 0)) return std::nullopt;
  return std::log(truth / estimate);
}

double t_half_width(std::span<const double> residuals, double level, double extra) {
  check_residuals(residuals, level);
  double squares = 0;
  for (const double r : residuals) squares += r * r;
  return t_of(residuals.size(), level) * std::sqrt(squares / static_cast<double>(residuals.size()) + extra);
}

Bounds t_reach(double estimate, std::span<const double> residuals, double level, const MetricScale& scale,
               double extra) {
  const double half = t_half_width(residuals, level, extra);
  return around(estimate, -half, half, scale);
}

Bounds centred_t_reach(double estimate, std::span<const double> residuals, double level, const MetricScale& scale) {
  check_residuals(residuals, level);
  const double mean = *mean_of(residuals);
  const double half =
      t_of(residuals.size(), level) * *sample_sd(residuals) * std::sqrt(1 + 1 / static_cast<double>(residuals.size()));
  return around(estimate, mean - half, mean + half, scale);
}

std::optional<Bounds> conformal_reach(double estimate, std::span<const double> residuals, double level,
                                      const MetricScale& scale) {
  check_residuals(residuals, level);
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::abs(r));
  const double half = WeightedQuantiles(sizes).at(level, 1);
  if (std::isinf(half)) return std::nullopt;
  return around(estimate, -half, half, scale);
}

MoreDomains more_domains(int domains, double level) {
  const double now = half_width_of(domains, level);
  const double least = boost::math::quantile(boost::math::normal(), 0.5 + level / 2);
  MoreDomains more{std::nullopt, least / now};
  if (2 * least >= now) return more;
  int enough = domains;
  while (2 * half_width_of(enough, level) > now) ++enough;
  more.for_half = enough;
  return more;
}

}  // namespace ecotone
