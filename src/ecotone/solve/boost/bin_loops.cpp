#include "ecotone/solve/boost/bin_loops.h"

#include "ecotone/base/lanes.h"
#include "ecotone/base/simd.h"

namespace ecotone {
namespace {

using lanes::all;
using lanes::Four;
using lanes::load;
using lanes::Mask;
using lanes::store;

[[gnu::always_inline]] inline void scale_all(const std::uint8_t* code, const Histogram& factor, double least,
                                             double* weight, Index count) {
  Index i = 0;
  const Four low = {least, least, least, least};
  for (; i + 4 <= count; i += 4) {
    Four w;
    load(weight + i, w);
    w *= Four{factor[code[i]], factor[code[i + 1]], factor[code[i + 2]], factor[code[i + 3]]};
    w = w > low ? w : low;
    store(w, weight + i);
  }
  for (; i < count; ++i) {
    const double w = weight[i] * factor[code[i]];
    weight[i] = w > least ? w : least;
  }
}

[[gnu::always_inline]] inline void count_all(const double* weight, double limit, Index count, Index& above) {
  Mask sum = {0, 0, 0, 0};
  const Four t = {limit, limit, limit, limit};
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    Four w;
    load(weight + i, w);
    sum -= w >= t;
  }
  above = static_cast<Index>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  for (; i < count; ++i) above += weight[i] >= limit ? 1 : 0;
}

}  // namespace

void add_to_bins(const std::uint8_t* code, const double* weight, Index count, Histogram& bins) {
  // Four histograms in turn: consecutive rows in the same bin do not wait for each other.
  Histogram parts[4] = {};
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    for (Index k = 0; k < 4; ++k) parts[k][code[i + k]] += weight[i + k];
  }
  for (; i < count; ++i) parts[0][code[i]] += weight[i];
  for (std::size_t c = 0; c < bins.size(); ++c) bins[c] += (parts[0][c] + parts[1][c]) + (parts[2][c] + parts[3][c]);
}

void scale_by_bins(const std::uint8_t* code, const Histogram& factor, double least, double* weight, Index count) {
  run_wide_exactly<scale_all>(code, factor, least, weight, count);
}

Index count_above(const double* weight, double limit, Index count) {
  Index above = 0;
  run_wide_exactly<count_all>(weight, limit, count, above);
  return above;
}

double sum_above(const double* weight, const double* first, double limit, Index count) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += weight[i] >= limit * first[i] ? first[i] : 0.0;
  return sum;
}

}  // namespace ecotone
