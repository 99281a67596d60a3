#include "ecotone/solve/alignment/group_ranks.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

/// The quantile at share p of sorted values, by linear interpolation between the shares (i + 1/2) / n.
double value_at(const double* sorted, Index n, double p) {
  const double place = std::clamp(p * static_cast<double>(n) - 0.5, 0.0, static_cast<double>(n - 1));
  const auto below = static_cast<Index>(std::floor(place));
  const Index above = std::min(below + 1, n - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double GroupRanks::share_below(Index j, double x) const {
  const Index n = sorted.cols();
  const double* first = sorted.data() + j * n;
  const double* low = std::lower_bound(first, first + n, x);
  const double* high = std::upper_bound(low, first + n, x);
  const auto count = static_cast<double>(n);
  if (exact() || low != high || low == first || low == first + n) {
    const double share = (static_cast<double>(low - first) + 0.5 * static_cast<double>(high - low)) / count;
    return exact() ? share : std::clamp(share, 0.5 / count, 1 - 0.5 / count);
  }
  // Between two quantiles, at shares (i - 1/2) / n and (i + 1/2) / n.
  const double part = (x - low[-1]) / (*low - low[-1]);
  return (static_cast<double>(low - first) - 0.5 + part) / count;
}

std::vector<GroupRanks> group_ranks(const Features& x, std::span<const std::int32_t> group, Index groups,
                                    const char* who, const Context& context) {
  std::vector<std::vector<Index>> rows(at(groups));
  for (std::size_t i = 0; i < group.size(); ++i)
    if (group[i] >= 0) rows[at(group[i])].push_back(static_cast<Index>(i));
  std::size_t kept = 0, most = 0;
  for (const auto& own : rows) {
    kept += std::min(own.size(), static_cast<std::size_t>(GroupRanks::most_exact));
    most = std::max(most, own.size());
  }
  require_memory((kept + 2 * most) * static_cast<std::size_t>(x.cols()) * sizeof(double), who, "the sorted columns",
                 "use fewer rows or columns");
  std::vector<GroupRanks> found(at(groups));
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const auto n = std::ssize(rows[g]);
    found[g].rows = n;
    found[g].sorted = n == 0 ? Matrix(x.cols(), 0) : Matrix(x.take(rows[g]).to_matrix().transpose());
    Matrix& sorted = found[g].sorted;
    const bool exact = n <= GroupRanks::most_exact;
    Matrix quantiles(x.cols(), exact ? 0 : GroupRanks::quantiles);
    context.parallel(x.cols(), [&](Index j) {
      double* first = sorted.data() + j * n;
      std::sort(first, first + n);
      for (Index i = 0; i < quantiles.cols(); ++i)
        quantiles(j, i) = value_at(first, n, (static_cast<double>(i) + 0.5) / static_cast<double>(quantiles.cols()));
    });
    if (!exact) sorted = std::move(quantiles);
  }
  return found;
}

double mean_share_below(const std::vector<GroupRanks>& groups, Index j, double x) {
  double sum = 0, count = 0;
  for (const GroupRanks& each : groups) {
    if (each.rows == 0) continue;
    sum += each.share_below(j, x);
    count += 1;
  }
  return count > 0 ? sum / count : 0.5;
}

double shrunk_share(double own, double mean, double rows, double k) {
  const double edge = 0.5 / (rows + k);
  return std::clamp((rows * own + k * mean) / (rows + k), edge, 1 - edge);
}

double normal_score(double share) { return -M_SQRT2 * boost::math::erfc_inv(2 * share); }

}  // namespace ecotone
