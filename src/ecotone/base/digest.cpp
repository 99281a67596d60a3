#include "ecotone/base/digest.h"

#include <bit>
#include <cstring>

namespace ecotone {

namespace {

constexpr std::uint64_t first_factor = 0x87c37b91114253d5ULL;
constexpr std::uint64_t second_factor = 0x4cf5ad432745937fULL;
constexpr std::size_t digest_block = 16;

void mix(std::array<std::uint64_t, 2>& h, std::uint64_t low, std::uint64_t high) {
  h[0] ^= std::rotl(low * first_factor, 31) * second_factor;
  h[0] = (std::rotl(h[0], 27) + h[1]) * 5 + 0x52dce729;
  h[1] ^= std::rotl(high * second_factor, 33) * first_factor;
  h[1] = (std::rotl(h[1], 31) + h[0]) * 5 + 0x38495ab5;
}

void mix(std::array<std::uint64_t, 2>& h, const char* bytes) {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), bytes, digest_block);
  mix(h, words[0], words[1]);
}

std::uint64_t avalanche(std::uint64_t h) {
  h = (h ^ (h >> 33U)) * 0xff51afd7ed558ccdULL;
  h = (h ^ (h >> 33U)) * 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33U);
}

}  // namespace

Digest& Digest::add(std::string_view bytes) {
  std::array<std::uint64_t, 2> h = words_;
  const std::size_t whole = bytes.size() / digest_block * digest_block;
  for (std::size_t i = 0; i < whole; i += digest_block) mix(h, bytes.data() + i);
  std::array<char, digest_block> rest{};
  if (whole < bytes.size()) std::memcpy(rest.data(), bytes.data() + whole, bytes.size() - whole);
  mix(h, rest.data());
  h[0] ^= bytes.size();
  h[1] ^= bytes.size();
  h[0] += h[1];
  h[1] += h[0];
  words_ = {avalanche(h[0]), avalanche(h[1])};
  words_[0] += words_[1];
  words_[1] += words_[0];
  return *this;
}

}  // namespace ecotone
