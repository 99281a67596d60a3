#include "ecotone/base/blocks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <string>

namespace ecotone {
namespace blocks_test {

/// Numbers of very different size, so that any change of the order of addition changes the bits.
double term(Index block) {
  return std::sin(static_cast<double>(block) + 1) * std::pow(10.0, static_cast<double>(block % 17) - 8);
}

std::uint64_t sum_bits(Index blocks, const Context& context) {
  return std::bit_cast<std::uint64_t>(sum_blocks(blocks, context, 0.0, [](double& sum, Index b) { sum += term(b); }));
}

TEST(SumBlocks, SameBytesForAnyNumberOfThreads) {
  const Context one({.threads = 1}), two({.threads = 2}), seven({.threads = 7});
  for (Index blocks = 0; blocks <= 100; ++blocks) {
    const std::uint64_t expected = sum_bits(blocks, one);
    for (int repetition = 0; repetition < 5; ++repetition) {
      EXPECT_EQ(sum_bits(blocks, two), expected) << blocks;
      EXPECT_EQ(sum_bits(blocks, seven), expected) << blocks;
    }
  }
}

/// Writes down in which order blocks and groups meet.
struct Word {
  std::string text;
  void merge(const Word& other) { text = "(" + text + other.text + ")"; }
};

TEST(SumBlocks, EveryBlockOnceInOrder) {
  const Context context({.threads = 3});
  for (Index blocks = 0; blocks <= 100; ++blocks) {
    const Word all =
        sum_blocks(blocks, context, Word{}, [](Word& word, Index b) { word.text += std::to_string(b) + " "; });
    std::string flat, expected;
    for (const char c : all.text)
      if (c != '(' && c != ')') flat += c;
    for (Index b = 0; b < blocks; ++b) expected += std::to_string(b) + " ";
    EXPECT_EQ(flat, expected);
  }
}

TEST(SumBlocks, GroupsAreABinaryTree) {
  const Context context({.threads = 1});
  const auto tree = [&](Index blocks) {
    return sum_blocks(blocks, context, Word{}, [](Word& word, Index b) { word.text += static_cast<char>('a' + b); })
        .text;
  };
  EXPECT_EQ(tree(0), "");
  EXPECT_EQ(tree(1), "a");
  EXPECT_EQ(tree(4), "((ab)(cd))");
  EXPECT_EQ(tree(5), "(((ab)(cd))e)");
  EXPECT_EQ(tree(7), "(((ab)(cd))((ef)g))");
  EXPECT_EQ(sum_groups(1000), 32);
}

/// Counts how many accumulators are alive.
struct Counted {
  static inline std::atomic<int> alive{0}, most{0};
  Index sum = 0;
  Counted() { born(); }
  Counted(const Counted& other) : sum(other.sum) { born(); }
  Counted(Counted&& other) noexcept : sum(other.sum) { born(); }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive; }
  void operator+=(const Counted& other) { sum += other.sum; }
  static void born() {
    const int now = ++alive;
    int before = most.load();
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
  }
};

TEST(SumBlocks, FewAccumulatorsAreAliveAtOnce) {
  const Context context({.threads = 1});
  const Counted total = sum_blocks(1000, context, Counted{}, [](Counted& c, Index b) { c.sum += b; });
  EXPECT_EQ(total.sum, 499500);
  EXPECT_LE(Counted::most, 10);
}

}  // namespace blocks_test
}  // namespace ecotone
