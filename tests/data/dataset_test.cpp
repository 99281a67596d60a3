#include "ecotone/data/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ecotone/base/error.h"

namespace ecotone {
namespace dataset_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Ten rows, x1 = row number; domains a b c; classes 0..3; row 4 has no label.
Dataset example() {
  Dataset data;
  Matrix x(10, 1);
  for (Index i = 0; i < 10; ++i) x(i, 0) = static_cast<double>(i);
  data.x = Features::dense(x, {"number"});
  data.y = Labels{Task::classify, {"1", "2", "10", "30"}, {0, 2, 0, 2, -1, 3, 1, 3, 2, 1}, {}};
  data.domain = {{"a", "b", "c"}, {0, 1, 0, 1, 0, 2, 2, 0, 1, 2}};
  data.role.assign(3, Role::source);
  return data;
}

std::string code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

TEST(Labels, KnowWhatIsMissing) {
  const Labels classes = *example().y;
  EXPECT_TRUE(classes.missing(4));
  EXPECT_FALSE(classes.missing(5));
  Labels numbers{Task::regress, {}, {}, Vector(2)};
  numbers.value << nan, 1;
  EXPECT_TRUE(numbers.missing(0));
  EXPECT_FALSE(numbers.missing(1));
  EXPECT_EQ(numbers.take(std::vector<Index>{1, 1}).value, Vector::Ones(2));
}

TEST(Domains, TakeRenumbersByFirstAppearance) {
  const Domains taken = example().domain.take(std::vector<Index>{6, 0, 5});
  EXPECT_EQ(taken.names, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(taken.index, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(example().domain.rows_of(1), (std::vector<Index>{1, 3, 8}));
}

TEST(TrainView, PutsLabelledSourceRowsFirstAndAscending) {
  const Dataset data = example();
  const TrainView view = train_view(data, std::vector<Index>{8, 0, 4, 2}, std::vector<Index>{6, 5}, Context());
  EXPECT_EQ(view.x.to_matrix(), (Matrix(5, 1) << 0, 2, 8, 5, 6).finished());
  EXPECT_EQ(view.labelled(), 3);
  EXPECT_TRUE(view.has_target());
  EXPECT_EQ(view.labelled_x().rows(), 3);
  EXPECT_EQ(view.domain.names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(view.domain.index, (std::vector<std::int32_t>{0, 0, 1, 2, 2}));
  EXPECT_EQ(view.role, (Roles{Role::source, Role::source, Role::target}));
  EXPECT_EQ(view.x.name(0), "number");
  EXPECT_EQ(view.weight_of(2), 1.0);
}

TEST(TrainView, KeepsOnlyClassesOfItsOwnLabels) {
  // Rows 0, 2, 8 have classes 1 and 10; 2 and 30 are the target's and others'.
  const TrainView view = train_view(example(), std::vector<Index>{0, 2, 8}, std::vector<Index>{5, 6}, Context());
  EXPECT_EQ(view.y.classes, (std::vector<std::string>{"1", "10"}));
  EXPECT_EQ(view.y.index, (std::vector<std::int32_t>{0, 0, 1}));
}

TEST(TrainView, IsTheSameWhateverTheHiddenLabelsAre) {
  const Dataset data = example();
  Dataset other = data;
  other.y->classes.emplace_back("99");
  for (const Index row : {1, 3, 5, 6, 7, 9}) other.y->index[static_cast<std::size_t>(row)] = 4;
  const std::vector<Index> source{0, 2, 8}, target{5, 6};
  const TrainView a = train_view(data, source, target, Context());
  const TrainView b = train_view(other, source, target, Context());
  EXPECT_EQ(a.y.classes, b.y.classes);
  EXPECT_EQ(a.y.index, b.y.index);
  EXPECT_EQ(a.x.to_matrix(), b.x.to_matrix());
  EXPECT_EQ(a.domain.names, b.domain.names);
}

TEST(TrainView, FollowsRolesAndCountsWhatItLeavesOut) {
  struct Notes final : Observer {
    void warning(std::string_view, std::string_view) override {}
    void note(std::string_view message) override { text += message; }
    void progress(std::string_view, Index, Index) override {}
    std::string text;
  } notes;
  Dataset data = example();
  data.role = {Role::source, Role::unseen, Role::target};
  const TrainView view = train_view(data, Context(Context::Settings{.threads = 1, .observer = &notes}));
  EXPECT_EQ(view.x.to_matrix(), (Matrix(6, 1) << 0, 2, 7, 5, 6, 9).finished());
  EXPECT_EQ(view.role, (Roles{Role::source, Role::target}));
  EXPECT_EQ(notes.text, "1 source row without a label is left out");
}

TEST(TrainView, WithoutLabelColumnHasNoLabels) {
  Dataset data = example();
  data.y.reset();
  data.weight = Vector::Ones(10);
  const TrainView view = train_view(data, std::vector<Index>{3, 1}, std::vector<Index>{5}, Context());
  EXPECT_EQ(view.y.task, Task::regress);
  EXPECT_EQ(view.labelled(), 0);
  EXPECT_EQ(view.weight.size(), 0);
  EXPECT_EQ(view.x.to_matrix(), (Matrix(3, 1) << 1, 3, 5).finished());
}

TEST(TrainView, ChecksTheWeightsThatItUses) {
  Dataset data = example();
  data.weight = Vector::LinSpaced(10, 0, 9);
  const std::vector<Index> source{0, 2, 4, 8}, target{5};
  EXPECT_EQ(train_view(data, source, target, Context()).weight, (Vector(3) << 0, 2, 8).finished());
  data.weight[5] = -1;  // a target row's weight is never read
  EXPECT_NO_THROW(train_view(data, source, target, Context()));
  data.weight[2] = -1;
  EXPECT_EQ(code_of([&] { train_view(data, source, target, Context()); }), "negative_weight");
  data.weight[2] = nan;
  EXPECT_EQ(code_of([&] { train_view(data, source, target, Context()); }), "bad_weight");
}

/// At the ends of the range of numbers sums and squares of weights overflow or vanish.
TEST(TrainView, RefusesWeightsAtTheEndsOfTheRangeAndNamesTheirColumn) {
  Dataset data = example();
  const std::vector<Index> source{0, 2, 4, 8};
  data.schema.weight = "w";
  for (const double extreme : {1e307, 1.7e308, 1e-300, 5e-324}) {
    data.weight = Vector::Constant(10, extreme);
    try {
      train_view(data, source, {}, Context());
      ADD_FAILURE() << extreme;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "bad_weight");
      EXPECT_TRUE(std::string(error.what()).starts_with("column 'w': weights must be 0 or from")) << error.what();
    }
  }
  for (const double fine : {0.0, 1e-150, 1e150}) {
    data.weight = Vector::Constant(10, fine);
    EXPECT_NO_THROW(train_view(data, source, {}, Context())) << fine;
  }
}

TEST(TrainView, DoesNotTouchTheData) {
  const Dataset data = example();
  train_view(data, std::vector<Index>{8, 0}, {}, Context());
  EXPECT_EQ(data.y->classes.size(), 4U);
  EXPECT_EQ(data.domain.names.size(), 3U);
}

TEST(Batch, HasFeaturesAndDomainsOfItsRows) {
  const Batch rows = batch(example(), std::vector<Index>{9, 1});
  EXPECT_EQ(rows.x.to_matrix(), (Matrix(2, 1) << 9, 1).finished());
  EXPECT_EQ(rows.domain->names, (std::vector<std::string>{"c", "b"}));
}

TEST(SortClasses, NumericallyWhenAllAreNumbers) {
  std::vector<std::string> numbers{"10", "-1", "2", "+1.5", "1e1"};
  sort_classes(numbers);
  EXPECT_EQ(numbers, (std::vector<std::string>{"-1", "+1.5", "2", "10", "1e1"}));
  std::vector<std::string> texts{"10", "9", "b", "a"};
  sort_classes(texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"10", "9", "a", "b"}));
  std::vector<std::string> odd{"nan", "2", "10"};
  sort_classes(odd);
  EXPECT_EQ(odd, (std::vector<std::string>{"10", "2", "nan"}));
}

TEST(SetTargets, NamesTheDomainsWhenOneIsUnknown) {
  Dataset data = example();
  set_targets(data, {"b"});
  EXPECT_EQ(data.role, (Roles{Role::source, Role::target, Role::source}));
  set_targets(data, {});
  EXPECT_EQ(data.role, (Roles{Role::source, Role::source, Role::source}));
  try {
    set_targets(data, {"a", "d"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_EQ(error.code(), "unknown_domain");
    EXPECT_STREQ(error.what(), "no domain 'd'; the domains are a, b, c");
  }
  EXPECT_EQ(data.role, (Roles{Role::source, Role::source, Role::source})) << "a refused call changes nothing";
}

}  // namespace dataset_test
}  // namespace ecotone
