#include "ecotone/solve/trees/anchor.h"

#include "ecotone/base/error.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

AnchorLoss::Terms AnchorLoss::terms_of(const Vector& scores) const {
  const Index n = scores.size();
  Terms terms{Vector(n), Vector(n), Vector::Zero(n), Vector::Zero(domains_.count)};
  Vector weight = Vector::Zero(domains_.count);
  for (Index i = 0; i < n; ++i) {
    const double f = scores[i], w = labels_.weight_of(i);
    if (labels_.loss == TreeLoss::probit) {
      const double side = labels_.y[i] > 0.5 ? 1 : -1;
      const ProbitTerms at_margin = probit_terms(side * f);
      const double r = -side * at_margin.ratio;
      terms.first[i] = w * r;
      terms.second[i] = w * at_margin.ratio * at_margin.ratio_plus_m;
      terms.third[i] = w * ((f * f - 1) * r - 3 * f * r * r + 2 * r * r * r);
    } else {
      terms.first[i] = w * (f - labels_.y[i]);
      terms.second[i] = w;
    }
    terms.domain_mean[domains_.index[at(i)]] += terms.first[i];
    weight[domains_.index[at(i)]] += w;
  }
  for (Index e = 0; e < weight.size(); ++e) terms.domain_mean[e] /= weight[e] > 0 ? weight[e] : 1;
  return terms;
}

LossDerivatives AnchorLoss::derivatives_of(const Terms& terms) const {
  LossDerivatives result{{terms.first}, {terms.second}};
  for (Index i = 0; i < terms.first.size(); ++i)
    result.first[0][i] += (gamma_ - 1) * mean_of(terms, i) * terms.second[i];
  return result;
}

std::vector<double> AnchorLoss::leaf_values(const Terms& terms, std::span<const std::int32_t> leaf, Index leaves,
                                            double lam, double rate, const Context& context) const {
  Vector g = Vector::Zero(leaves), diagonal = Vector::Constant(leaves, lam), weight = Vector::Zero(domains_.count);
  Matrix by_domain = Matrix::Zero(domains_.count, leaves);
  for (Index i = 0; i < terms.first.size(); ++i) {
    const Index l = leaf[at(i)], e = domains_.index[at(i)];
    const double mean = mean_of(terms, i);
    g[l] += terms.first[i] + (gamma_ - 1) * mean * terms.second[i];
    diagonal[l] += terms.second[i] + (gamma_ - 1) * mean * terms.third[i];
    by_domain(e, l) += terms.second[i];
    weight[e] += labels_.weight_of(i);
  }
  Matrix h = diagonal.asDiagonal();
  for (Index e = 0; e < domains_.count; ++e)
    if (weight[e] > 0) h += (gamma_ - 1) / weight[e] * by_domain.row(e).transpose() * by_domain.row(e);
  const std::optional<Cholesky> factor = Cholesky::factor(std::move(h), context);
  if (!factor)
    data_error("gamma_too_small",
               "trees: with gamma={} and lam={} the leaves' values have no least loss; increase them", gamma_, lam);
  const Vector value = -rate * factor->solve(std::move(g), context);
  return {value.begin(), value.end()};
}

}  // namespace ecotone
