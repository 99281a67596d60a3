#include "ecotone/linalg/tile_product.h"

#include <cstring>

namespace ecotone {
namespace {

/// Vectors of 4 and of 8 numbers: a row of a panel is two or one of them.
using Four = double __attribute__((vector_size(32)));
using Eight = double __attribute__((vector_size(64)));

enum class Sides { one, both };

/// Some rows of the tile: each against all of `right`, and its outer product into `across`.
template <class V, int count, Sides sides>
[[gnu::always_inline]] inline void some_rows(const double* a, Index stride, Index cols, const double* __restrict right,
                                             const double* __restrict left, double* __restrict down,
                                             double* __restrict across) {
  constexpr int lanes = sizeof(V) / sizeof(double);
  constexpr int parts = panel_cols / lanes;
  V sum[count * parts];
  V from_left[count * parts];
  for (int q = 0; q < count * parts; ++q) {
    std::memcpy(&sum[q], down + q * lanes, sizeof(V));
    if constexpr (sides == Sides::both) std::memcpy(&from_left[q], left + q * lanes, sizeof(V));
  }
  for (Index c = 0; c < cols; ++c) {
    V r[parts];
    V x[parts];
    std::memcpy(&r, right + c * panel_cols, sizeof r);
    if constexpr (sides == Sides::both) std::memcpy(&x, across + c * panel_cols, sizeof x);
    for (int q = 0; q < count; ++q) {
      const double value = a[q * stride + c];
      for (int p = 0; p < parts; ++p) {
        sum[q * parts + p] += value * r[p];
        if constexpr (sides == Sides::both) x[p] += value * from_left[q * parts + p];
      }
    }
    if constexpr (sides == Sides::both) std::memcpy(across + c * panel_cols, &x, sizeof x);
  }
  for (int q = 0; q < count * parts; ++q) std::memcpy(down + q * lanes, &sum[q], sizeof(V));
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
  all_rows<Four, 1, sides>(a, stride, rows, cols, right, left, down, across);
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
  if (__builtin_cpu_supports("avx512f")) return widest_rows<sides>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return wide_rows<sides>;
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
