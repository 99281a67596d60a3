#pragma once

#include <vector>

#include "ecotone/measure/weighted_quantile.h"

/// Quantiles of nonconformity scores of whole domains, such that a row of a new domain exceeds them rarely.
///
/// All of them read the same scores with other weights: a domain counts as one, however many rows it has, because the
/// target is one more domain and not one more row. `alpha` is the share of rows that may be left out. Data errors:
/// `empty_data` without domains, `empty_domain`, `non_finite`, `bad_level` unless 0 < alpha < 1, and those of
/// WeightedQuantiles.
namespace ecotone {

/// Scores of one domain's rows: small where a row conforms.
struct ScoredDomain {
  std::vector<double> score;
  std::vector<double> weight = {};  ///< of each row; empty: all 1
};
using ScoredDomains = std::vector<ScoredDomain>;

/// Hierarchical conformal prediction (lee2023): weights 1 / ((K + 1) N_k) and 1 / (K + 1) at infinity. A row of a new
/// domain is covered with probability at least 1 - alpha, averaged over new domains, if domains are exchangeable and
/// the scores were made without them. Infinite with fewer than (1 - alpha) / alpha domains.
double hcp_quantile(const ScoredDomains& domains, double alpha);
/// The mean of the domains' distributions: weights 1 / (K N_k), none at infinity. Right for many domains only.
double cdf_quantile(const ScoredDomains& domains, double alpha);
/// All rows as one sample, for a new row of the same domains. It promises nothing for a new domain.
double pooled_quantile(const ScoredDomains& domains, double alpha);
/// The conformal quantile of one sample: equal weights, one of them at infinity.
double split_quantile(const std::vector<double>& scores, double alpha);

/// In at least 1 - delta of new domains, at least 1 - alpha of the rows are covered.
struct Domainwise {
  std::vector<double> of_domain;  ///< the least score that covers 1 - alpha of each domain's rows
  double quantile = 0;            ///< their conformal quantile at delta
};
Domainwise domainwise_quantile(const ScoredDomains& domains, double alpha, double delta);

/// Scores of all domains with the weights of `hcp`, `cdf` or `pooled`, for many quantiles.
enum class DomainWeighting { hcp, cdf, pooled };
class DomainQuantiles {
 public:
  DomainQuantiles(const ScoredDomains& domains, DomainWeighting weighting);
  double at(double alpha) const;

 private:
  WeightedQuantiles scores_;
  double weight_inf_;
};

/// The largest level at which `hcp` of this many domains is finite, K / (K + 1). There its quantile is the largest of
/// all scores, so sets are of little use.
double largest_level(std::size_t domains);
/// The level up to which sets are of use, (K - 1) / (K + 1); 0 without domains.
double useful_level(std::size_t domains);

/// The share of rows whose score is at most the quantile.
double coverage(const ScoredDomain& domain, double quantile);

/// Jackknife+ over domains (barber2021): every domain's scores are compared with those that the model without that
/// domain gives the new row. At least 1 - 2 alpha of rows are covered, averaged over new domains.
class JackknifeScores {
 public:
  explicit JackknifeScores(const ScoredDomains& domains);
  std::size_t domains() const { return of_domain_.size(); }

  /// (1 + sum over k of the share of domain k's scores that are at least score_k) / (K + 1), where score_k is that of
  /// a candidate by the model without domain k. A candidate above alpha is in the set.
  double p_value(const std::vector<double>& score) const;
  /// The ends of the interval of a number that the model without domain k predicts as prediction_k: the quantiles of
  /// prediction_k + score and, for the lower end, of prediction_k - score.
  double upper(const std::vector<double>& prediction, double alpha) const;
  double lower(const std::vector<double>& prediction, double alpha) const;

 private:
  std::vector<WeightedQuantiles> of_domain_;
};

/// Whether a p-value puts a candidate into a set.
inline bool included(double p_value, double alpha) { return p_value > alpha + quantile_slack; }

}  // namespace ecotone
