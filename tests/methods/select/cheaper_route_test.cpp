#include <gtest/gtest.h>

#include <memory>

#include "base/rank_threads.h"
#include "ecotone/methods/select/selection_data.h"

namespace ecotone {
namespace cheaper_route_test {

/// Rows that are made when they are asked for, as on a rank that has no memory for them.
class MadeRows final : public FeatureStorage {
 public:
  Index rows() const override { return 100; }
  Index cols() const override { return 50; }
  RowBlock block(Index, Scratch&) const override { return {}; }
};

TEST(CheaperRoute, IsThatOfAllRanks) {
  const Features there = Features::dense(Matrix::Zero(100, 50));
  const Features made(std::make_shared<MadeRows>(), {});
  const auto route = [](const Features& x, const Context& context) {
    return cheaper_route(x, 2, 1, GramKind::double_precision, context);
  };
  EXPECT_EQ(route(there, Context({.threads = 1})), PathRoute::lazy);
  EXPECT_EQ(route(made, Context({.threads = 1})), PathRoute::gram);
  RankThreads(2).run([&](Communicator& ranks) {
    const Context context({.threads = 1, .ranks = &ranks});
    EXPECT_EQ(route(ranks.rank() == 0 ? there : made, context), PathRoute::lazy);
    EXPECT_EQ(route(made, context), PathRoute::gram);
    context.parallel(2, [&](Index) { EXPECT_EQ(route(made, context), PathRoute::gram); });
  });
}

}  // namespace cheaper_route_test
}  // namespace ecotone
