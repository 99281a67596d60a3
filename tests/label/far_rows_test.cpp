#include "ecotone/label/far_rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ecotone::test {
namespace far_rows_test {

Dataset data_of(Matrix x) {
  Dataset data;
  const Index rows = x.rows();
  data.x = Features::dense(std::move(x));
  data.domain.names = {"a"};
  data.domain.index.assign(at(rows), 0);
  data.role = {Role::source};
  return data;
}

/// Columns in standard deviations of the pool; a missing value is the mean.
TEST(FarRows, DistancesToTheNearestLabel) {
  const Dataset data = data_of(Matrix{{-1, 0}, {1, 1000}, {-1, 1000}, {1, NAN}, {1, 0}});
  const Context context;
  FarRows far(data, {0, 1, 2, 4}, context);
  const std::vector<Index> rows = {1, 2};
  EXPECT_EQ(far.squared(rows, {}), Vector::Ones(2));
  const std::vector<Index> first = {0};
  EXPECT_TRUE(far.squared(rows, first).isApprox(Vector{{8, 4}}));
  const std::vector<Index> more = {0, 3};
  EXPECT_TRUE(far.squared(rows, more).isApprox(Vector{{1, 4}}));
  // A label that is taken back counts no longer.
  EXPECT_TRUE(far.squared(rows, first).isApprox(Vector{{8, 4}}));
  const std::vector<Index> itself = {1};
  EXPECT_TRUE(far.squared(rows, itself).isApprox(Vector{{0, 4}}));
}

TEST(FarRows, GrowingLabelsGiveTheSameAsAllAtOnce) {
  const Context context({.seed = 3});
  Random random = context.random("rows");
  Matrix x(300, 50);
  for (double& value : x.reshaped()) value = random.normal();
  const Dataset data = data_of(x);
  std::vector<Index> pool;
  for (Index i = 0; i < 200; ++i) pool.push_back(i);
  FarRows growing(data, pool, context), at_once(data, pool, context);
  const std::vector<Index> labelled = {250, 3, 299, 77};
  Vector distance;
  for (std::size_t count = 1; count <= labelled.size(); ++count)
    distance = growing.squared(pool, std::span(labelled).first(count));
  EXPECT_EQ(distance, at_once.squared(pool, labelled));
  EXPECT_EQ(distance[3], 0);
  // Random directions keep squared distances to about a quarter (the nearest of four is a little less than 2 x 50).
  EXPECT_NEAR(distance.mean(), 85, 25);
}

TEST(FarRows, ConstantAndHugeColumnsDoNoHarm) {
  Matrix x = Matrix::Constant(4, 3, 7.0);
  x.col(1) << 0, 1e308, -1e308, NAN;
  const Dataset data = data_of(x);
  const Context context;
  FarRows far(data, {0, 1, 2, 3}, context);
  const std::vector<Index> labelled = {0}, rows = {0, 1, 2, 3};
  EXPECT_TRUE(far.squared(rows, labelled).allFinite());
}

}  // namespace far_rows_test
}  // namespace ecotone::test
