#include "ecotone/measure/telling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "ecotone/measure/ranks.h"

namespace ecotone {

namespace {

using Counts = std::vector<Index>;  ///< rows of each class

Index total(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), Index{0}); }
Index outvoted(const Counts& counts) { return total(counts) - *std::ranges::max_element(counts); }

/// The classes by the mean position of their values.
std::vector<std::size_t> in_order(const std::vector<Counts>& values, std::size_t n_classes) {
  std::vector<double> position(n_classes, 0), rows(n_classes, 0);
  double before = 0;
  for (const Counts& counts : values) {
    const auto here = static_cast<double>(total(counts));
    for (std::size_t c = 0; c < n_classes; ++c) {
      position[c] += static_cast<double>(counts[c]) * (before + here / 2);
      rows[c] += static_cast<double>(counts[c]);
    }
    before += here;
  }
  std::vector<std::size_t> order(n_classes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return rows[c] > 0 ? position[c] / rows[c] : 0; });
  return order;
}

/// Errors of the best intervals, one for each class in this order.
Index interval_errors(const std::vector<Counts>& values, const std::vector<std::size_t>& order) {
  std::vector<Index> best(order.size(), 0);  // by the class of the interval that is open
  for (const Counts& counts : values) {
    const Index rows = total(counts);
    Index least = best.front();
    for (std::size_t k = 0; k < order.size(); ++k) {
      least = std::min(least, best[k]);
      best[k] = least + rows - counts[order[k]];
    }
  }
  return *std::ranges::min_element(best);
}

std::optional<double> pearson(std::span<const double> x, std::span<const double> y) {
  const auto mean = [](std::span<const double> v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  };
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double scale = std::sqrt(xx) * std::sqrt(yy);
  return scale > 0 ? std::optional(xy / scale) : std::nullopt;
}

}  // namespace

ClassTelling class_telling(std::span<const double> values, std::span<const std::int32_t> classes, Index n_classes) {
  const auto n = at(n_classes);
  Counts all(n, 0), missing(n, 0);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ++all[at(classes[i])];
    if (std::isnan(values[i]))
      ++missing[at(classes[i])];
    else
      rows.push_back(i);
  }
  std::ranges::sort(rows, {}, [&](std::size_t i) { return values[i]; });
  std::vector<Counts> different;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k == 0 || values[rows[k]] != values[rows[k - 1]]) different.emplace_back(n, 0);
    ++different.back()[at(classes[rows[k]])];
  }
  ClassTelling result{static_cast<Index>(values.size()), 0, outvoted(all)};
  result.errors = interval_errors(different, in_order(different, n));
  if (different.size() * 10 <= rows.size()) {
    Index errors = 0;
    for (const Counts& counts : different) errors += outvoted(counts);
    result.errors = std::min(result.errors, errors);
  }
  result.errors += outvoted(missing);
  return result;
}

double number_telling(std::span<const double> values, std::span<const double> label) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || !std::isfinite(label[i])) continue;
    x.push_back(values[i]);
    y.push_back(label[i]);
  }
  if (x.size() < 30 || x.size() * 2 < values.size()) return 0;
  return std::max(std::abs(pearson(x, y).value_or(0)), std::abs(spearman(x, y).value_or(0)));
}

}  // namespace ecotone
