#include "ecotone/solve/trees/struck_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ecotone/base/simd.h"

namespace ecotone {

namespace {

using ByteVector [[gnu::vector_size(32)]] = std::int8_t;
using UnsignedBytes [[gnu::vector_size(32)]] = std::uint8_t;  // whose negation wraps
constexpr Index vectors_at_once = 4;
constexpr Index struck_at_once = 32 * vectors_at_once;
static_assert(TreeLanes::rows % struck_at_once == 0);

/// The number of the lowest bit of each byte.
[[gnu::always_inline]] inline void lowest_bit(const ByteVector& bits, ByteVector& number) {
  const ByteVector none = {};
  const auto lowest = bits & reinterpret_cast<ByteVector>(-reinterpret_cast<UnsignedBytes>(bits));
  number = ((lowest & static_cast<std::int8_t>(0xAA)) != none) & 1;
  number |= ((lowest & static_cast<std::int8_t>(0xCC)) != none) & 2;
  number |= ((lowest & static_cast<std::int8_t>(0xF0)) != none) & 4;
}

/// The leaves of `struck_at_once` rows of the lanes that begin at `code`.
[[gnu::always_inline]] inline void remaining_leaves(const StruckTree::Strike* strike, const std::uint32_t* end,
                                                    Index bytes, const LaneCode* code, std::uint8_t* leaf) {
  const StruckTree::Strike* each = strike;
  ByteVector remaining[vectors_at_once] = {}, first[vectors_at_once] = {};
  for (Index b = 0; b < bytes; ++b) {
    ByteVector own[vectors_at_once];
    for (ByteVector& all : own) all = ByteVector{} - 1;
    for (; each != strike + end[b]; ++each)
      for (Index v = 0; v < vectors_at_once; ++v) {
        ByteVector codes;
        std::memcpy(&codes, code + each->lane * TreeLanes::rows + 32 * v, sizeof codes);
        own[v] &= ~((codes > each->most) & each->leaves);
      }
    // Lower leaves come later and go before those that were found.
    const auto lowest_leaf = static_cast<std::int8_t>(8 * (bytes - 1 - b));
    for (Index v = 0; v < vectors_at_once; ++v) {
      const ByteVector none = own[v] == ByteVector{};
      remaining[v] = own[v] | (remaining[v] & none);
      first[v] = (first[v] & none) | (~none & lowest_leaf);
    }
  }
  for (Index v = 0; v < vectors_at_once; ++v) {
    ByteVector number;
    lowest_bit(remaining[v], number);
    number += first[v];
    std::memcpy(leaf + 32 * v, &number, sizeof number);
  }
}

[[gnu::always_inline]] inline void all_leaves(const StruckTree::Strike* strike, const std::uint32_t* end, Index bytes,
                                              const LaneCode* code, Index rows, std::uint8_t* leaf) {
  for (Index i = 0; i < rows; i += struck_at_once) remaining_leaves(strike, end, bytes, code + i, leaf + i);
}

template <class T>
void sort_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

LanePlan::LanePlan(const std::vector<DecisionTree>& trees) {
  for (const DecisionTree& tree : trees)
    for (const TreeNode& node : tree.nodes) {
      if (node.categorical) continue;
      features_.push_back(node.feature);
      if (node.feature >= std::ssize(threshold_)) threshold_.resize(at(node.feature) + 1);
      if (node.threshold < HUGE_VAL) threshold_[at(node.feature)].push_back(node.threshold);
    }
  sort_distinct(features_);
  for (std::vector<double>& own : threshold_) {
    sort_distinct(own);
    fits_ = fits_ && std::ssize(own) < most_tree_bins;
  }
  if (!fits_) return;
  for (const std::vector<double>& own : threshold_) table_.emplace_back(own);
}

std::int32_t LanePlan::lane_of(const TreeNode& node) const {
  const auto place = std::lower_bound(features_.begin(), features_.end(), node.feature) - features_.begin();
  return static_cast<std::int32_t>(2 * place + (node.missing_left ? 1 : 0));
}

int LanePlan::code_of(const TreeNode& node) const {
  const std::vector<double>& own = threshold_[at(node.feature)];
  return static_cast<int>(std::lower_bound(own.begin(), own.end(), node.threshold) - own.begin());
}

StruckTree::StruckTree(const DecisionTree& tree, const LanePlan& plan) {
  StrikesByByte strikes(tree.value.size() / 8 + 1);
  number_leaves(tree, tree.nodes.empty() ? -1 : 0, plan, strikes);
  strikes.resize((value_.size() + 7) / 8);
  for (auto own = strikes.rbegin(); own != strikes.rend(); ++own) {
    strikes_.insert(strikes_.end(), own->begin(), own->end());
    end_.push_back(static_cast<std::uint32_t>(strikes_.size()));
  }
}

void StruckTree::number_leaves(const DecisionTree& tree, std::int32_t place, const LanePlan& plan,
                               StrikesByByte& strikes) {
  if (place < 0) return value_.push_back(tree.value[at(-place - 1)]);
  const TreeNode& node = tree.nodes[at(place)];
  Strike strike = strike_of(node, plan);
  const std::size_t first = value_.size();
  number_leaves(tree, node.left, plan, strikes);
  const std::size_t last = value_.size();
  for (std::size_t b = first / 8; 8 * b < last; ++b) {
    int leaves = 0;
    for (std::size_t leaf = std::max(first, 8 * b); leaf < std::min(last, 8 * b + 8); ++leaf) leaves |= 1 << (leaf % 8);
    strike.leaves = static_cast<std::int8_t>(leaves);
    strikes[b].push_back(strike);
  }
  number_leaves(tree, node.right, plan, strikes);
}

StruckTree::Strike StruckTree::strike_of(const TreeNode& node, const LanePlan& plan) {
  if (!node.categorical) return {plan.lane_of(node), lane_code(plan.code_of(node)), 0};
  Set set{node.feature, {}};
  for (std::size_t code = 0; code < set.right.size(); ++code)
    set.right[code] = node.goes_left(static_cast<std::uint8_t>(code)) ? 0 : 1;
  sets_.push_back(set);
  return {-static_cast<std::int32_t>(sets_.size()), 0, 0};
}

void StruckTree::add_to(double* scores, Index stride, Index rows, const TreeLanes& lanes) const {
  std::array<std::uint8_t, TreeLanes::rows> leaf;
  run_wide_exactly<all_leaves>(strikes_.data(), end_.data(), std::ssize(end_), lanes.first(), rows, leaf.data());
  for (Index i = 0; i < rows; ++i) scores[i * stride] += value_[leaf[at(i)]];
}

}  // namespace ecotone
