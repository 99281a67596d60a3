#include "ecotone/evaluate/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "ecotone/evaluate/score.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {
namespace {

constexpr int quantiles = 80;   // of the probabilities: where the rows are
constexpr int even_steps = 20;  // of the scale: where people set thresholds
constexpr Index most_bins = 10;
constexpr Index least_in_bin = 5;

/// A scored row.
struct Scored {
  double probability;
  bool positive;
  double weight;
};

/// To three digits, so that a threshold that is shown is the one that was counted.
double shown(double value) { return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr); }

std::vector<double> thresholds_for(const std::vector<std::vector<Scored>>& domains) {
  std::vector<double> all;
  for (const auto& rows : domains)
    for (const Scored& row : rows) all.push_back(row.probability);
  std::ranges::sort(all);
  std::set<double> thresholds = {0};
  for (int i = 0; i <= quantiles && !all.empty(); ++i)
    thresholds.insert(shown(sorted_quantile(all, static_cast<double>(i) / quantiles)));
  for (int i = 0; i <= even_steps; ++i) thresholds.insert(shown(static_cast<double>(i) / even_steps));
  return {thresholds.begin(), thresholds.end()};
}

/// `rows` ascend by probability.
std::vector<CalibrationBin> bins_of(const std::vector<Scored>& rows) {
  const auto size = static_cast<Index>(rows.size());
  const Index count = std::clamp<Index>(size / least_in_bin, std::min<Index>(1, size), most_bins);
  std::vector<CalibrationBin> bins;
  Index first = 0;
  for (Index b = 0; b < count; ++b) {
    Index last = std::max(first, (b + 1) * size / count);
    // Equal probabilities stay together.
    while (last > first && last < size && rows[at(last)].probability == rows[at(last - 1)].probability) ++last;
    if (last == first) continue;
    CalibrationBin bin;
    double weight = 0;
    for (Index i = first; i < last; ++i) {
      const Scored& row = rows[at(i)];
      weight += row.weight;
      bin.predicted += row.weight * row.probability;
      bin.observed += row.positive ? row.weight : 0;
    }
    bin.predicted /= weight;
    bin.observed /= weight;
    bin.rows = last - first;
    bins.push_back(bin);
    first = last;
  }
  return bins;
}

DomainCurves curves_of_rows(std::string name, std::vector<Scored>& rows, const std::vector<double>& thresholds) {
  std::ranges::sort(rows, {}, &Scored::probability);
  DomainCurves curves{std::move(name), std::vector<double>(thresholds.size(), 0.0),
                      std::vector<double>(thresholds.size(), 0.0), bins_of(rows)};
  double positive = 0, negative = 0;
  auto row = rows.rbegin();
  for (std::size_t t = thresholds.size(); t-- > 0;) {
    for (; row != rows.rend() && row->probability >= thresholds[t]; ++row)
      (row->positive ? positive : negative) += row->weight;
    curves.positive[t] = positive;
    curves.negative[t] = negative;
  }
  return curves;
}

}  // namespace

ProbabilityCurves probability_curves(const Dataset& data, const std::vector<bool>& held_out,
                                     const std::vector<Outcome>& outcomes) {
  const Labels& y = *data.y;
  std::vector<std::vector<Scored>> of_domain(held_out.size());
  for (const Outcome& outcome : outcomes)
    for (std::size_t i = 0; i < outcome.rows.size(); ++i) {
      const Index row = outcome.rows[i];
      const double weight = data.weight.size() == 0 ? 1.0 : data.weight[row];
      if (y.missing(row) || weight <= 0) continue;
      of_domain[at(data.domain.index[at(row)])].push_back(
          {outcome.probability(static_cast<Index>(i), 1), y.index[at(row)] == 1, weight});
    }
  ProbabilityCurves curves;
  curves.thresholds = thresholds_for(of_domain);
  for (std::size_t d = 0; d < held_out.size(); ++d)
    if (held_out[d]) curves.domains.push_back(curves_of_rows(data.domain.names[d], of_domain[d], curves.thresholds));
  return curves;
}

}  // namespace ecotone
