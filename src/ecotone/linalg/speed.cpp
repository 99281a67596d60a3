#include "ecotone/linalg/speed.h"

#include <algorithm>
#include <chrono>

#include "ecotone/base/lanes.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

using Clock = std::chrono::steady_clock;

using lanes::Eight;
using lanes::Four;
using lanes::Two;

constexpr Index chains = 10;  // independent chains: more than are in flight at once, fewer than there are registers
constexpr Index rounds = 20'000;

/// Values unknown to the compiler, so that it cannot drop any operation, and a place for the result.
volatile double unknown[chains + 2] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.5, 1.0};
volatile double result = 0;

template <class V>
[[gnu::always_inline]] inline void multiply_and_add() {
  const V zero = {};
  V a0 = zero + unknown[0], a1 = zero + unknown[1], a2 = zero + unknown[2], a3 = zero + unknown[3],
    a4 = zero + unknown[4], a5 = zero + unknown[5], a6 = zero + unknown[6], a7 = zero + unknown[7],
    a8 = zero + unknown[8], a9 = zero + unknown[9];
  const V factor = zero + unknown[10], term = zero + unknown[11];
  for (Index i = 0; i < rounds; ++i) {
    a0 = a0 * factor + term;
    a1 = a1 * factor + term;
    a2 = a2 * factor + term;
    a3 = a3 * factor + term;
    a4 = a4 * factor + term;
    a5 = a5 * factor + term;
    a6 = a6 * factor + term;
    a7 = a7 * factor + term;
    a8 = a8 * factor + term;
    a9 = a9 * factor + term;
  }
  const V sum = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)) + (a8 + a9);
  for (std::size_t lane = 0; lane < sizeof(V) / sizeof(double); ++lane) result = result + sum[lane];
}

void with_sse2() { multiply_and_add<Two>(); }
#if defined(__x86_64__)
[[gnu::target("avx")]] void with_avx() { multiply_and_add<Four>(); }
[[gnu::target("avx2,fma")]] void with_avx2() { multiply_and_add<Four>(); }
[[gnu::target("avx512f")]] void with_avx512() { multiply_and_add<Eight>(); }
#endif

struct Peak {
  void (*run)();
  Index width;
};

Peak peak_of(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return {with_avx512, 8};
  if (instructions == Instructions::avx2) return {with_avx2, 4};
  if (instructions == Instructions::avx) return {with_avx, 4};
#endif
  return {with_sse2, 2};
}

/// The best rate of `run`, which performs the given number of operations, over about a tenth of a second: other
/// programs only slow it down.
template <class Run>
double best_rate(double operations, Run&& run) {
  run();
  double best = 0;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(100);
  for (Clock::time_point begin = Clock::now(); begin < end;) {
    run();
    const Clock::time_point now = Clock::now();
    best = std::max(best, operations / std::chrono::duration<double>(now - begin).count());
    begin = now;
  }
  return best / 1e9;
}

}  // namespace

ProductSpeed measure_product_speed() {
  constexpr Index n = 640;
  const Matrix a = Matrix::Constant(n, n, 1.5), b = Matrix::Constant(n, n, 0.5);
  Matrix c(n, n);
  const Peak peak = peak_of(processor_instructions());
  return {.product = best_rate(2.0 * n * n * n, [&] { multiply(a, b, c); }),
          .peak = best_rate(2.0 * static_cast<double>(chains * rounds * peak.width), peak.run)};
}

}  // namespace ecotone
