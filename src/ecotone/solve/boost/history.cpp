#include <algorithm>
#include <cmath>

#include "ecotone/solve/boost/boost.h"
#include "ecotone/solve/boost/rows.h"

namespace ecotone {
namespace {

using Values = std::vector<std::pair<double, double>>;

/// Values with their weights, ascending, and cumulative sums of the weights: sum[i] is that of the first i.
struct Distribution {
  Values sorted;
  std::vector<double> sum = {0};

  Distribution(const Values& values, double divisor) : sorted(values) {
    for (auto& entry : sorted) entry.first /= divisor;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& entry : sorted) sum.push_back(sum.back() + entry.second);
  }

  double within(double gamma) const {
    double total = 0;
    for (const auto& entry : sorted)
      if (std::abs(entry.first) <= gamma) total += entry.second;
    return total;
  }
};

/// The largest Pr_B(p < v + below) - Pr_A(p <= v + upto) over the values v, which ascend; at least 0.
double largest_gap(const Distribution& a, const Distribution& b, const Values& at, double below, double upto) {
  double largest = 0;
  std::size_t i = 0, k = 0;
  for (const auto& entry : at) {
    while (i < b.sorted.size() && b.sorted[i].first < entry.first + below) ++i;
    while (k < a.sorted.size() && a.sorted[k].first <= entry.first + upto) ++k;
    largest = std::max(largest, b.sum[i] - a.sum[k]);
  }
  return largest;
}

/// 1 - min over theta of [Pr_A(p <= theta + gamma) + Pr_B(p >= theta - gamma)], with theta at the values of both, plus
/// and minus gamma.
double band_gap(const Distribution& a, const Distribution& b, double gamma) {
  double largest = 0;
  for (const Distribution* d : {&a, &b}) {
    largest =
        std::max({largest, largest_gap(a, b, d->sorted, 0, 2 * gamma), largest_gap(a, b, d->sorted, -2 * gamma, 0)});
  }
  return largest;
}

/// max |F_A - F_B|.
double largest_distance(const Distribution& a, const Distribution& b) {
  double largest = 0;
  std::size_t i = 0, k = 0;
  while (i < a.sorted.size() || k < b.sorted.size()) {
    const double v = i == a.sorted.size()   ? b.sorted[k].first
                     : k == b.sorted.size() ? a.sorted[i].first
                                            : std::min(a.sorted[i].first, b.sorted[k].first);
    while (i < a.sorted.size() && a.sorted[i].first <= v) ++i;
    while (k < b.sorted.size() && b.sorted[k].first <= v) ++k;
    largest = std::max(largest, std::abs(a.sum[i] - b.sum[k]));
  }
  return largest;
}

template <class Criterion>
Index last_minimum(const std::vector<BoostRound>& rounds, const Criterion& criterion) {
  // Shares are sums of many terms: values this close count as equal.
  constexpr double rounding = 1e-12;
  std::size_t best = 0;
  for (std::size_t n = 1; n < rounds.size(); ++n)
    if (criterion(rounds[n]) <= criterion(rounds[best]) + rounding) best = n;
  return rounds.empty() ? 0 : static_cast<Index>(best) + 1;
}

}  // namespace

void set_criteria(const Projected& p, double total, double gamma, BoostRound& round) {
  const Distribution source(p.source, total), target(p.target, total);
  round.d_h = 2 * largest_distance(source, target);
  round.d_hgamma = 2 * std::max(band_gap(source, target, gamma), band_gap(target, source, gamma));
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
  for (Index n = 0; n < count; ++n) result.push_back(rounds[at(n)].alpha);
  return result;
}

std::vector<double> BoostFit::betas(Index count) const {
  std::vector<double> result;
  for (Index n = 0; n < count; ++n) result.push_back(rounds[at(n)].beta);
  return result;
}

std::vector<Stump> BoostFit::stumps(Index count) const {
  std::vector<Stump> result;
  for (Index n = 0; n < count; ++n) result.push_back(rounds[at(n)].stump);
  return result;
}

Index BoostFit::rounds_by_eq13() const {
  return last_minimum(rounds, [](const BoostRound& round) { return round.eq13; });
}
Index BoostFit::rounds_by_eq14() const {
  return last_minimum(rounds, [](const BoostRound& round) { return round.eq14; });
}

}  // namespace ecotone
