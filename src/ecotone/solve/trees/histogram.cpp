#include "ecotone/solve/trees/histogram.h"

#include <algorithm>
#include <mutex>

namespace ecotone {

namespace {

/// g, and h with the number of rows above it: two additions in one instruction. The sum of h over 2^16 rows is at most
/// 2^46, so it never reaches the number.
struct PackedSums {
  [[gnu::vector_size(16)]] std::int64_t value = {0, 0};
};
constexpr int rows_shift = 47;
constexpr Index rows_at_once = 1 << 16;

constexpr Index columns_at_once = 32;  // their packed sums stay in the second-level cache
constexpr Index encoded_at_once = 1 << 14;
constexpr Index ahead = 24;  // rows whose codes are fetched before they are needed

/// Adds packed sums of `columns` columns.
void add_packed(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows, Index first,
                Index columns, PackedSums* cells) {
  const Index count = std::ssize(rows);
  constexpr std::int64_t one = std::int64_t{1} << rows_shift;
  for (Index i = 0; i < count; ++i) {
    if (i + ahead < count) {
      const std::uint32_t next = rows[at(i + ahead)];
      __builtin_prefetch(data.row(next) + first);
      __builtin_prefetch(gradients.row.data() + next);
    }
    const std::uint8_t* code = data.row(rows[at(i)]) + first;
    const Gradients::Row own = gradients.row[rows[at(i)]];
    const PackedSums sums{{own.g, own.h + one}};
    for (Index k = 0; k < columns; ++k) cells[k * cells_per_column + code[k]].value += sums.value;
  }
}

GradientSums unpacked(const PackedSums& packed) {
  constexpr std::int64_t h_bits = (std::int64_t{1} << rows_shift) - 1;
  const auto second = static_cast<std::uint64_t>(packed.value[1]);
  return {packed.value[0], packed.value[1] & h_bits, static_cast<Index>(second >> rows_shift)};
}

}  // namespace

Gradients Gradients::of(ConstVectorView first, ConstVectorView second, const Context& context) {
  Gradients result;
  const Index n = first.size();
  result.g_scale = FixedPoint::of(n == 0 ? 0 : first.cwiseAbs().maxCoeff());
  result.h_scale = FixedPoint::of(n == 0 ? 0 : second.maxCoeff());
  result.row.resize(at(n));
  context.parallel((n + encoded_at_once - 1) / encoded_at_once, [&](Index b) {
    for (Index i = b * encoded_at_once; i < std::min(n, (b + 1) * encoded_at_once); ++i)
      result.row[at(i)] = {result.g_scale.encode(first[i]), result.h_scale.encode(second[i])};
  });
  return result;
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

GradientHistogram histogram_of(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows,
                               const Context& context) {
  const Index columns = std::ssize(data.column);
  GradientHistogram histogram{std::vector<GradientSums>(at(columns * cells_per_column))};
  const Index groups = std::max<Index>(
      {(columns + columns_at_once - 1) / columns_at_once, std::min<Index>(context.threads(), columns / 8), Index{1}});
  const Index parts = std::max<Index>(1, (std::ssize(rows) + rows_at_once - 1) / rows_at_once);
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

}  // namespace ecotone
