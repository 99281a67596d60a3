#include "ecotone/methods/cross_fit.h"

#include <cmath>
#include <set>

#include "methods/support.h"

namespace ecotone::test {
namespace cross_fit_test {

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

TEST(InnerFolds, PairsDoNotTrainWhereTheirPartnerIsHeldOut) {
  TrainView view = overlapping(60, 2, 2, 3, 20);
  const auto rows = static_cast<std::size_t>(view.x.rows());
  for (std::size_t i = 0; i < rows; ++i)
    view.domain.partner.push_back(i % 2 == 0 ? -1 : (view.domain.index[i] + 1) % 3);
  const std::vector<InnerFold> folds = inner_folds(view, context());
  ASSERT_EQ(folds.size(), 3U);
  for (std::int32_t d = 0; d < 3; ++d) {
    const InnerFold& fold = folds[static_cast<std::size_t>(d)];
    EXPECT_EQ(fold.held, view.domain.rows_of(d));
    for (const Index row : fold.train) EXPECT_NE(view.domain.partner_of(row), d);
    const auto left_out = std::ranges::count(view.domain.partner.begin(), view.domain.partner.begin() + 60, d);
    EXPECT_EQ(static_cast<std::ptrdiff_t>(fold.train.size()), 40 - left_out);
  }
}

/// That no group has rows on both sides of a fold.
void expect_whole_groups(const std::vector<InnerFold>& folds, const Groups& group) {
  for (const InnerFold& fold : folds) {
    std::set<std::int32_t> held;
    for (const Index row : fold.held)
      if (group[at(row)] >= 0) held.insert(group[at(row)]);
    for (const Index row : fold.train) EXPECT_FALSE(held.contains(group[at(row)]));
  }
}

TEST(InnerFolds, KeepGroupsOnOneSide) {
  TrainView view = overlapping(60, 2, 2, 3, 20);  // two rows of each of three domains in turn
  view.group.assign(static_cast<std::size_t>(view.x.rows()), -1);
  for (std::size_t i = 1; i <= 30; ++i) view.group[i] = static_cast<std::int32_t>((i + 1) / 2);  // of two domains
  const std::vector<InnerFold> folds = inner_folds(view, context());
  ASSERT_EQ(folds.size(), 3U);
  expect_whole_groups(folds, view.group);
  for (const InnerFold& fold : folds) {
    EXPECT_EQ(fold.held.size(), 20U);   // all of a domain
    EXPECT_EQ(fold.train.size(), 30U);  // 40 less one row of each of the ten groups that the domain shares
  }
  const std::vector<InnerFold> of_rows = row_folds(view, 4, context());
  ASSERT_EQ(of_rows.size(), 4U);
  expect_partition(of_rows, 60);
  expect_whole_groups(of_rows, view.group);
  for (const InnerFold& fold : of_rows) EXPECT_NEAR(static_cast<double>(fold.held.size()), 15, 1);
}

TEST(InnerFolds, OfOneDomainAreOfWholeGroups) {
  TrainView view = overlapping(90, 2, 3, 1, 10);
  for (Index i = 0; i < view.x.rows(); ++i) view.group.push_back(static_cast<std::int32_t>(i / 6));
  const std::vector<InnerFold> folds = inner_folds(view, context());
  ASSERT_EQ(folds.size(), 5U);
  expect_partition(folds, 90);
  expect_whole_groups(folds, view.group);
  EXPECT_EQ(inner_fold_count(view), 5);
  view.group.assign(view.group.size(), 0);
  EXPECT_EQ(inner_fold_count(view), 0);
  EXPECT_TRUE(inner_folds(view, context()).empty());
  EXPECT_TRUE(row_folds(view, 5, context()).empty());
}

TEST(InnerFolds, AreTheSameWhereEveryGroupHasOneRow) {
  for (const Index domains : {1, 3}) {
    TrainView view = overlapping(60, 2, 2, domains, 20);
    const std::vector<InnerFold> without = inner_folds(view, context());
    for (Index i = 0; i < view.x.rows(); ++i) view.group.push_back(static_cast<std::int32_t>(i));
    const std::vector<InnerFold> with = inner_folds(view, context());
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t f = 0; f < with.size(); ++f) EXPECT_EQ(with[f].held, without[f].held);
  }
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

Schema schema_of(const TrainView& view) {
  Schema schema;
  for (const std::string& name : view.x.names()) schema.columns.push_back({name, ColumnKind::numeric, {}});
  return schema;
}

CrossFit crossed(std::string_view pipeline, const TrainView& view, const Context& run = context()) {
  const Schema schema = schema_of(view);
  return cross_fit({Pipeline::parse(pipeline), view, schema, view.weight}, "calibrate", run);
}

TEST(CrossFit, IsTheWholePipelineFittedOnTheOtherDomains) {
  const TrainView view = overlapping(90, 3, 2, 3, 20);
  const CrossFit cross = crossed("scale | logistic l2=0.1", view);
  EXPECT_EQ(cross.folds, 3);
  EXPECT_TRUE(cross.by_domain);
  ASSERT_EQ(cross.score.rows(), 90);
  ASSERT_EQ(cross.score.cols(), 1);
  EXPECT_TRUE(cross.known.all());
  for (const InnerFold& fold : inner_folds(view, context())) {
    const Model model = fitted("scale | logistic l2=0.1", view_of_rows(view, fold.train));
    const Prediction prediction = model.predict({view.x.take(fold.held), std::nullopt}, context());
    EXPECT_TRUE(same_bytes(Matrix(cross.score(fold.held, Eigen::all)), prediction.score));
    EXPECT_TRUE(same_bytes(Matrix(cross.probability(fold.held, Eigen::all)), prediction.probability));
  }
}

TEST(CrossFit, DoesNotSeeTheLabelsOfTheRowsHeldOut) {
  const TrainView view = overlapping(90, 3, 2, 3);
  TrainView changed = view;
  const std::vector<Index> rows = view.domain.rows_of(1);
  for (const Index row : rows) changed.y.index[static_cast<std::size_t>(row)] = row % 5 == 0;
  ASSERT_NE(changed.y.index, view.y.index);
  const Matrix before = crossed("scale | logistic l2=0.1", view).score;
  const Matrix after = crossed("scale | logistic l2=0.1", changed).score;
  EXPECT_TRUE(same_bytes(Matrix(before(rows, Eigen::all)), Matrix(after(rows, Eigen::all))));
  EXPECT_FALSE(same_bytes(before, after)) << "the other domains' scores depend on them";
}

TEST(CrossFit, LeavesOutAFoldThatLeavesOneClass) {
  // d1 has both classes, d2 and d3 only the first: without d1 there is one class.
  TrainView view = overlapping(90, 3, 2, 3);
  for (Index i = 0; i < 90; ++i)
    if (view.domain.index[static_cast<std::size_t>(i)] > 0) view.y.index[static_cast<std::size_t>(i)] = 0;
  Recorder recorder;
  const CrossFit cross = crossed("logistic l2=0.1", view, context().observed_by(&recorder));
  EXPECT_EQ(cross.folds, 2);
  EXPECT_EQ(cross.rows.size(), 60U);
  EXPECT_EQ(cross.score.rows(), 60);
  EXPECT_TRUE(cross.known.all());
  for (const Index row : cross.rows) EXPECT_GT(view.domain.index[static_cast<std::size_t>(row)], 0);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "fold_one_class");
  EXPECT_EQ(recorder.warnings[0].second,
            "calibrate: without domain 'd1' all labelled rows have one class, so its 30 rows are not used");
}

TEST(CrossFit, RefusesWhereNoFoldCanBeFitted) {
  // Every class is a domain of its own.
  TrainView view = overlapping(40, 3, 2, 2);
  for (std::size_t i = 0; i < 40; ++i) view.y.index[i] = view.domain.index[i];
  EXPECT_EQ(code_of([&] { crossed("logistic l2=0.1", view); }), "no_cross_fit");
  EXPECT_NE(message_of([&] { crossed("logistic l2=0.1", view); }).find("omit the domain column"), std::string::npos);
  // A row without weight does not count as a class.
  TrainView weightless = overlapping(40, 3, 2, 2);
  weightless.weight = Vector::Ones(40);
  for (std::size_t i = 0; i < 40; ++i)
    if (weightless.y.index[i] != weightless.domain.index[i]) weightless.weight[static_cast<Index>(i)] = 0;
  EXPECT_EQ(code_of([&] { crossed("logistic l2=0.1", weightless); }), "no_cross_fit");
}

TEST(CrossFit, AClassThatAFoldLacksHasALowScore) {
  // Class c2 occurs in d3 alone.
  TrainView view = overlapping(90, 3, 3, 3);
  for (std::size_t i = 0; i < 90; ++i)
    if (view.domain.index[i] < 2 && view.y.index[i] == 2) view.y.index[i] = 0;
  Recorder recorder;
  const CrossFit cross = crossed("logistic l2=0.1", view, context().observed_by(&recorder));
  EXPECT_EQ(cross.rows.size(), 90U);
  ASSERT_EQ(cross.score.cols(), 3);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "fold_lacks_class");
  EXPECT_EQ(recorder.warnings[0].second,
            "calibrate: without domain 'd3' there is no labelled row of 'c2', so its 30 rows say nothing about it");
  for (Index i = 0; i < 90; ++i) {
    const bool held_with_it = view.domain.index[static_cast<std::size_t>(i)] == 2;
    EXPECT_EQ(cross.known(i, 2), !held_with_it);
    EXPECT_TRUE(cross.known(i, 0) && cross.known(i, 1));
    EXPECT_EQ(cross.score(i, 2) == unknown_score, held_with_it);
    EXPECT_NEAR(cross.probability.row(i).sum(), 1, 1e-12);
    if (!held_with_it) continue;
    // The two scores that are left say what the two probabilities say.
    EXPECT_EQ(cross.probability(i, 2), 0);
    EXPECT_NEAR(cross.score(i, 1) - cross.score(i, 0), std::log(cross.probability(i, 1) / cross.probability(i, 0)),
                1e-9);
  }
}

