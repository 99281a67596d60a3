#include "ecotone/solve/trees/bins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

namespace {

constexpr Index edge_rows = 200'000;
constexpr Index sampled_at_once = 1 << 21;  // values
constexpr Index coded_rows = 64;            // whose values stay at hand while their columns become codes

using ValueMass = ValueMasses::value_type;

/// An integer of the same order as the numbers.
std::uint64_t ordered_key(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

/// Sorts by eleven bits at a time, which for many numbers is several times as fast as comparing them.
void sort_by_value(std::vector<ValueMass>& masses) {
  constexpr int digit_bits = 11, digits = 6;
  constexpr std::size_t digit_values = std::size_t{1} << digit_bits;
  const auto digit_of = [](double x, int digit) { return (ordered_key(x) >> (digit * digit_bits)) % digit_values; };
  std::vector<std::array<std::uint32_t, digit_values>> place(digits);
  for (const ValueMass& one : masses)
    for (int d = 0; d < digits; ++d) ++place[at(d)][digit_of(one.first, d)];
  std::vector<ValueMass> moved(masses.size());
  for (int d = 0; d < digits; ++d) {
    std::array<std::uint32_t, digit_values>& own = place[at(d)];
    if (std::ranges::find(own, static_cast<std::uint32_t>(masses.size())) != own.end()) continue;  // all are the same
    std::uint32_t before = 0;
    for (std::uint32_t& count : own) before += std::exchange(count, before);
    for (const ValueMass& one : masses) moved[own[digit_of(one.first, d)]++] = one;
    masses.swap(moved);
  }
}

/// Adds up the masses of equal values, which stand next to each other.
void add_equal(ValueMasses& masses) {
  std::size_t last = 0;  // of those that were kept
  for (std::size_t i = 1; i < masses.size(); ++i) {
    if (masses[i].first == masses[last].first)
      masses[last].second += masses[i].second;
    else
      masses[++last] = masses[i];
  }
  masses.resize(masses.empty() ? 0 : last + 1);
}

double edge_between(double a, double b) {
  const double middle = 0.5 * a + 0.5 * b;
  return a <= middle && middle < b ? middle : a;
}

}  // namespace

std::uint8_t TreeColumn::code(double x) const {
  if (std::isnan(x)) return missing_bin;
  if (categorical) return level.code(x);
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

ValueMasses value_masses(std::span<const double> values, std::span<const std::uint32_t> weight) {
  ValueMasses masses;
  masses.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i]) && weight[i] > 0) masses.emplace_back(values[i] == 0 ? 0.0 : values[i], weight[i]);
  sort_by_value(masses);
  add_equal(masses);
  return masses;
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

