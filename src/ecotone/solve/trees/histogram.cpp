#include "ecotone/solve/trees/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string_view>

#include "ecotone/base/simd.h"

namespace ecotone {

namespace {

/// g, and h with the number of rows above it: two additions in one instruction. The sum of h over fewer than 2^16 rows
/// is below 2^46, so it never reaches the number, and that stays below 2^63.
struct PackedSums {
  [[gnu::vector_size(16)]] std::int64_t value = {0, 0};
};
constexpr int rows_shift = 47;
constexpr Index shared_rows = 32'768;  // that ranks sum together, at least
constexpr Index rows_at_once = (1 << 16) - 1;

constexpr Index columns_at_once = 32;  // of a task
constexpr Index narrow = 10;           // columns that are summed in one loop
constexpr Index rows_in_turn = 2048;   // whose codes stay at hand while the loops take turns
constexpr Index encoded_at_once = 1 << 14;
constexpr Index ahead = 24;  // rows whose codes are fetched before they are needed

/// Adds packed sums of `width` columns.
template <int width>
void add_narrow(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows, Index first,
                PackedSums* cells) {
  constexpr std::int64_t one = std::int64_t{1} << rows_shift;
  const std::uint8_t* codes = data.by_row.data() + first;
  const Index columns = std::ssize(data.column), count = std::ssize(rows);
  const auto add = [&](Index i) {
    const std::uint32_t r = rows[at(i)];
    const std::uint8_t* code = codes + r * columns;
    const Gradients::Row own = gradients.row[r];
    const PackedSums sums{{own.g, own.h + one}};
    for (int k = 0; k < width; ++k) cells[k * cells_per_column + code[k]].value += sums.value;
  };
  const Index fetched = std::max<Index>(0, count - ahead);
  for (Index i = 0; i < fetched; ++i) {
    const std::uint32_t next = rows[at(i + ahead)];
    __builtin_prefetch(codes + next * columns);
    __builtin_prefetch(gradients.row.data() + next);
    add(i);
  }
  for (Index i = fetched; i < count; ++i) add(i);
}

/// Adds packed sums of `columns` columns.
void add_packed(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows, Index first,
                Index columns, PackedSums* cells) {
  constexpr std::array add{add_narrow<1>, add_narrow<2>, add_narrow<3>, add_narrow<4>, add_narrow<5>,
                           add_narrow<6>, add_narrow<7>, add_narrow<8>, add_narrow<9>, add_narrow<10>};
  static_assert(std::ssize(add) == narrow);
  const Index groups = (columns + narrow - 1) / narrow;
  for (Index begin = 0; begin < std::ssize(rows); begin += rows_in_turn) {
    const auto some = rows.subspan(at(begin), at(std::min(rows_in_turn, std::ssize(rows) - begin)));
    for (Index group = 0; group < groups; ++group) {
      const Index left = group * columns / groups, right = (group + 1) * columns / groups;
      add[at(right - left - 1)](data, gradients, some, first + left, cells + left * cells_per_column);
    }
  }
}

GradientSums unpacked(const PackedSums& packed) {
  constexpr std::int64_t h_bits = (std::int64_t{1} << rows_shift) - 1;
  const auto second = static_cast<std::uint64_t>(packed.value[1]);
  return {packed.value[0], packed.value[1] & h_bits, static_cast<Index>(second >> rows_shift)};
}

}  // namespace

namespace {

/// Largest |first| and second derivative.
[[gnu::always_inline]] inline void largest_of(const double* first, const double* second, Index count, double& g,
                                              double& h) {
  double most[2][4] = {};
  Index i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; ++k) {
      most[0][k] = std::max(most[0][k], std::abs(first[i + k]));
      most[1][k] = std::max(most[1][k], second[i + k]);
    }
  for (; i < count; ++i) {
    most[0][0] = std::max(most[0][0], std::abs(first[i]));
    most[1][0] = std::max(most[1][0], second[i]);
  }
  g = *std::max_element(most[0], most[0] + 4);
  h = *std::max_element(most[1], most[1] + 4);
}

/// Largest |first| and second derivative.
using Largest = std::array<double, 2>;

/// Those of all ranks.
Largest largest_of_ranks(Largest own, const Context& context) {
  const std::string_view bytes(reinterpret_cast<const char*>(own.data()), sizeof own);
  const RankTexts texts = context.ranks().gather_shares("largest derivatives", 0, bytes);
  for (std::size_t r = 0; r < texts.size(); ++r) {
    Largest other;
    std::memcpy(other.data(), texts[r].data(), sizeof other);
    for (std::size_t k = 0; k < own.size(); ++k) own[k] = std::max(own[k], other[k]);
  }
  return own;
}

[[gnu::always_inline]] inline void encode_all(const double* first, const double* second, Index count,
                                              const FixedPoint& g_scale, const FixedPoint& h_scale,
                                              Gradients::Row* rows) {
  for (Index i = 0; i < count; ++i) rows[i] = {g_scale.encode(first[i]), h_scale.encode(second[i])};
}

}  // namespace

