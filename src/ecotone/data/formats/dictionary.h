#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// Hashes all kinds of text alike, so that a view can be looked up without making a string.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

/// Numbers distinct texts in order of first appearance.
class Dictionary {
 public:
  /// Beyond `limit` words no more are added: their code is -2.
  explicit Dictionary(std::size_t limit = std::numeric_limits<std::int32_t>::max()) : limit_(limit) {}

  std::int32_t code(std::string_view text) {
    // Neighbouring rows often hold the same text.
    if (last_ >= 0 && words_[at(last_)] == text) return last_;
    const auto found = index_.find(text);
    if (found != index_.end()) return last_ = found->second;
    if (words_.size() >= limit_) return -2;
    last_ = static_cast<std::int32_t>(words_.size());
    words_.emplace_back(text);
    index_.emplace(words_.back(), last_);
    return last_;
  }

  const std::vector<std::string>& words() const { return words_; }

 private:
  std::size_t limit_;
  std::int32_t last_ = -1;
  std::vector<std::string> words_;
  TextMap<std::int32_t> index_;
};

}  // namespace ecotone