TreeLevels levels_of(ValueMasses masses) {
  std::stable_sort(masses.begin(), masses.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (masses.size() > most_tree_bins) masses.resize(most_tree_bins);
  std::vector<double> levels;
  for (const auto& one : masses) levels.push_back(one.first);
  return TreeLevels(std::move(levels));
}

namespace {

/// Rows spread evenly whose values the edges come from, and their weights.
struct EdgeSample {
  std::vector<Index> rows;
  std::vector<std::uint32_t> weight;
};

EdgeSample edge_sample(const std::vector<std::uint32_t>& weight) {
  std::vector<Index> in_use;
  for (std::size_t i = 0; i < weight.size(); ++i)
    if (weight[i] > 0) in_use.push_back(static_cast<Index>(i));
  EdgeSample sample{spread_over(in_use, edge_rows), {}};
  for (const Index i : sample.rows) sample.weight.push_back(weight[at(i)]);
  return sample;
}

/// The levels of columns of categories, with their weight in all rows.
struct LevelMasses {
  std::vector<ValueMasses> column;

  void merge(const LevelMasses& other) {
    for (std::size_t c = 0; c < column.size(); ++c) {
      ValueMasses both;
      both.reserve(column[c].size() + other.column[c].size());
      std::ranges::merge(column[c], other.column[c], std::back_inserter(both));
      add_equal(both);
      column[c] = std::move(both);
    }
  }
  template <class Archive>
  void archive(Archive& with) {
    with(column);
  }
};

/// Sets the levels of all columns of categories.
void set_levels(const Features& x, const std::vector<std::uint32_t>& weight, std::span<const Index> categorical,
                std::vector<TreeColumn>& columns, const Context& context) {
  if (categorical.empty()) return;
  const LevelMasses none{std::vector<ValueMasses>(categorical.size())};
  LevelMasses masses = sum_rows(x.blocks(), context, none, [&](LevelMasses& sum, Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    LevelMasses own = none;
    for (std::size_t c = 0; c < categorical.size(); ++c) {
      const Vector values = block.x.col(categorical[c]);
      own.column[c] = value_masses({values.data(), at(values.size())},
                                   std::span(weight).subspan(at(block.first), at(values.size())));
    }
    sum.merge(own);
  });
  for (std::size_t c = 0; c < categorical.size(); ++c) {
    TreeColumn& column = columns[at(categorical[c])];
    column.rare = std::max<Index>(0, std::ssize(masses.column[c]) - most_tree_bins);
    column.level = levels_of(std::move(masses.column[c]));
  }
}

/// The values of the sample in columns [first, first + values.rows()), a row for each of them.
void take_sample(const Features& x, const std::vector<Index>& rows, Index first, Matrix& values,
                 const Context& context) {
  context.parallel(x.blocks(), [&](Index b) {
    auto row = std::ranges::lower_bound(rows, x.first_row(b));
    const auto last = std::ranges::lower_bound(rows, x.first_row(b) + x.rows_in(b));
    if (row == last) return;
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (; row != last; ++row)
      values.col(row - rows.begin()) = block.x.row(*row - block.first).segment(first, values.rows()).transpose();
  });
}

/// Sets the edges of all columns of numbers, of some columns at a time, so that the memory does not grow with them.
void set_edges(const Features& x, const EdgeSample& sample, int most, std::vector<TreeColumn>& columns,
               const Context& context) {
  const Index rows = std::ssize(sample.rows), cols = std::ssize(columns);
  // Features that are read or computed are so once.
  const Index at_once =
      x.storage().resident() ? std::clamp<Index>(sampled_at_once / std::max<Index>(rows, 1), 1, cols) : cols;
  require_memory(at(rows * at_once) * sizeof(double), "trees", "the sample for bins", "use fewer columns");
  for (Index first = 0; first < cols; first += at_once) {
    Matrix values(std::min(at_once, cols - first), rows);
    take_sample(x, sample.rows, first, values, context);
    context.parallel(values.rows(), [&](Index j) {
      const std::span<const double> own(values.row(j).data(), at(rows));
      TreeColumn& column = columns[at(first + j)];
      if (!column.categorical) column.edge = edges_of(own, sample.weight, most);
    });
  }
}

/// Writes the codes of a block of rows by column and by row.
void encode_block(const RowBlock& block, const std::vector<CodeTable>& tables, TreeRows& binned) {
  const Index cols = std::ssize(binned.column);
  for (Index first = 0; first < block.x.rows(); first += coded_rows) {
    const Index count = std::min(coded_rows, block.x.rows() - first);
    for (Index j = 0; j < cols; ++j) {
      std::uint8_t* down = binned.by_column.data() + j * binned.rows + block.first + first;
      const double* x = block.x.row(first).data() + j;
      if (binned.column[at(j)].categorical)
        for (Index i = 0; i < count; ++i) down[i] = binned.column[at(j)].code(x[i * block.x.outerStride()]);
      else
        tables[at(j)].codes(x, block.x.outerStride(), count, down);
      std::uint8_t* across = binned.by_row.data() + (block.first + first) * cols + j;
      for (Index i = 0; i < count; ++i) across[i * cols] = down[i];
    }
  }
}

/// Gives all ranks the codes of all rows.
void share_codes(const Features& x, TreeRows& binned, const Context& context) {
  if (!context.meets_ranks()) return;
  const Index cols = std::ssize(binned.column);
  share_rows(x.blocks(), context, binned.by_row.data(), cols,
             [&](Index b) { return std::min(x.first_row(b), x.rows()); });
  parallel_rows(binned.rows, context, [&](Index first, Index last) {
    for (Index j = 0; j < cols; ++j)
      for (Index i = first; i < last; ++i) binned.by_column[at(j * binned.rows + i)] = binned.row(i)[j];
  });
}

}  // namespace

TreeRows bin_rows(const Features& x, ConstVectorView weight, std::span<const Index> categorical, int most,
                  const Context& context) {
  TreeRows binned;
  binned.rows = x.rows();
  const Index cols = x.cols();
  require_memory(2 * at(binned.rows) * at(cols), "trees", "two bytes per value", "use fewer rows or columns");
  binned.column.resize(at(cols));
  for (const Index j : categorical) binned.column[at(j)].categorical = true;
  const std::vector<std::uint32_t> masses = integer_weights(weight, binned.rows);
  set_edges(x, edge_sample(masses), most, binned.column, context);
  set_levels(x, masses, categorical, binned.column, context);
  binned.by_column.resize(at(binned.rows) * at(cols));
  binned.by_row.resize(binned.by_column.size());
  std::vector<CodeTable> tables;
  for (const TreeColumn& column : binned.column) tables.emplace_back(column.edge);
  each_row_block(x.blocks(), context, [&](Index b) {
    Scratch scratch;
    encode_block(x.block(b, scratch), tables, binned);
  });
  share_codes(x, binned, context);
  return binned;
}

}  // namespace ecotone
