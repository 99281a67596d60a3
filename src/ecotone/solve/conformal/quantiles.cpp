#include "ecotone/solve/conformal/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

void check_domains(const ScoredDomains& domains) {
  if (domains.empty()) data_error("empty_data", "conformal: there are no domains with scores");
  for (const ScoredDomain& domain : domains)
    if (domain.score.empty()) data_error("empty_domain", "conformal: a domain has no scores");
  for (const ScoredDomain& domain : domains)
    for (const double score : domain.score)
      if (!std::isfinite(score)) data_error("non_finite", "conformal: a score is {}", score);
}

double level_of(double alpha) {
  if (!(alpha > 0 && alpha < 1)) data_error("bad_level", "conformal: alpha must be in (0, 1), got {}", alpha);
  return 1 - alpha;
}

double weight_of_domain(const ScoredDomain& domain) { return total_weight(domain.weight, domain.score.size()); }

/// Weights of all rows: domains count alike, or rows do.
WeightedQuantiles joined(const ScoredDomains& domains, DomainWeighting weighting) {
  check_domains(domains);
  std::vector<double> score, weight;
  double rows = 0, sum = 0;
  for (const ScoredDomain& domain : domains) {
    rows += static_cast<double>(domain.score.size());
    sum += weight_of_domain(domain);
  }
  for (const ScoredDomain& domain : domains) {
    const double own = weight_of_domain(domain);
    if (weighting != DomainWeighting::pooled && !(own > 0))
      data_error("zero_weights", "conformal: all rows of a domain have weight 0");
    for (std::size_t i = 0; i < domain.score.size(); ++i) {
      score.push_back(domain.score[i]);
      weight.push_back(weight_at(domain.weight, i) * (weighting == DomainWeighting::pooled ? rows / sum : 1 / own));
    }
  }
  return WeightedQuantiles(score, weight);
}

}  // namespace

DomainQuantiles::DomainQuantiles(const ScoredDomains& domains, DomainWeighting weighting)
    : scores_(joined(domains, weighting)), weight_inf_(weighting == DomainWeighting::cdf ? 0 : 1) {}

double DomainQuantiles::at(double alpha) const { return scores_.at(level_of(alpha), weight_inf_); }

double hcp_quantile(const ScoredDomains& domains, double alpha) {
  return DomainQuantiles(domains, DomainWeighting::hcp).at(alpha);
}

double cdf_quantile(const ScoredDomains& domains, double alpha) {
  return DomainQuantiles(domains, DomainWeighting::cdf).at(alpha);
}

double pooled_quantile(const ScoredDomains& domains, double alpha) {
  return DomainQuantiles(domains, DomainWeighting::pooled).at(alpha);
}

double split_quantile(const std::vector<double>& scores, double alpha) {
  const double level = level_of(alpha);
  return WeightedQuantiles(scores).at(level, 1);
}

Domainwise domainwise_quantile(const ScoredDomains& domains, double alpha, double delta) {
  check_domains(domains);
  Domainwise result;
  for (const ScoredDomain& domain : domains)
    result.of_domain.push_back(WeightedQuantiles(domain.score, domain.weight).at(level_of(alpha)));
  result.quantile = split_quantile(result.of_domain, delta);
  return result;
}

double largest_level(std::size_t domains) {
  const auto k = static_cast<double>(domains);
  return k / (k + 1);
}

double useful_level(std::size_t domains) {
  const auto k = static_cast<double>(domains);
  return std::max(0.0, (k - 1) / (k + 1));
}

double coverage(const ScoredDomain& domain, double quantile) {
  double covered = 0;
  for (std::size_t i = 0; i < domain.score.size(); ++i)
    if (domain.score[i] <= quantile + quantile_slack) covered += weight_at(domain.weight, i);
  return covered / weight_of_domain(domain);
}

JackknifeScores::JackknifeScores(const ScoredDomains& domains) {
  check_domains(domains);
  for (const ScoredDomain& domain : domains) of_domain_.emplace_back(domain.score, domain.weight);
}

double JackknifeScores::p_value(const std::vector<double>& score) const {
  double sum = 1;
  for (std::size_t k = 0; k < of_domain_.size(); ++k)
    sum += of_domain_[k].weight_from(score[k] - quantile_slack) / of_domain_[k].total();
  return sum / (static_cast<double>(of_domain_.size()) + 1);
}

namespace {

/// The values base + score of one domain, whose scores ascend.
struct ShiftedDomain {
  double base;
  const WeightedQuantiles& domain;

  double least() const { return base + domain.scores().front(); }
  double most() const { return base + domain.scores().back(); }
  /// The share of its weight at values of at most t.
  double up_to(double t) const {
    const auto scores = domain.scores();
    const auto end = std::ranges::partition_point(scores, [&](double s) { return base + s <= t; });
    return end == scores.begin()
               ? 0
               : domain.cumulative()[static_cast<std::size_t>(end - scores.begin()) - 1] / domain.total();
  }
};

/// The quantile of all `sign` prediction_k + score, each domain of weight 1 and weight 1 at infinity. No values are
/// made for it: the numbers are halved until two neighbours are left, and the upper one is a value.
double shifted_quantile(const std::vector<WeightedQuantiles>& domains, const std::vector<double>& prediction,
                        double sign, double level) {
  std::vector<ShiftedDomain> shifted;
  for (std::size_t k = 0; k < domains.size(); ++k) shifted.push_back({sign * prediction[k], domains[k]});
  const double all = static_cast<double>(domains.size()) + 1;
  const auto reached = [&](double t) {
    double sum = 0;
    for (const ShiftedDomain& domain : shifted) sum += domain.up_to(t);
    return sum >= level * all - quantile_slack * all;
  };
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const ShiftedDomain& domain : shifted) {
    low = std::min(low, domain.least());
    high = std::max(high, domain.most());
  }
  if (reached(low)) return low;
  if (!reached(high)) return std::numeric_limits<double>::infinity();
  while (true) {
    const double middle = std::midpoint(low, high);
    if (!(low < middle && middle < high)) return high;  // not a number either, if they are infinite
    (reached(middle) ? high : low) = middle;
  }
}

}  // namespace

double JackknifeScores::upper(const std::vector<double>& prediction, double alpha) const {
  return shifted_quantile(of_domain_, prediction, 1, level_of(alpha));
}

double JackknifeScores::lower(const std::vector<double>& prediction, double alpha) const {
  return -shifted_quantile(of_domain_, prediction, -1, level_of(alpha));
}

}  // namespace ecotone
