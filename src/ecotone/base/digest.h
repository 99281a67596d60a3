#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ecotone {

/// A 128-bit hash of values in order, by which equal work is recognised: fast, with the mixing steps of MurmurHash3,
/// but no protection against someone who makes collisions on purpose. Every value counts with its length, so that "ab",
/// "c" and "a", "bc" differ.
class Digest {
 public:
  Digest& add(std::string_view bytes);
  template <class T>
  requires std::integral<T> || std::floating_point<T> Digest& add(std::span<const T> values) {
    return add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
  }
  template <class T>
  requires std::integral<T> Digest& add(T value) {
    const auto wide = static_cast<std::int64_t>(value);
    return add(std::span(&wide, 1));
  }
  Digest& add(const std::vector<std::string>& texts) {
    add(texts.size());
    for (const std::string& text : texts) add(text);
    return *this;
  }
  Digest& add(const Digest& other) { return add(std::span<const std::uint64_t>(other.words_)); }

  const std::array<std::uint64_t, 2>& words() const { return words_; }
  /// The hash that had these words.
  static Digest of_words(const std::array<std::uint64_t, 2>& words) {
    Digest digest;
    digest.words_ = words;
    return digest;
  }
  auto operator<=>(const Digest&) const = default;

 private:
  std::array<std::uint64_t, 2> words_{};
};

}  // namespace ecotone
