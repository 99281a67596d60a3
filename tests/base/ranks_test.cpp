#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/rank_threads.h"
#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/shared_tasks.h"

namespace ecotone {
namespace ranks_test {

using testing::HasSubstr;

/// Numbers of very different size, so that any change of the order of addition changes the bits.
double term(Index block) {
  return std::sin(static_cast<double>(block) + 1) * std::pow(10.0, static_cast<double>(block % 17) - 8);
}

std::uint64_t sum_bits(Index blocks, const Context& context) {
  return std::bit_cast<std::uint64_t>(sum_rows(blocks, context, 0.0, [](double& sum, Index b) { sum += term(b); }));
}

TEST(SumRows, SameBytesForAnyNumberOfRanksAndThreads) {
  for (const Index blocks : {0, 1, 2, 5, 31, 32, 33, 100, 4095, 4096, 5000}) {
    const std::uint64_t alone = sum_bits(blocks, Context({.threads = 1}));
    for (const int size : {2, 3, 4, 7, 40})
      RankThreads(size).run([&](Communicator& ranks) {
        EXPECT_EQ(sum_bits(blocks, Context({.threads = 1 + ranks.rank() % 2, .ranks = &ranks})), alone)
            << blocks << " blocks, " << size << " ranks";
      });
  }
}

TEST(SumRows, EveryBlockIsReadByOneRank) {
  for (const int size : {1, 2, 3, 32, 40}) {
    Index next = 0;
    for (int r = 0; r < size; ++r) {
      const Share own = blocks_of_rank(1000, r, size);
      EXPECT_EQ(own.first, next);
      next = own.last;
    }
    EXPECT_EQ(next, 1000);
  }
}

TEST(SumRows, InsideATaskEveryRankSumsAll) {
  RankThreads(3).run([](Communicator& ranks) {
    const Context context({.threads = 2, .ranks = &ranks});
    context.parallel(4, [&](Index) {
      Index count = 0;
      const Context one({.threads = 1, .ranks = &ranks});
      sum_rows(50, one, 0.0, [&](double&, Index) { ++count; });
      EXPECT_EQ(count, 50);
    });
    EXPECT_EQ(context.ranks().traffic().messages, 0U);
  });
}

TEST(ShareRows, AllRanksHaveTheValuesOfAllRows) {
  constexpr Index blocks = 70, per_block = 3, rows = blocks * per_block - 2;
  RankThreads(4).run([&](Communicator& ranks) {
    const Context context({.threads = 2, .ranks = &ranks});
    std::vector<double> values(2 * rows, -1);
    const auto first_row = [&](Index b) { return std::min(b * per_block, rows); };
    each_row_block(blocks, context, [&](Index b) {
      for (Index i = first_row(b); i < first_row(b + 1); ++i)
        for (const Index j : {0, 1}) values[static_cast<std::size_t>(2 * i + j)] = static_cast<double>(10 * i + j);
    });
    share_rows(blocks, context, values.data(), 2, first_row);
    for (Index i = 0; i < rows; ++i)
      for (const Index j : {0, 1})
        EXPECT_EQ(values[static_cast<std::size_t>(2 * i + j)], static_cast<double>(10 * i + j));
  });
}

TEST(ShareTasks, AllRanksHaveAllResults) {
  for (const Index tasks : {0, 1, 3, 10})
    RankThreads(4).run([&](Communicator& ranks) {
      const Context context({.threads = 2, .ranks = &ranks});
      std::vector<std::string> results(static_cast<std::size_t>(tasks));
      std::atomic<Index> run = 0;
      share_tasks(
          tasks, context, 0,
          [&](Index i) {
            results[static_cast<std::size_t>(i)] = "result " + std::to_string(i);
            ++run;
          },
          [&](Index i, auto& with) { with(results[static_cast<std::size_t>(i)]); });
      EXPECT_LE(run, (tasks + 3) / 4);
      for (Index i = 0; i < tasks; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], "result " + std::to_string(i));
    });
}

TEST(Ranks, SumsOfIntegersAreThoseOfAllRanks) {
  RankThreads(3).run([](Communicator& communicator) {
    Ranks ranks(&communicator);
    std::vector<std::int64_t> numbers{communicator.rank(), 10};
    ranks.sum("numbers", numbers);
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{3, 30}));
    EXPECT_EQ(ranks.traffic().added, 16U);
  });
}

TEST(Ranks, AgreeOnWhatHoldsForAll) {
  RankThreads(3).run([](Communicator& communicator) {
    Ranks ranks(&communicator);
    EXPECT_TRUE(ranks.agree("memory", true));
    EXPECT_FALSE(ranks.agree("memory", communicator.rank() != 1));
    EXPECT_FALSE(ranks.agree("memory", false));
  });
}

/// What two ranks say that are at different places.
std::string difference(const std::function<void(Ranks&)>& first, const std::function<void(Ranks&)>& second) {
  try {
    RankThreads(2).run([&](Communicator& communicator) {
      Ranks ranks(&communicator);
      (communicator.rank() == 0 ? first : second)(ranks);
    });
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    return error.what();
  }
  return {};
}

TEST(Ranks, AtDifferentPlacesAreAnErrorThatNamesThem) {
  const auto rows = [](Ranks& ranks) { ranks.gather_sums("rows", 5, {}); };
  const auto tasks = [](Ranks& ranks) { ranks.gather_shares("tasks", 5, "some text"); };
  const auto share = [](Ranks& ranks) {
    std::string both = "??";
    ranks.share("rows", 6, both, std::vector<std::size_t>{1, 2});
  };
  EXPECT_THAT(difference(rows, tasks), HasSubstr("rank 0 is at '0 rows 5' and rank 1 at '0 tasks 5'"));
  EXPECT_THAT(difference(rows, share), HasSubstr("rank 0 is at '0 rows 5' and rank 1 at '0 rows 6'"));
  EXPECT_THAT(difference(share, tasks), HasSubstr("rank 0 is at '0 rows 6' and rank 1 at '0 tasks 5'"));
}

struct Several {
  std::vector<double> values;
  void merge(const Several&) {}
  void archive(auto& with) { with(values); }
};

TEST(SumRows, SumsOfDifferentSizeAreAnErrorThatNamesTheirPlace) {
  RankThreads both(2);
  std::string said;
  try {
    both.run([](Communicator& ranks) {
      const std::vector<double> zero(ranks.rank() == 0 ? 2 : 3);
      sum_rows(40, Context({.threads = 1, .ranks = &ranks}), Several{zero}, [](Several&, Index) {});
    });
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("'0 sums of 24 bytes over blocks 40'"));
  EXPECT_THAT(said, HasSubstr("'0 sums of 32 bytes over blocks 40'"));
}

}  // namespace ranks_test
}  // namespace ecotone
