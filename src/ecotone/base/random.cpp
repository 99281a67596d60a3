#include "ecotone/base/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// The finaliser of SplitMix64: every bit of the input reaches every bit of the output, one to one.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// log k!, by Stirling's series from k = 10 on: std::lgamma differs between C libraries (and writes a global).
double log_factorial(double k) {
  if (k < 10) {
    double product = 1;
    for (int i = 2; i <= static_cast<int>(k); ++i) product *= i;
    return std::log(product);
  }
  const double x = k + 1;
  const double r = 1 / (x * x);
  // log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + 1/(12 x) - 1/(360 x^3) + 1/(1260 x^5) - 1/(1680 x^7)
  const double tail = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / x;
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + tail;
}

std::int64_t poisson_by_inversion(double u, double mean) {
  double p = std::exp(-mean);
  double cumulative = p;
  std::int64_t k = 0;
  // Below mean 30 the distribution has no mass beyond 1000 that a 53-bit uniform could reach; the bound guards against
  // rounding.
  while (u >= cumulative && k < 1000) {
    ++k;
    p *= mean / static_cast<double>(k);
    cumulative += p;
  }
  return k;
}

/// Hormann (1993), transformed rejection with squeeze (PTRS), for mean >= 10.
std::int64_t poisson_by_rejection(Random& random, double mean) {
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = random.uniform() - 0.5;
    const double v = random.uniform();
    const double us = 0.5 - std::abs(u);
    if (us == 0) continue;
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    // v alpha^-1 / (a / us^2 + b) <= exp(-mean) mean^k / k!
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= -mean + k * log_mean - log_factorial(k))
      return static_cast<std::int64_t>(k);
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ULL * counter[0];
    const std::uint64_t p1 = 0xCD9E8D57ULL * counter[2];
    counter = {high_word(p1) ^ counter[1] ^ key[0], low_word(p1), high_word(p0) ^ counter[3] ^ key[1], low_word(p0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

std::uint64_t hash_text(std::string_view text, std::uint64_t start) {
  std::uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

Random::Random(std::uint64_t seed, std::string_view purpose, std::uint64_t block) : buffer_{} {
  // The Philox key comes from (seed, purpose); the upper half of the counter is the block, so that blocks of one
  // purpose never overlap: each has 2^64 counters of its own.
  const std::uint64_t key = mix(hash_text(purpose) ^ mix(seed + 0x9e3779b97f4a7c15ULL));
  key_ = {low_word(key), high_word(key)};
  counter_ = {0, 0, low_word(block), high_word(block)};
}

std::uint32_t Random::next_word() {
  if (used_ == 4) {
    buffer_ = philox(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return buffer_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Random::bits() {
  const std::uint64_t low = next_word();
  return (static_cast<std::uint64_t>(next_word()) << 32) | low;
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::uniform(double low, double high) {
  const double x = low + (high - low) * uniform();
  // The sum may round up to `high`.
  return x < high ? x : (low < high ? std::nextafter(high, low) : low);
}

std::uint64_t Random::below(std::uint64_t n) {
  if (n == 0) internal_error("random: below(0)");
  // The first 2^64 mod n values are rejected so that all remainders are equally likely.
  const std::uint64_t refused = (0 - n) % n;
  for (;;) {
    const std::uint64_t x = bits();
    if (x >= refused) return x % n;
  }
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  // 1 - u is in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::int64_t Random::poisson(double mean) {
  if (!(mean >= 0) || mean > 0x1p62) internal_error("random: a Poisson mean of {}", mean);
  if (mean == 0) return 0;
  return mean < 30 ? poisson_by_inversion(uniform(), mean) : poisson_by_rejection(*this, mean);
}

std::vector<Index> Random::permutation(Index n) { return sample(n, n); }

std::vector<Index> Random::sample(Index n, Index k) {
  if (k < 0 || k > n) internal_error("random: {} different numbers out of {}", k, n);
  std::vector<Index> chosen(static_cast<std::size_t>(k));
  if (k > n / 8) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), Index{0});
    for (Index i = 0; i < k; ++i) {
      const Index j = i + static_cast<Index>(below(static_cast<std::uint64_t>(n - i)));
      std::swap(all[at(i)], all[at(j)]);
      chosen[at(i)] = all[at(i)];
    }
    return chosen;
  }
  // The same shuffle and the same draws, but only the positions that moved are stored.
  std::unordered_map<Index, Index> moved;
  const auto value_at = [&](Index i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  for (Index i = 0; i < k; ++i) {
    const Index j = i + static_cast<Index>(below(static_cast<std::uint64_t>(n - i)));
    chosen[at(i)] = value_at(j);
    moved[j] = value_at(i);
  }
  return chosen;
}

}  // namespace ecotone