Gradients Gradients::of(ConstVectorView first, ConstVectorView second, const RankRows& rows, const Context& context) {
  Gradients result;
  result.rows = rows;
  const Share own = rows.own;
  const Index blocks = (own.last - own.first + encoded_at_once - 1) / encoded_at_once;
  const auto begin_of = [&](Index b) { return own.first + b * encoded_at_once; };
  const auto count_of = [&](Index b) { return std::min(encoded_at_once, own.last - begin_of(b)); };
  std::vector<double> g(at(blocks) + 1, 0.0), h(at(blocks) + 1, 0.0);
  context.parallel(blocks, [&](Index b) {
    const Index begin = begin_of(b);
    run_wide_exactly<largest_of>(first.data() + begin, second.data() + begin, count_of(b), g[at(b)], h[at(b)]);
  });
  Largest largest = {*std::ranges::max_element(g), *std::ranges::max_element(h)};
  if (rows.divided) largest = largest_of_ranks(largest, context);
  result.g_scale = FixedPoint::of(largest[0]);
  result.h_scale = FixedPoint::of(largest[1]);
  result.row.resize(at(first.size()));
  context.parallel(blocks, [&](Index b) {
    const Index begin = begin_of(b);
    run_wide_exactly<encode_all>(first.data() + begin, second.data() + begin, count_of(b), result.g_scale,
                                 result.h_scale, result.row.data() + begin);
  });
  return result;
}

void sum_over_ranks(std::string_view what, std::span<GradientSums> sums, const Context& context) {
  static_assert(sizeof(GradientSums) == 3 * sizeof(std::int64_t) && sizeof(Index) == sizeof(std::int64_t));
  context.ranks().sum(what, {reinterpret_cast<std::int64_t*>(sums.data()), 3 * sums.size()});
}

GradientSums GradientHistogram::total() const {
  GradientSums sum;
  for (int code = 0; code < cells_per_column; ++code) sum += cell[at(code)];
  return sum;
}

void GradientHistogram::subtract(const GradientHistogram& other, const Context& context) {
  const Index columns = std::ssize(cell) / cells_per_column;
  context.parallel((columns + columns_at_once - 1) / columns_at_once, [&](Index b) {
    const Index last = std::min(columns, (b + 1) * columns_at_once) * cells_per_column;
    for (Index c = b * columns_at_once * cells_per_column; c < last; ++c) cell[at(c)] -= other.cell[at(c)];
  });
}

namespace {

GradientHistogram histogram_here(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows,
                                 const Context& context) {
  const Index columns = std::ssize(data.column);
  GradientHistogram histogram{std::vector<GradientSums>(at(columns * cells_per_column))};
  const Index parts = std::max<Index>(1, (std::ssize(rows) + rows_at_once - 1) / rows_at_once);
  // Of few rows, threads take some columns each.
  const Index sides = parts < context.threads() ? std::min<Index>(context.threads(), columns / 8) : 1;
  const Index groups = std::max<Index>({(columns + columns_at_once - 1) / columns_at_once, sides, 1});
  std::vector<std::mutex> adding(at(groups));
  context.parallel(groups * parts, [&](Index task) {
    const Index group = task % groups, part = task / groups;
    const Index first = group * columns / groups, last = (group + 1) * columns / groups;
    const Index begin = part * std::ssize(rows) / parts, end = (part + 1) * std::ssize(rows) / parts;
    std::vector<PackedSums> packed(at((last - first) * cells_per_column));
    add_packed(data, gradients, rows.subspan(at(begin), at(end - begin)), first, last - first, packed.data());
    const std::lock_guard lock(adding[at(group)]);
    GradientSums* cell = histogram.cell.data() + first * cells_per_column;
    for (std::size_t c = 0; c < packed.size(); ++c) cell[c] += unpacked(packed[c]);
  });
  return histogram;
}

}  // namespace

GradientHistogram histogram_of_ranks(const TreeRows& data, const Gradients& gradients,
                                     std::span<const std::uint32_t> rows, const Context& context) {
  GradientHistogram histogram = histogram_here(data, gradients, rows, context);
  sum_over_ranks("histogram", histogram.cell, context);
  return histogram;
}

GradientHistogram histogram_of(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows,
                               const Context& context) {
  const auto count = std::ssize(rows);
  // Of few rows, to send the sums takes longer than to make them.
  if (!context.meets_ranks() || count < shared_rows) return histogram_here(data, gradients, rows, context);
  const Ranks& ranks = context.ranks();
  const Share own = groups_of_rank(count, ranks.rank(), ranks.size());
  return histogram_of_ranks(data, gradients, rows.subspan(at(own.first), at(own.last - own.first)), context);
}

}  // namespace ecotone
