#include "ecotone/measure/ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"

namespace ecotone {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    // The ranks first + 1 .. last + 1 have this mean.
    const double shared = 1 + 0.5 * static_cast<double>(first + last);
    for (std::size_t k = first; k <= last; ++k) result[order[k]] = shared;
    first = last + 1;
  }
  return result;
}

std::optional<double> spearman(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) internal_error("spearman: {} values against {}", x.size(), y.size());
  if (x.size() < 2) return std::nullopt;
  const std::vector<double> a = ranks(x);
  const std::vector<double> b = ranks(y);
  const double middle = 0.5 * static_cast<double>(x.size() + 1);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

}  // namespace ecotone
