#pragma once

#include <vector>

#include "ecotone/solve/trees/domain_splits.h"
#include "ecotone/solve/trees/loss.h"

/// Anchor boosting: the loss L plus (gamma - 1) / 2 times the squared mean gradients of the domains, so that no
/// domain's errors point one way. gamma = 1 is the plain loss. For squared errors and probit.
namespace ecotone {

class AnchorLoss {
 public:
  AnchorLoss(const TreeLabels& labels, const TreeDomains& domains, double gamma)
      : labels_(labels), domains_(domains), gamma_(gamma) {}

  /// Derivatives of the loss of each row by its score, times its weight, and the mean of the first in its domain.
  struct Terms {
    Vector first, second, third;
    Vector domain_mean;  ///< by domain
  };
  Terms terms_of(const Vector& scores) const;

  /// What trees are grown on.
  LossDerivatives derivatives_of(const Terms& terms) const;

  /// The leaves' values, which depend on each other by the domains: -rate H^-1 g. Data error `gamma_too_small` where H
  /// is not positive definite.
  std::vector<double> leaf_values(const Terms& terms, std::span<const std::int32_t> leaf, Index leaves, double lam,
                                  double rate, const Context& context) const;

 private:
  double mean_of(const Terms& terms, Index i) const { return terms.domain_mean[domains_.index[at(i)]]; }

  const TreeLabels& labels_;
  const TreeDomains& domains_;
  double gamma_;
};

}  // namespace ecotone
