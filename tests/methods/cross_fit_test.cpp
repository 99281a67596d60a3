#include "ecotone/methods/cross_fit.h"

#include <set>

#include "methods/support.h"

namespace ecotone::test {
namespace {

/// Rows of the domains of these sizes, one after another, classes in turn.
TrainView domains_of_sizes(const std::vector<Index>& sizes, Index classes = 2) {
  Index rows = 0;
  for (const Index size : sizes) rows += size;
  TrainView view = overlapping(rows, 2, classes, 1);
  view.domain = dealt_domains(0, static_cast<Index>(sizes.size()));
  view.role.assign(sizes.size(), Role::source);
  for (std::size_t d = 0; d < sizes.size(); ++d)
    view.domain.index.insert(view.domain.index.end(), static_cast<std::size_t>(sizes[d]), static_cast<std::int32_t>(d));
  return view;
}

/// That every labelled row is held out once, and trained on in all other folds.
void expect_partition(const std::vector<InnerFold>& folds, Index rows) {
  std::vector<int> held(static_cast<std::size_t>(rows), 0);
  for (const InnerFold& fold : folds) {
    EXPECT_TRUE(std::is_sorted(fold.train.begin(), fold.train.end()));
    EXPECT_TRUE(std::is_sorted(fold.held.begin(), fold.held.end()));
    std::set<Index> all(fold.train.begin(), fold.train.end());
    all.insert(fold.held.begin(), fold.held.end());
    EXPECT_EQ(static_cast<Index>(all.size()), rows);
    EXPECT_EQ(static_cast<Index>(fold.train.size() + fold.held.size()), rows);
    for (const Index row : fold.held) ++held[static_cast<std::size_t>(row)];
  }
  EXPECT_TRUE(std::all_of(held.begin(), held.end(), [](int times) { return times == 1; }));
}

TEST(InnerFolds, AreTheSourceDomainsInOrder) {
  const TrainView view = overlapping(60, 2, 2, 3, 20);
  const std::vector<InnerFold> folds = inner_folds(view, context());
  ASSERT_EQ(folds.size(), 3U);
  expect_partition(folds, 60);
  for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(folds[d].held, view.domain.rows_of(static_cast<Index>(d)));
}

TEST(InnerFolds, ShareManyDomainsEvenly) {
  const TrainView view = domains_of_sizes({50, 3, 20, 20, 7, 1, 30, 9});
  const std::vector<InnerFold> folds = inner_folds(view, context(), 3);
  ASSERT_EQ(folds.size(), 3U);
  expect_partition(folds, 140);
  // Largest first to the emptiest: 50 | 30, 9, 7 | 20, 20, 3, 1.
  EXPECT_EQ(folds[0].held.size(), 50U);
  EXPECT_EQ(folds[1].held.size(), 46U);
  EXPECT_EQ(folds[2].held.size(), 44U);
  for (const InnerFold& fold : folds) {
    std::set<std::int32_t> held;
    for (const Index row : fold.held) held.insert(view.domain.index[static_cast<std::size_t>(row)]);
    for (const Index row : fold.train) EXPECT_FALSE(held.contains(view.domain.index[static_cast<std::size_t>(row)]));
  }
}

TEST(InnerFolds, OfOneDomainHaveEveryClassAndFollowTheSeed) {
  const TrainView view = overlapping(90, 2, 3, 1, 10);
  const std::vector<InnerFold> folds = inner_folds(view, context());
  ASSERT_EQ(folds.size(), 5U);
  expect_partition(folds, 90);
  for (const InnerFold& fold : folds) {
    std::vector<int> count(3, 0);
    for (const Index row : fold.held) ++count[static_cast<std::size_t>(view.y.index[static_cast<std::size_t>(row)])];
    EXPECT_EQ(count, (std::vector<int>{6, 6, 6}));
  }
  EXPECT_EQ(inner_folds(view, context(7))[0].held, folds[0].held);
  EXPECT_NE(inner_folds(view, Context({.threads = 1, .seed = 2}))[0].held, folds[0].held);
}

TEST(InnerFolds, OfFewRowsAndOfNumbers) {
  EXPECT_EQ(inner_folds(overlapping(3, 2, 2, 1), context()).size(), 3U);
  EXPECT_TRUE(inner_folds(overlapping(1, 2, 2, 1), context()).empty());
  const TrainView numbers = view_of(Features::dense(Matrix::Ones(7, 1)), number_labels({1, 2, 3, 4, 5, 6, 7}));
  const std::vector<InnerFold> folds = inner_folds(numbers, context());
  ASSERT_EQ(folds.size(), 5U);
  expect_partition(folds, 7);
}

TEST(ViewOfRows, KeepsTheRowsTheTargetsAndWhatOccurs) {
  TrainView view = overlapping(60, 2, 3, 3, 20);
  view.weight = Vector::LinSpaced(60, 1, 60);
  // Rows of classes 0 and 2 in the domains d3 and d1.
  const std::vector<Index> rows = {6, 8, 9, 11, 15, 17};
  const TrainView part = view_of_rows(view, rows);
  EXPECT_EQ(part.labelled(), 6);
  EXPECT_EQ(part.x.rows(), 26);
  EXPECT_EQ(part.y.classes, (std::vector<std::string>{"c0", "c2"}));
  EXPECT_EQ(part.y.index, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(part.domain.names, (std::vector<std::string>{"d3", "d1", "target"}));
  EXPECT_EQ(part.role, (Roles{Role::source, Role::source, Role::target}));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(part.weight[static_cast<Index>(i)], static_cast<double>(rows[i] + 1));
    EXPECT_EQ(part.x.to_matrix().row(static_cast<Index>(i)), view.x.to_matrix().row(rows[i]));
  }
  EXPECT_EQ(part.x.to_matrix().bottomRows(20), view.x.to_matrix().bottomRows(20));
}

TEST(ViewOfRows, ADomainLeftWithoutLabelsIsATarget) {
  TrainView view = overlapping(40, 2, 2, 2, 10);
  // The target's rows belong to d2, which has labelled rows too.
  for (std::size_t i = 40; i < 50; ++i) view.domain.index[i] = 1;
  const TrainView part = view_of_rows(view, view.domain.rows_of(0));
  EXPECT_EQ(part.domain.names, (std::vector<std::string>{"d1", "d2"}));
  EXPECT_EQ(part.role, (Roles{Role::source, Role::target}));
}

}  // namespace
}  // namespace ecotone::test
