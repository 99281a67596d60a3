#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// A counter-based random stream (Philox 4x32, 10 rounds) keyed by (seed, purpose, block).
///
/// Streams with different keys are independent, and the draws of a stream depend on its key alone, never on the thread
/// that runs it. All distributions are implemented here, so that draws do not depend on the standard library. A stream
/// is cheap to make: make one per block instead of sharing one.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view purpose, std::uint64_t block = 0);

  /// 64 random bits.
  std::uint64_t bits();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high);
  /// Uniform over 0 .. n-1 without bias; n >= 1.
  std::uint64_t below(std::uint64_t n);
  /// Standard normal (Box-Muller, both values used).
  double normal();
  /// Poisson with mean >= 0 (inversion below 30, Hormann's PTRS above).
  std::int64_t poisson(double mean);
  /// Uniform permutation of 0 .. n-1 (Fisher-Yates).
  std::vector<Index> permutation(Index n);
  /// k distinct numbers out of 0 .. n-1, in random order; 0 <= k <= n.
  std::vector<Index> sample(Index n, Index k);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> buffer_;
  int used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0;

  std::uint32_t next_word();
};

/// Philox 4x32-10 itself, for tests against the published vectors.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// FNV-1a, 64 bits: the hash behind stream keys.
std::uint64_t hash_text(std::string_view text, std::uint64_t start = 14695981039346656037ULL);

}  // namespace ecotone
