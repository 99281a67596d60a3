#include "ecotone/linalg/tile_product.h"

#include <array>
#include <cstring>

namespace ecotone {
namespace {

/// Half a row of a panel, as one vector of the processor (or two).
using Half = double __attribute__((vector_size(32)));
constexpr Index half = 4;

[[gnu::always_inline]] inline void load(const double* from, Half& v) { std::memcpy(&v, from, sizeof v); }
[[gnu::always_inline]] inline void store(const Half& v, double* to) { std::memcpy(to, &v, sizeof v); }

enum class Sides { one, both };

/// Rows [r, r + count) of the tile: a row of A against all of `right`, and its outer product into `across`.
template <int count, Sides sides>
[[gnu::always_inline]] inline void some_rows(const double* a, Index stride, Index cols, const double* __restrict right,
                                             const double* __restrict left, double* __restrict down,
                                             double* __restrict across) {
  std::array<Half, 2 * count> sum;
  std::array<Half, 2 * count> from_left;
  for (int q = 0; q < 2 * count; ++q) {
    load(down + q * half, sum[static_cast<std::size_t>(q)]);
    if constexpr (sides == Sides::both) load(left + q * half, from_left[static_cast<std::size_t>(q)]);
  }
  for (Index c = 0; c < cols; ++c) {
    Half r0, r1, x0, x1;
    load(right + c * panel_cols, r0);
    load(right + c * panel_cols + half, r1);
    if constexpr (sides == Sides::both) {
      load(across + c * panel_cols, x0);
      load(across + c * panel_cols + half, x1);
    }
    for (int q = 0; q < count; ++q) {
      const auto s = static_cast<std::size_t>(2 * q);
      const double value = a[q * stride + c];
      sum[s] += value * r0;
      sum[s + 1] += value * r1;
      if constexpr (sides == Sides::both) {
        x0 += value * from_left[s];
        x1 += value * from_left[s + 1];
      }
    }
    if constexpr (sides == Sides::both) {
      store(x0, across + c * panel_cols);
      store(x1, across + c * panel_cols + half);
    }
  }
  for (int q = 0; q < 2 * count; ++q) store(sum[static_cast<std::size_t>(q)], down + q * half);
}

template <Sides sides>
[[gnu::always_inline]] inline void all_rows(const double* a, Index stride, Index rows, Index cols, const double* right,
                                            const double* left, double* down, double* across) {
  constexpr int at_once = sides == Sides::both ? 2 : 4;
  Index r = 0;
  for (; r + at_once <= rows; r += at_once)
    some_rows<at_once, sides>(a + r * stride, stride, cols, right, left + r * panel_cols, down + r * panel_cols,
                              across);
  for (; r < rows; ++r)
    some_rows<1, sides>(a + r * stride, stride, cols, right, left + r * panel_cols, down + r * panel_cols, across);
}

template <Sides sides>
void plain_rows(const double* a, Index stride, Index rows, Index cols, const double* right, const double* left,
                double* down, double* across) {
  all_rows<sides>(a, stride, rows, cols, right, left, down, across);
}

#if defined(__x86_64__)
template <Sides sides>
[[gnu::target("avx2,fma")]] void wide_rows(const double* a, Index stride, Index rows, Index cols, const double* right,
                                           const double* left, double* down, double* across) {
  all_rows<sides>(a, stride, rows, cols, right, left, down, across);
}
#endif

template <Sides sides>
void rows_for_processor(ConstMatrixView a, const double* right, const double* left, double* down, double* across) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return wide_rows<sides>(a.data(), a.outerStride(), a.rows(), a.cols(), right, left, down, across);
#endif
  plain_rows<sides>(a.data(), a.outerStride(), a.rows(), a.cols(), right, left, down, across);
}

}  // namespace

void add_tile_product(ConstMatrixView a, const double* right, double* down) {
  // The left side is not read.
  rows_for_processor<Sides::one>(a, right, right, down, nullptr);
}

void add_tile_products(ConstMatrixView a, const double* right, const double* left, double* down, double* across) {
  rows_for_processor<Sides::both>(a, right, left, down, across);
}

}  // namespace ecotone
