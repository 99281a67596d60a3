#include "ecotone/evaluate/probability_check.h"

#include <algorithm>
#include <cmath>

#include "ecotone/measure/intervals.h"
#include "ecotone/measure/recalibration.h"

namespace ecotone {
namespace {

/// The loss in `own` of saying the shares of all other domains.
double loss_of_guessing(const PipelineScore& score, const DomainScore& own) {
  std::vector<double> others(own.prevalence.size(), 0.0);
  double rows = 0;
  for (const DomainScore& domain : score.domains) {
    if (&domain == &own || domain.prevalence.size() != others.size()) continue;
    rows += static_cast<double>(domain.rows);
    for (std::size_t k = 0; k < others.size(); ++k)
      others[k] += static_cast<double>(domain.rows) * domain.prevalence[k];
  }
  double loss = 0;
  for (std::size_t k = 0; k < others.size(); ++k)
    loss -= own.prevalence[k] * std::log(std::clamp(others[k] / rows, smallest_probability, 1 - smallest_probability));
  return loss;
}

}  // namespace

std::vector<ProbabilityCheck::Domain> ProbabilityCheck::failing() const {
  std::vector<Domain> found;
  std::ranges::copy_if(domains, std::back_inserter(found), [](const Domain& domain) { return domain.worse(); });
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const Domain& d) { return d.loss - d.guessing; });
  return found;
}

ProbabilityShape ProbabilityCheck::shape() const {
  if (!slope) return ProbabilityShape::right;
  if (*slope < 0) return ProbabilityShape::reversed;
  if (*slope < 2.0 / 3) return ProbabilityShape::too_extreme;
  return *slope > 1.5 ? ProbabilityShape::too_timid : ProbabilityShape::right;
}

std::optional<ProbabilityCheck> check_probabilities(const PipelineScore& score) {
  if (score.error) return {};
  ProbabilityCheck check;
  std::vector<const DomainScore*> comparable;
  std::vector<double> slopes;
  for (const DomainScore& domain : score.domains) {
    if (const auto slope = value_of(domain.metrics, "calibration_slope")) slopes.push_back(*slope);
    if (domain.prevalence.size() >= 2 && domain.rows > 0 && value_of(domain.metrics, "log_loss"))
      comparable.push_back(&domain);
  }
  std::ranges::sort(slopes);
  if (!slopes.empty()) check.slope = sorted_quantile(slopes, 0.5);
  if (comparable.size() < 2) return check.slope ? std::optional(check) : std::nullopt;
  const auto count = static_cast<double>(comparable.size());
  for (const DomainScore* domain : comparable) {
    check.domains.push_back({domain->domain, *value_of(domain->metrics, "log_loss"), loss_of_guessing(score, *domain)});
    check.loss += check.domains.back().loss / count;
    check.guessing += check.domains.back().guessing / count;
  }
  return check;
}

}  // namespace ecotone
