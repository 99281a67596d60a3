#include "ecotone/linalg/tile_product.h"

#include <cstring>

#include "ecotone/base/lanes.h"
#include "ecotone/base/simd.h"

namespace ecotone {
namespace {

/// Vectors of 2, 4 and 8 values: a row of a panel is four, two or one of them.
using lanes::Eight;
using lanes::Four;
using lanes::Two;

enum class Sides { one, both };

/// A few vectors that stay in registers: indices must be constants, so loops over them are written as recursions.
template <class V, int size>
struct Registers {
  V first;
  Registers<V, size - 1> rest;

  [[gnu::always_inline]] void load(const double* from) {
    std::memcpy(&first, from, sizeof(V));
    rest.load(from + sizeof(V) / sizeof(double));
  }
  [[gnu::always_inline]] void store(double* to) const {
    std::memcpy(to, &first, sizeof(V));
    rest.store(to + sizeof(V) / sizeof(double));
  }
  /// this += value other
  [[gnu::always_inline]] void add(double value, const Registers& other) {
    lanes::add_product<(sizeof(V) > sizeof(Two))>(value, other.first, first);  // wider vectors come with FMA
    rest.add(value, other.rest);
  }
};
template <class V>
struct Registers<V, 0> {
  [[gnu::always_inline]] void load(const double*) {}
  [[gnu::always_inline]] void store(double*) const {}
  [[gnu::always_inline]] void add(double, const Registers&) {}
};

/// A row of a panel.
template <class V>
using PanelRow = Registers<V, static_cast<int>(panel_cols * sizeof(double) / sizeof(V))>;

/// Some rows of a tile, with the corresponding rows of the panels.
template <class V, int count, Sides sides>
struct TileRows {
  PanelRow<V> sum;
  PanelRow<V> left;
  TileRows<V, count - 1, sides> rest;

  [[gnu::always_inline]] void load(const double* down, const double* from_left) {
    sum.load(down);
    if constexpr (sides == Sides::both) left.load(from_left);
    rest.load(down + panel_cols, from_left + panel_cols);
  }
  [[gnu::always_inline]] void store(double* down) const {
    sum.store(down);
    rest.store(down + panel_cols);
  }
  /// The entries of one column: against its row of `right`, and into its row of `across`.
  [[gnu::always_inline]] void column(const double* a, Index stride, const PanelRow<V>& right, PanelRow<V>& across) {
    sum.add(*a, right);
    if constexpr (sides == Sides::both) across.add(*a, left);
    rest.column(a + stride, stride, right, across);
  }
};
template <class V, Sides sides>
struct TileRows<V, 0, sides> {
  [[gnu::always_inline]] void load(const double*, const double*) {}
  [[gnu::always_inline]] void store(double*) const {}
  [[gnu::always_inline]] void column(const double*, Index, const PanelRow<V>&, PanelRow<V>&) {}
};

/// Some rows of the tile: each against all of `right`, and its outer product into `across`.
template <class V, int count, Sides sides>
[[gnu::always_inline]] inline void some_rows(const double* a, Index stride, Index cols, const double* __restrict right,
                                             const double* __restrict left, double* __restrict down,
                                             double* __restrict across) {
  TileRows<V, count, sides> rows;
  rows.load(down, left);
  for (Index c = 0; c < cols; ++c) {
    PanelRow<V> from_right, into_across;
    from_right.load(right + c * panel_cols);
    if constexpr (sides == Sides::both) into_across.load(across + c * panel_cols);
    rows.column(a + c, stride, from_right, into_across);
    if constexpr (sides == Sides::both) into_across.store(across + c * panel_cols);
  }
  rows.store(down);
}

template <class V, int at_once, Sides sides>
[[gnu::always_inline]] inline void all_rows(const double* a, Index stride, Index rows, Index cols, const double* right,
                                            const double* left, double* down, double* across) {
  Index r = 0;
  for (; r + at_once <= rows; r += at_once)
    some_rows<V, at_once, sides>(a + r * stride, stride, cols, right, left + r * panel_cols, down + r * panel_cols,
                                 across);
  for (; r < rows; ++r)
    some_rows<V, 1, sides>(a + r * stride, stride, cols, right, left + r * panel_cols, down + r * panel_cols, across);
}

// As many rows at once as the registers of the processor hold.
template <Sides sides>
void plain_rows(const double* a, Index stride, Index rows, Index cols, const double* right, const double* left,
                double* down, double* across) {
  all_rows<Two, 1, sides>(a, stride, rows, cols, right, left, down, across);
}

#if defined(__x86_64__)
template <Sides sides>
[[gnu::target("avx2,fma")]] void wide_rows(const double* a, Index stride, Index rows, Index cols, const double* right,
                                           const double* left, double* down, double* across) {
  all_rows<Four, sides == Sides::both ? 2 : 4, sides>(a, stride, rows, cols, right, left, down, across);
}

template <Sides sides>
[[gnu::target("avx512f")]] void widest_rows(const double* a, Index stride, Index rows, Index cols, const double* right,
                                            const double* left, double* down, double* across) {
  all_rows<Eight, 8, sides>(a, stride, rows, cols, right, left, down, across);
}
#endif

using Rows = void (*)(const double*, Index, Index, Index, const double*, const double*, double*, double*);

template <Sides sides>
Rows rows_for_processor() {
#if defined(__x86_64__)
  if (may_use(Instructions::avx512)) return widest_rows<sides>;
  if (may_use(Instructions::avx2)) return wide_rows<sides>;
#endif
  return plain_rows<sides>;
}

}  // namespace

void add_tile_product(ConstMatrixView a, const double* right, double* down) {
  static const Rows rows = rows_for_processor<Sides::one>();
  // The left side is not read.
  rows(a.data(), a.outerStride(), a.rows(), a.cols(), right, down, down, nullptr);
}

void add_tile_products(ConstMatrixView a, const double* right, const double* left, double* down, double* across) {
  static const Rows rows = rows_for_processor<Sides::both>();
  rows(a.data(), a.outerStride(), a.rows(), a.cols(), right, left, down, across);
}

}  // namespace ecotone
