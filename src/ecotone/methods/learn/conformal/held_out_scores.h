#pragma once

#include <string>
#include <vector>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/conformal/conformal.h"

namespace ecotone {

ClassScore class_score_of(ConformalScore score);
NumberScore number_score_of(ConformalScore score);

/// The scores of held-out rows, domain by domain; rows of weight 0 have none. What it is made of must outlive it.
class HeldOutScoresOfDomains {
 public:
  HeldOutScoresOfDomains(const Upstream& upstream, const CrossFit& cross, ConformalScore score);

  const ScoredDomains& domains() const { return domains_; }
  const std::vector<std::string>& names() const { return names_; }
  /// Positions in the cross-fit.
  const std::vector<Index>& rows(std::size_t domain) const { return rows_[domain]; }
  ScoredDomains without(std::size_t domain) const;
  Index count() const;
  /// Classes in the set of a row at a quantile, or the width of its interval.
  double size_at(Index i, double quantile) const;

 private:
  const Labels& y_;
  const CrossFit& cross_;
  ConformalScore score_;
  ScoredDomains domains_;
  std::vector<std::string> names_;
  std::vector<std::vector<Index>> rows_;

  double scale_of(Index i) const;
  double score_of(Index i) const;
};

}  // namespace ecotone
