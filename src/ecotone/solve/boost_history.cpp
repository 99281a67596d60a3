#include <algorithm>
#include <cmath>

#include "ecotone/solve/boost.h"
#include "ecotone/solve/boost_rows.h"

namespace ecotone {
namespace {

/// Values with their weights, ascending, as a distribution function.
class Distribution {
 public:
  Distribution(const std::vector<std::pair<double, double>>& values, double divisor) : sorted_(values) {
    for (auto& entry : sorted_) entry.first /= divisor;
    std::sort(sorted_.begin(), sorted_.end());
    double sum = 0;
    for (const auto& entry : sorted_) below_.push_back(sum += entry.second);
  }

  const std::vector<std::pair<double, double>>& sorted() const { return sorted_; }
  /// F(sorted value i) where no later one is equal to it.
  double up_to(std::size_t i) const { return below_[i]; }
  bool last_of_its_value(std::size_t i) const {
    return i + 1 == sorted_.size() || sorted_[i].first < sorted_[i + 1].first;
  }

  /// sup over the values b of the other of [F_other(b) - F_this(b + shift)].
  double largest_lag(const Distribution& other, double shift) const {
    double largest = 0;
    std::size_t k = 0;
    for (std::size_t i = 0; i < other.sorted_.size(); ++i) {
      if (!other.last_of_its_value(i)) continue;
      while (k < sorted_.size() && sorted_[k].first <= other.sorted_[i].first + shift) ++k;
      largest = std::max(largest, other.below_[i] - (k == 0 ? 0.0 : below_[k - 1]));
    }
    return largest;
  }

  double within(double gamma) const {
    double sum = 0;
    for (const auto& entry : sorted_)
      if (std::abs(entry.first) <= gamma) sum += entry.second;
    return sum;
  }

 private:
  std::vector<std::pair<double, double>> sorted_;
  std::vector<double> below_;
};

template <class Criterion>
Index last_minimum(const std::vector<BoostRound>& rounds, const Criterion& criterion) {
  // Shares are sums of many terms: values this near are equal.
  constexpr double rounding = 1e-12;
  std::size_t best = 0;
  for (std::size_t n = 1; n < rounds.size(); ++n)
    if (criterion(rounds[n]) <= criterion(rounds[best]) + rounding) best = n;
  return rounds.empty() ? 0 : static_cast<Index>(best) + 1;
}

}  // namespace

void set_criteria(const Projected& p, double total, double gamma, BoostRound& round) {
  const Distribution source(p.source, total), target(p.target, total);
  // d_H = 2 max |F_S - F_T|
  round.d_h = 2 * std::max(source.largest_lag(target, 0), target.largest_lag(source, 0));
  // 1 - inf over theta of [Pr_A(p <= theta + gamma) + Pr_B(p >= theta - gamma)] = max over b of F_B(b) - F_A(b + 2
  // gamma): the infimum is just above a value b of B plus gamma.
  round.d_hgamma = 2 * std::max(source.largest_lag(target, 2 * gamma), target.largest_lag(source, 2 * gamma));
  round.d_band = 2 * std::abs(source.within(gamma) - target.within(gamma));
  round.eq13 = round.margin_loss + round.d_hgamma / 2;
  round.eq14 = round.err_source + round.d_h / 2;
}

std::string_view boost_stop_name(BoostStop stop) {
  switch (stop) {
    case BoostStop::rounds:
      return "n_iter";
    case BoostStop::no_weak_da_learner:
      return "no_weak_da_learner";
    case BoostStop::no_weak_learner:
      return "no_weak_learner";
    case BoostStop::perfect:
      return "perfect";
  }
  return "";
}

std::vector<double> BoostFit::alphas(Index count) const {
  std::vector<double> result;
  for (Index n = 0; n < count; ++n) result.push_back(rounds[static_cast<std::size_t>(n)].alpha);
  return result;
}

std::vector<double> BoostFit::betas(Index count) const {
  std::vector<double> result;
  for (Index n = 0; n < count; ++n) result.push_back(rounds[static_cast<std::size_t>(n)].beta);
  return result;
}

std::vector<Stump> BoostFit::stumps(Index count) const {
  std::vector<Stump> result;
  for (Index n = 0; n < count; ++n) result.push_back(rounds[static_cast<std::size_t>(n)].stump);
  return result;
}

Index BoostFit::rounds_by_eq13() const {
  return last_minimum(rounds, [](const BoostRound& round) { return round.eq13; });
}
Index BoostFit::rounds_by_eq14() const {
  return last_minimum(rounds, [](const BoostRound& round) { return round.eq14; });
}

}  // namespace ecotone
