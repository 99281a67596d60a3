#include <gtest/gtest.h>

#include "methods/learn/trees/product_rows.h"

namespace ecotone::test {
namespace forest_learner_test {

/// Leaves of one row have the share 0 or 1, so two trees say 0, 1/2 or 1, to the last bit.
TEST(Forest, VotesOfTreesAreShares) {
  const TrainView view = product_view(61, 2);
  const Matrix share = fitted("forest trees=2", view).predict({view.x, {}}, context()).probability;
  for (Index i = 0; i < 61; ++i)
    EXPECT_TRUE(share(i, 1) == 0 || share(i, 1) == 0.5 || share(i, 1) == 1) << i << " " << share(i, 1);
  EXPECT_TRUE((share.array() == 0.5).any());
}

TEST(Forest, SaysThatThereAreFewerColumns) {
  const TrainView view = product_view(100, 2);
  Recorder recorder;
  const Context watched = context().observed_by(&recorder);
  const Model model = fitted("forest trees=3 columns=99", view, watched);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "rounded_option");
  EXPECT_EQ(recorder.warnings[0].second, "forest: there are 4 columns to draw from: 4 instead of 99");
  const Model all = fitted("forest trees=3 columns=4", view, watched);
  EXPECT_EQ(recorder.warnings.size(), 1U);
  EXPECT_TRUE(same_bytes(model.predict({view.x, {}}, context()), all.predict({view.x, {}}, context())));
}

}  // namespace forest_learner_test
}  // namespace ecotone::test