TEST(CrossFit, SaysInWhichFoldAFitFails) {
  // Without d2 the first column separates the classes.
  Matrix x(12, 1);
  x << -1, 1, -2, 2, -3, 3, -1, 1, 2, -2, -1, 1;
  TrainView view =
      view_of(Features::dense(std::move(x)), class_labels({"a", "b"}, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  view.domain = {{"d1", "d2"}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}};
  view.role = {Role::source, Role::source};
  EXPECT_EQ(code_of([&] { crossed("logistic l2=0", view); }), "separable");
  EXPECT_TRUE(message_of([&] {
                crossed("logistic l2=0", view);
              }).starts_with("calibrate: fitted without domain 'd2': logistic: "))
      << message_of([&] { crossed("logistic l2=0", view); });
}

TEST(CrossFit, SaysOnceThatRefitsDidNotConverge) {
  Recorder recorder;
  crossed("logistic l2=0 max_iterations=1", overlapping(90, 3, 2, 3), context().observed_by(&recorder));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "not_converged");
  EXPECT_EQ(recorder.warnings[0].second, "calibrate: 3 of 3 refits did not converge");
}

TEST(CrossFit, ALevelThatOnlyTheDomainHeldOutHasIsUnknownToItsFold) {
  // A category with one level per domain beside a number; the features may be without names.
  TrainView view = overlapping(60, 1, 2, 3);
  Matrix x = Matrix::Zero(60, 4);
  x.col(0) = view.x.to_matrix();
  for (Index i = 0; i < 60; ++i) x(i, 1 + view.domain.index[static_cast<std::size_t>(i)]) = 1;
  Schema schema;
  schema.columns = {{"a", ColumnKind::numeric, {}}, {"site", ColumnKind::categorical, {"p", "q", "r"}}};
  const Pipeline pipeline = Pipeline::parse("logistic l2=0.1");
  view.x = Features::dense(x, schema.feature_names());
  const CrossFit named = cross_fit({pipeline, view, schema, view.weight}, "calibrate", context());
  EXPECT_EQ(named.folds, 3);
  view.x = Features::dense(x);
  const CrossFit nameless = cross_fit({pipeline, view, schema, view.weight}, "calibrate", context());
  EXPECT_TRUE(same_bytes(named.score, nameless.score));
}

