// Every registered method on rows in a file: the same bytes as in memory. What `streamed` promises of memory is in
// streamed_slow_test.cpp.
#include "methods/streamed.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "ecotone/data/storage/subset_storage.h"
#include "ecotone/methods/registry.h"

namespace ecotone::test {
namespace streamed_test {

/// Rows of another storage that are never copied, however few are taken.
class NeverCopied final : public FeatureStorage, public std::enable_shared_from_this<NeverCopied> {
 public:
  explicit NeverCopied(std::shared_ptr<const FeatureStorage> base) : base_(std::move(base)) {}

  Index rows() const override { return base_->rows(); }
  Index cols() const override { return base_->cols(); }
  RowBlock block(Index b, Scratch& scratch) const override { return base_->block(b, scratch); }
  bool in_file() const override { return true; }
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override {
    return std::make_shared<SubsetStorage>(shared_from_this(), std::vector<Index>(rows.begin(), rows.end()));
  }

 private:
  std::shared_ptr<const FeatureStorage> base_;
};

Features never_copied(const Features& x) {
  return x.with_storage(std::make_shared<NeverCopied>(mapped(x).shared_storage()));
}

void expect_same(const std::string& text, const TrainView& view, const Features& in_file) {
  TrainView again = view;
  again.x = in_file;
  ASSERT_TRUE(in_file.storage().in_file());
  const Model expected = fitted(text, view);
  const Model found = fitted(text, again);
  EXPECT_TRUE(found.bytes() == expected.bytes()) << text;
  const Batch batch{view.x, view.domain}, batch_in_file{in_file, view.domain};
  EXPECT_TRUE(same_bytes(found.transform(batch_in_file, context()).to_matrix(),
                         expected.transform(batch, context()).to_matrix()))
      << text;
  if (expected.pipeline().predicts()) {
    EXPECT_TRUE(same_bytes(found.predict(batch_in_file, context()), expected.predict(batch, context()))) << text;
  }
}

class Streamed : public testing::TestWithParam<std::string> {
 protected:
  const Method& tested() const { return method(GetParam()); }
};

/// Whichever routes a method has: rows in a file that it needs in memory are copied.
TEST_P(Streamed, AMappedFileGivesTheModelOfMemory) {
  const TrainView view = suited(tested(), overlapping(900, 6, 2, 4, 200));
  expect_same(alone(tested()), view, mapped(view.x));
}

/// Where `streamed` is declared, also with rows that are gathered in every pass, alone and behind a stage that derives
/// them.
TEST_P(Streamed, ADeclaredRouteNeedsNoCopies) {
  const auto options = options_of_route(tested(), Route::streamed);
  if (!options) return;
  const TrainView view = suited(tested(), overlapping(900, 6, 2, 4, 200));
  const Features in_file = never_copied(view.x);
  const std::string text = alone_with(tested(), *options);
  expect_same(text, view, in_file);
  expect_same("scale | " + text, view, in_file);
}

INSTANTIATE_TEST_SUITE_P(EveryMethod, Streamed, testing::ValuesIn(method_names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST(Routes, EveryMethodIsFittedInMemoryAndSaysEachRouteOnce) {
  for (const Method& method : methods()) {
    const std::vector<MethodRoute> routes = method.all_routes();
    ASSERT_FALSE(routes.empty());
    EXPECT_EQ(routes.front().route, Route::memory) << method.name;
    std::set<Route> seen;
    for (const MethodRoute& one : routes) EXPECT_TRUE(seen.insert(one.route).second) << method.name;
    EXPECT_EQ(seen.contains(Route::sums), method.from_sums()) << method.name;
  }
}

/// Options that a route needs are options of the method.
TEST(Routes, OfStreamedRowsCanBeParsed) {
  for (const Method& method : methods()) {
    const std::string options = options_of_route(method, Route::streamed).value_or("");
    EXPECT_NO_THROW(Pipeline::parse(with_defaults(method) + (options.empty() ? "" : " " + options)));
  }
}

}  // namespace streamed_test
}  // namespace ecotone::test
