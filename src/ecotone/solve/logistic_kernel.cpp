#include "ecotone/solve/logistic_kernel.h"

#include <bit>
#include <cmath>

namespace ecotone {
namespace {

/// exp(x) for -708 <= x <= 0: 2^k exp(r), |r| <= ln(2)/2, by its series.
[[gnu::always_inline]] inline double exp_of(double x) {
  constexpr double to_integer = 6755399441055744.0;  // 1.5 2^52: adding it rounds to an integer
  const double shifted = x * 1.4426950408889634 + to_integer;
  const double k = shifted - to_integer;
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  // The integer k stands in the low bits of `shifted`; moved to the exponent it is 2^k.
  const auto power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
  return sum * power;
}

/// ln(1 + e) = 2 artanh(e / (2 + e)) for 0 <= e <= 1: no digit is lost for small e.
[[gnu::always_inline]] inline double log_one_plus(double e) {
  const double f = e / (2.0 + e);
  const double q = f * f;
  double sum = 1.0 / 33.0;
  sum = sum * q + 1.0 / 31.0;
  sum = sum * q + 1.0 / 29.0;
  sum = sum * q + 1.0 / 27.0;
  sum = sum * q + 1.0 / 25.0;
  sum = sum * q + 1.0 / 23.0;
  sum = sum * q + 1.0 / 21.0;
  sum = sum * q + 1.0 / 19.0;
  sum = sum * q + 1.0 / 17.0;
  sum = sum * q + 1.0 / 15.0;
  sum = sum * q + 1.0 / 13.0;
  sum = sum * q + 1.0 / 11.0;
  sum = sum * q + 1.0 / 9.0;
  sum = sum * q + 1.0 / 7.0;
  sum = sum * q + 1.0 / 5.0;
  sum = sum * q + 1.0 / 3.0;
  sum = sum * q + 1.0;
  return 2.0 * f * sum;
}

[[gnu::always_inline]] inline void all_rows(const std::int32_t* __restrict cls, const double* __restrict score,
                                            double* __restrict margin, double* __restrict loss,
                                            double* __restrict slope, double* __restrict curvature, Index count) {
  for (Index i = 0; i < count; ++i) {
    const double y = 2.0 * static_cast<double>(cls[i]) - 1.0;
    const double m = y * score[i];
    const double size = std::abs(m);
    // A score that is not a number stays one: the comparison is false for it.
    const double e = exp_of(size > 708.0 ? -708.0 : -size);
    const double part = 1.0 / (1.0 + e);
    // ln(1 + exp(-m)) = ln(1 + exp(-|m|)) + max(-m, 0)
    margin[i] = m;
    loss[i] = log_one_plus(e) + (m < 0.0 ? -m : 0.0);
    // d loss / dm = -1 / (1 + exp(m)), d2 = exp(-|m|) / (1 + exp(-|m|))^2
    slope[i] = -y * (m < 0.0 ? part : e * part);
    curvature[i] = e * part * part;
  }
}

void plain_rows(const LogisticRows& r, Index count) {
  all_rows(r.cls, r.score, r.margin, r.loss, r.slope, r.curvature, count);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void wide_rows(const LogisticRows& r, Index count) {
  all_rows(r.cls, r.score, r.margin, r.loss, r.slope, r.curvature, count);
}
#endif

}  // namespace

void logistic_rows(const LogisticRows& rows, Index count) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return wide_rows(rows, count);
#endif
  plain_rows(rows, count);
}

}  // namespace ecotone