TEST(RowFolds, CutAllLabelledRowsWhateverTheirDomains) {
  const TrainView view = overlapping(103, 2, 3, 4, 10);
  const std::vector<InnerFold> folds = row_folds(view, 5, context());
  ASSERT_EQ(folds.size(), 5U);
  std::vector<Index> held;
  for (const InnerFold& fold : folds) {
    EXPECT_EQ(fold.train.size() + fold.held.size(), 103U);
    held.insert(held.end(), fold.held.begin(), fold.held.end());
    std::vector<int> of_class(3, 0);
    for (const Index row : fold.held) ++of_class[static_cast<std::size_t>(view.y.index[static_cast<std::size_t>(row)])];
    for (const int count : of_class) EXPECT_NEAR(count, 103 / 15.0, 1.0);
  }
  std::sort(held.begin(), held.end());
  for (Index i = 0; i < 103; ++i) EXPECT_EQ(held[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(row_folds(overlapping(3, 2, 2, 1), 5, context()).size(), 3U);
  EXPECT_TRUE(row_folds(overlapping(1, 2, 1, 1), 5, context()).empty());
}

TEST(ViewOfRows, OtherSourceRowsCanBeTheTarget) {
  const TrainView view = overlapping(20, 2, 2, 2, 5);
  std::vector<Index> first, second;
  for (Index i = 0; i < 20; ++i) (view.domain.index[static_cast<std::size_t>(i)] == 0 ? first : second).push_back(i);
  const TrainView part = view_of_rows(view, first, second);
  EXPECT_EQ(part.labelled(), 10);
  EXPECT_EQ(part.x.rows(), 20);
  EXPECT_EQ(part.domain.names, (std::vector<std::string>{"d1", "d2"}));
  EXPECT_EQ(part.role, (Roles{Role::source, Role::target}));
}

}  // namespace cross_fit_test
}  // namespace ecotone::test
