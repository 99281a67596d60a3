#pragma once

#include <limits>
#include <optional>
#include <span>

#include "ecotone/measure/intervals.h"

namespace ecotone {

/// Where the values of a metric lie, and whether its errors are compared as factors: of an error such as RMSE a
/// residual is ln true - ln estimate.
struct MetricScale {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool logarithmic = false;

  /// true - estimate, or the logarithm of their ratio; empty where a factor of 0 would be compared.
  std::optional<double> residual(double truth, double estimate) const;
};

/// A residual is what was found in one domain minus what was expected of it. Data error `too_few_domains` with fewer
/// than two, `bad_level` unless 0 < level < 1.

/// How far a new domain's value is expected from the estimate, on the metric's scale: t(K - 1) rms(residuals). The
/// residuals are not centred: with few domains a correction of their mean adds more noise than it removes. `extra` is a
/// variance that a new domain has beyond those of the residuals.
double t_half_width(std::span<const double> residuals, double level, double extra = 0);
/// estimate +- t_half_width, cut to the metric's range.
Bounds t_reach(double estimate, std::span<const double> residuals, double level, const MetricScale& scale,
               double extra = 0);
/// estimate + mean +- t(K - 1) sd sqrt(1 + 1/K), cut.
Bounds centred_t_reach(double estimate, std::span<const double> residuals, double level, const MetricScale& scale);
/// estimate +- the conformal quantile of |residual|, cut. Empty if that is infinite: there are fewer domains than
/// level / (1 - level).
std::optional<Bounds> conformal_reach(double estimate, std::span<const double> residuals, double level,
                                      const MetricScale& scale);

/// What more domains would do to an interval of half width t(K - 1) s sqrt(K / (K - 1)), s the spread of the domains.
struct MoreDomains {
  std::optional<int> for_half;  ///< domains for half of the width; empty: no number is enough
  double narrowest = 0;         ///< share of the width that is left with any number of domains
};
MoreDomains more_domains(int domains, double level);

}  // namespace ecotone
