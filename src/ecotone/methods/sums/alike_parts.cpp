#include "ecotone/methods/sums/alike_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

namespace ecotone {
namespace {

/// Rounding differs by less, other rows by more.
constexpr double same_sum = 1e-9;

/// The places of names in their order.
std::vector<Index> name_order(const std::vector<std::string>& names) {
  std::vector<Index> order(names.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index i) -> const std::string& { return names[at(i)]; });
  return order;
}

bool same_names(const std::vector<std::string>& a, const std::vector<Index>& order_a, const std::vector<std::string>& b,
                const std::vector<Index>& order_b) {
  return std::ranges::equal(order_a, order_b, [&](Index i, Index k) { return a[at(i)] == b[at(k)]; });
}

/// Whether domains of the same names have as many rows, and sums that differ by rounding alone; whatever the order of
/// domains and columns. Of classes only the rows are compared.
bool alike(const Moments& a, const Moments& b, bool only_rows) {
  const std::vector<Index> groups_a = name_order(a.groups), groups_b = name_order(b.groups);
  if (!same_names(a.groups, groups_a, b.groups, groups_b)) return false;
  for (std::size_t g = 0; g < groups_a.size(); ++g)
    if (a.rows[groups_a[g]] != b.rows[groups_b[g]]) return false;
  if (only_rows) return true;
  const std::vector<Index> cols_a = name_order(a.features), cols_b = name_order(b.features);
  if (!same_names(a.features, cols_a, b.features, cols_b)) return false;
  for (std::size_t g = 0; g < groups_a.size(); ++g)
    for (std::size_t j = 0; j < cols_a.size(); ++j) {
      const Index ga = groups_a[g], gb = groups_b[g], ja = cols_a[j], jb = cols_b[j];
      const double squares = std::max(a.xx(ga, ja), b.xx(gb, jb));
      // |sum x| <= sqrt(n sum x^2), however near to 0 it is.
      if (std::abs(a.x1(ga, ja) - b.x1(gb, jb)) > same_sum * std::sqrt(a.rows[ga] * squares)) return false;
      if (std::abs(a.xx(ga, ja) - b.xx(gb, jb)) > same_sum * squares) return false;
    }
  return true;
}

bool alike(const SumsPart& a, const SumsPart& b) {
  if (!alike(a.sums.moments, b.sums.moments, false) || !alike(a.sums.targets, b.sums.targets, false)) return false;
  return std::ranges::equal(a.sums.classes, b.sums.classes) &&
         std::ranges::equal(a.sums.of_class, b.sums.of_class,
                            [](const Moments& of_a, const Moments& of_b) { return alike(of_a, of_b, true); });
}

/// What alike parts have nearly in common, to find them among many.
struct PartSize {
  double rows = 0;
  double squares = 0;
  std::size_t part = 0;
};

PartSize size_of(const std::vector<SumsPart>& parts, std::size_t k) {
  const RowSums& sums = parts[k].sums;
  return {sums.rows() + sums.targets.rows.sum(), sums.moments.xx.sum() + sums.targets.xx.sum(), k};
}

}  // namespace

void warn_of_alike_parts(const std::vector<SumsPart>& parts, const Context& context) {
  std::vector<PartSize> sizes;
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (parts[k].source.empty()) sizes.push_back(size_of(parts, k));
  std::ranges::sort(sizes, {}, [](const PartSize& size) { return std::tuple(size.rows, size.squares, size.part); });
  Index pairs = 0;
  std::string example;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t k = i + 1; k < sizes.size(); ++k) {
      // Sums of squares that differ by at most that are followed by those that differ by more.
      if (sizes[k].rows != sizes[i].rows || sizes[k].squares > (1 + 2 * same_sum) * sizes[i].squares) break;
      const SumsPart &one = parts[sizes[i].part], &other = parts[sizes[k].part];
      if (!alike(one, other)) continue;
      if (pairs++ == 0) example = fmt::format("{} and {}", one.id().substr(0, 8), other.id().substr(0, 8));
    }
  if (pairs > 0)
    context.warn("alike_parts",
                 "parts {}{} have as many rows and the same sums up to rounding: if they were made of the same rows, "
                 "these count twice, so leave one of them out",
                 example, pairs > 1 ? fmt::format(" (one of {} such pairs)", pairs) : "");
}

}  // namespace ecotone
