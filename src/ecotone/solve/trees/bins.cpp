#include "ecotone/solve/trees/bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/memory.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

namespace {

constexpr Index edge_rows = 200'000;

/// Distinct values in order with their weight.
std::vector<std::pair<double, std::uint64_t>> value_masses(std::span<const double> values,
                                                           std::span<const std::uint32_t> weight) {
  std::vector<std::pair<double, std::uint64_t>> masses;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i]) && weight[i] > 0) masses.emplace_back(values[i] == 0 ? 0.0 : values[i], weight[i]);
  std::sort(masses.begin(), masses.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t last = 0;  // of those that were kept
  for (std::size_t i = 1; i < masses.size(); ++i) {
    if (masses[i].first == masses[last].first)
      masses[last].second += masses[i].second;
    else
      masses[++last] = masses[i];
  }
  masses.resize(masses.empty() ? 0 : last + 1);
  return masses;
}

double edge_between(double a, double b) {
  const double middle = 0.5 * a + 0.5 * b;
  return a <= middle && middle < b ? middle : a;
}

}  // namespace

std::uint8_t TreeColumn::code(double x) const {
  if (std::isnan(x)) return missing_bin;
  if (categorical) {
    const auto found = std::find(level.begin(), level.end(), x);
    return found == level.end() ? missing_bin : static_cast<std::uint8_t>(found - level.begin());
  }
  return static_cast<std::uint8_t>(std::lower_bound(edge.begin(), edge.end(), x) - edge.begin());
}

std::vector<std::uint32_t> integer_weights(ConstVectorView weight, Index rows) {
  constexpr double unit = 1 << 20;
  std::vector<std::uint32_t> result(at(rows), 1U << 20);
  if (weight.size() == 0) return result;
  const double largest = weight.maxCoeff();
  for (Index i = 0; i < rows; ++i)
    result[at(i)] =
        weight[i] > 0 ? static_cast<std::uint32_t>(std::max(1.0, std::nearbyint(weight[i] / largest * unit))) : 0;
  return result;
}

std::vector<double> edges_of(std::span<const double> values, std::span<const std::uint32_t> weight, int most) {
  const auto masses = value_masses(values, weight);
  std::vector<double> edges;
  const auto count = static_cast<std::uint64_t>(most);
  std::uint64_t total = 0;
  for (const auto& one : masses) total += one.second;
  std::uint64_t below = 0;
  for (std::size_t k = 0; k + 1 < masses.size(); ++k) {
    const std::uint64_t before = count * below / total;
    below += masses[k].second;
    if (masses.size() <= static_cast<std::size_t>(most) || count * below / total > before)
      edges.push_back(edge_between(masses[k].first, masses[k + 1].first));
  }
  return edges;
}

std::vector<double> levels_of(std::span<const double> values, std::span<const std::uint32_t> weight) {
  auto masses = value_masses(values, weight);
  std::stable_sort(masses.begin(), masses.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<double> levels;
  for (const auto& one : masses)
    if (levels.size() < most_tree_bins) levels.push_back(one.first);
  return levels;
}

TreeRows bin_rows(const Features& x, ConstVectorView weight, std::span<const Index> categorical, int most,
                  const Context& context) {
  TreeRows binned;
  binned.rows = x.rows();
  const Index cols = x.cols();
  require_memory(2 * at(binned.rows) * at(cols), "trees", "two bytes per value", "use fewer rows or columns");
  binned.column.resize(at(cols));
  binned.by_column.resize(at(binned.rows) * at(cols));
  binned.by_row.resize(binned.by_column.size());
  for (const Index j : categorical) binned.column[at(j)].categorical = true;
  std::vector<Index> all(at(binned.rows));
  std::iota(all.begin(), all.end(), Index{0});
  const std::vector<Index> sample = spread_over(all, edge_rows);
  const Matrix values = x.take(sample).to_matrix();
  const std::vector<std::uint32_t> masses = integer_weights(weight, binned.rows);
  std::vector<std::uint32_t> own;
  for (const Index i : sample) own.push_back(masses[at(i)]);
  context.parallel(cols, [&](Index j) {
    const Vector column = values.col(j);
    const std::span<const double> span(column.data(), at(column.size()));
    TreeColumn& bins = binned.column[at(j)];
    if (bins.categorical)
      bins.level = levels_of(span, own);
    else
      bins.edge = edges_of(span, own, most);
  });
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index j = 0; j < cols; ++j) {
      const TreeColumn& bins = binned.column[at(j)];
      std::uint8_t* down = binned.by_column.data() + j * binned.rows + block.first;
      std::uint8_t* across = binned.by_row.data() + block.first * cols + j;
      for (Index i = 0; i < block.x.rows(); ++i) across[i * cols] = down[i] = bins.code(block.x(i, j));
    }
  });
  return binned;
}

}  // namespace ecotone
