// Selectors of several classes: each class against the rest, and the columns of all in turns.
#include <gtest/gtest.h>

#include <algorithm>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/registry.h"
#include "ecotone/methods/select/selected_columns.h"
#include "ecotone/methods/select/selection_data.h"
#include "methods/support.h"

namespace ecotone {

#define METHOD(id) Method id##_method();
#include "ecotone/methods/methods.def"
#undef METHOD

namespace test {
namespace several_classes_test {

/// The same rows with class k against the rest.
TrainView against_rest(TrainView view, std::int32_t k) {
  const std::string name = view.y.classes[static_cast<std::size_t>(k)];
  Labels y = class_labels({"not " + name, name}, {});
  for (const std::int32_t cls : view.y.index) y.index.push_back(cls == k ? 1 : 0);
  view.y = std::move(y);
  return view;
}

/// Three classes in five domains, which differ in size, with row weights.
TrainView weighted() {
  TrainView view = overlapping(330, 7, 3, 5);
  Random random(8, "weights");
  view.weight = Vector(view.labelled());
  for (double& w : view.weight) w = 0.2 + random.uniform();
  for (std::size_t i = 0; i < 60; ++i) view.domain.index[i] = 0;
  return view;
}

TrainView sparse(TrainView view) {
  Matrix x = view.x.to_matrix();
  for (Index j = 0; j < x.cols(); ++j) x.col(j).array() -= 10.0 * static_cast<double>(j) + 0.4;
  view.x = Features::sparse(to_csr(x.cwiseMax(0.0)));
  return view;
}

const std::vector<std::string> selectors = {
    "greedy steps=4",
    "greedy steps=4 route=gram",
    "greedy steps=4 route=lazy",
    "tgreedy steps=6 mode=stepwise intercept=true",
    "tgreedy mode=ortho stop=student",
    "greedy steps=5 stop=lodo intercept=true",
    "step",
    "step size=3 lam=0.1 route=lazy",
    "step penalty=ridge steps=4 score=auroc",
    "scale | step steps=4",
    "scale | greedy steps=4 stop=lodo intercept=true",
};

TEST(SeveralClasses, ScoresAreThoseOfEachClassAgainstTheRest) {
  for (const TrainView& view : {overlapping(300, 7, 3, 5), weighted(), sparse(weighted())}) {
    const Batch batch{view.x, view.domain};
    for (const std::string& text : selectors) {
      SCOPED_TRACE(text);
      const Prediction found = fitted(text, view).predict(batch, context());
      ASSERT_EQ(found.score.cols(), 3);
      Matrix positive(found.score.rows(), 3);
      for (std::int32_t k = 0; k < 3; ++k) {
        const Prediction own = fitted(text, against_rest(view, k)).predict(batch, context());
        EXPECT_TRUE(same_bytes(Matrix(found.score.col(k)), own.score)) << k;
        positive.col(k) = own.probability.col(1);
      }
      for (Index i = 0; i < found.score.rows(); ++i) {
        Index best = 0;
        found.score.row(i).maxCoeff(&best);
        EXPECT_EQ(found.index[at(i)], best);
        EXPECT_LT((found.probability.row(i) - positive.row(i) / positive.row(i).sum()).cwiseAbs().maxCoeff(), 1e-12);
      }
    }
  }
}

TEST(SeveralClasses, OneDomainIsSplitByTheClassesOfEachProblem) {
  // Folds of rows follow the labels, so that each class has groups of its own.
  const TrainView view = overlapping(300, 5, 3, 1);
  const Prediction found = fitted("step route=gram", view).predict({view.x, view.domain}, context());
  for (std::int32_t k = 0; k < 3; ++k) {
    const Model own = fitted("step route=gram", against_rest(view, k));
    EXPECT_TRUE(same_bytes(Matrix(found.score.col(k)), own.predict({view.x, view.domain}, context()).score)) << k;
  }
}

TEST(SeveralClasses, TurnsGiveEveryListItsFirstBeforeAnyItsSecond) {
  EXPECT_EQ(in_turns({{3, 1, 2}, {1, 4}, {}, {5}}), (std::vector<Index>{3, 1, 5, 4, 2}));
  EXPECT_EQ(in_turns({{0, 1}, {1, 0}}), (std::vector<Index>{0, 1}));
  EXPECT_EQ(in_turns({{}, {}}), std::vector<Index>{});
}

/// Column k tells class k from the others, column 3 + k does so less clearly, columns from 6 on are noise; the classes
/// are told apart with growing clarity.
TrainView told_apart() {
  Random random(4, "told apart");
  Matrix x(600, 8);
  Labels y = class_labels({"first", "second", "third"}, {});
  for (Index i = 0; i < x.rows(); ++i) {
    const Index cls = i % 3;
    y.index.push_back(static_cast<std::int32_t>(cls));
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = random.normal();
    x(i, cls) += 1.5 + 0.3 * static_cast<double>(cls);
    x(i, 3 + cls) += 0.8;
  }
  TrainView view = view_of(Features::dense(x, {"a", "b", "c", "d", "e", "f", "g", "h"}), std::move(y));
  for (std::size_t i = 0; i < 600; ++i) view.domain.index[i] = static_cast<std::int32_t>(i / 3 % 5);
  view.domain.names = dealt_domains(0, 5).names;
  view.role.assign(5, Role::source);
  return view;
}

std::vector<std::string> passed_on(const Model& model, const TrainView& view) {
  return model.transform({view.x, view.domain}, context()).names();
}

TEST(SeveralClasses, PassOnTheColumnsOfAllClassesInTurns) {
  const TrainView view = told_apart();
  const std::vector<std::string> columns = view.x.names();
  EXPECT_EQ(passed_on(fitted("greedy steps=1 intercept=true | constant", view), view),
            (std::vector<std::string>{"a", "b", "c"}));
  for (const std::string& text : selectors) {
    SCOPED_TRACE(text);
    std::vector<std::vector<Index>> lists;
    for (std::int32_t k = 0; k < 3; ++k) {
      std::vector<Index>& list = lists.emplace_back();
      for (const std::string& name : passed_on(fitted(text, against_rest(view, k)), view))
        list.push_back(std::ranges::find(columns, name) - columns.begin());
    }
    EXPECT_NE(lists[0], lists[1]);
    std::vector<std::string> expected;
    for (const Index j : in_turns(lists)) expected.push_back(columns[at(j)]);
    const Model model = fitted(text + " | logistic l2=0.1", view);
    EXPECT_EQ(passed_on(model, view), expected);
    EXPECT_EQ(model.inspect().at("stages").back().at("weights").at(0).size(), expected.size());
    EXPECT_EQ(passed_on(reloaded(model), view), expected);
  }
  const Matrix z =
      fitted("greedy steps=1 intercept=true", view).transform({view.x, view.domain}, context()).to_matrix();
  EXPECT_TRUE(same_bytes(z, Matrix(view.x.to_matrix().leftCols(3))));
}

TEST(SeveralClasses, SavedAndLoadedAreTheSame) {
  const TrainView view = weighted();
  const Batch batch{view.x, view.domain};
  for (const std::string& text : selectors) {
    SCOPED_TRACE(text);
    const Model model = fitted(text, view);
    const Model loaded = reloaded(model);
    EXPECT_TRUE(loaded.bytes() == model.bytes());
    EXPECT_EQ(loaded.inspect().dump(), model.inspect().dump());
    EXPECT_TRUE(same_bytes(loaded.predict(batch, context()), model.predict(batch, context())));
    EXPECT_EQ(passed_on(loaded, view), passed_on(model, view));
    const Json stage = model.inspect().at("stages").back();
    EXPECT_EQ(stage.at("binary").size(), 3U);
    EXPECT_TRUE(stage.contains("binary2/weights"));
  }
}

/// The registry gives what the selector's own source gives.
void expect_unwrapped(const Method& own, const Method& registered, const TrainView& view) {
  EXPECT_TRUE(std::ranges::equal(own.options, registered.options, {}, &OptionInfo::name, &OptionInfo::name))
      << "model files hold all options";
  const OptionValues options = complete_options(own.name, own.options, OptionTexts{});
  FitCache cache, other;
  const StageResult expected = own.fit(view, options, context(), cache);
  const StageResult found = registered.fit(view, options, context(), other);
  const StageState a = expected.fitted->save(), b = found.fitted->save();
  EXPECT_EQ(a.info, b.info) << own.name;
  ASSERT_EQ(a.arrays().size(), b.arrays().size()) << own.name;
  for (const auto& [name, array] : a.arrays()) EXPECT_EQ(array.values, b.arrays().at(name).values) << own.name;
  EXPECT_EQ(expected.next.x.names(), found.next.x.names()) << own.name;
  EXPECT_EQ(expected.status.text, found.status.text) << own.name;
}

TEST(SeveralClasses, TwoClassesAndNumbersAreThoseOfTheSelectorItself) {
  TrainView numbers = overlapping(200, 5, 2, 4);
  numbers.y = {Task::regress, {}, {}, numbers.x.to_matrix().col(1) - numbers.x.to_matrix().col(3)};
  for (const Method& own : {tgreedy_method(), greedy_method(), step_method()})
    for (const TrainView& view : {overlapping(200, 5, 2, 4), numbers}) expect_unwrapped(own, method(own.name), view);
}

TEST(SeveralClasses, NothingIsLearntByAllOfThemFromNoise) {
  TrainView view = noise(240, 6, 4);
  view.y.classes = {"a", "b", "c"};
  for (std::size_t i = 0; i < 240; ++i) view.y.index[i] = static_cast<std::int32_t>(i * 7 % 3);
  Recorder recorder;
  const Model model = fitted("step | logistic l2=0.1", view, context().observed_by(&recorder));
  // Every problem passes on the first of its path, because a learner needs one.
  EXPECT_GE(passed_on(model, view).size(), 1U);
  EXPECT_LE(passed_on(model, view).size(), 3U);
  std::string told;
  for (const auto& [code, text] : recorder.warnings)
    if (code == "empty_model") told += text + "\n";
  for (const std::string& name : passed_on(model, view)) EXPECT_NE(told.find("'" + name + "'"), std::string::npos);
  const Prediction found = fitted("step", view).predict({view.x, view.domain}, context());
  EXPECT_EQ(found.score.row(0), found.score.row(239));
}

TEST(SeveralClasses, AClassMayBeInOneDomainAlone) {
  TrainView view = overlapping(300, 5, 3, 5);
  for (std::size_t i = 0; i < 300; ++i)
    if (view.y.index[i] == 2) view.domain.index[i] = 1;
  const Batch batch{view.x, view.domain};
  for (const std::string& text : selectors) {
    const Prediction found = fitted(text, view).predict(batch, context());
    EXPECT_TRUE(found.score.allFinite()) << text;
    EXPECT_TRUE(found.probability.allFinite()) << text;
  }
  // Without that domain there are two classes.
  std::vector<Index> rest;
  for (Index i = 0; i < 300; ++i)
    if (view.domain.index[at(i)] != 1) rest.push_back(i);
  EXPECT_EQ(fitted("step", view_of_rows(view, rest)).classes().size(), 2U);
}

TEST(SeveralClasses, ErrorsNameTheClass) {
  // All rows of the third class have weight 0.
  TrainView view = overlapping(60, 3, 3, 1);
  view.weight = Vector::Ones(60);
  for (Index i = 2; i < 60; i += 3) view.weight[i] = 0;
  const auto fit = [&] { fitted("greedy", view); };
  EXPECT_EQ(code_of(fit), "one_class");
  EXPECT_TRUE(message_of(fit).ends_with("('c2' against the rest)")) << message_of(fit);
  EXPECT_EQ(code_of([&] { fitted("tgreedy", overlapping(60, 3, 3, 1)); }), "needs_two_domains");
  EXPECT_EQ(code_of([&] { fitted("greedy multiclass=ovo", overlapping(60, 3, 3, 1)); }), "unknown_option");
}

TEST(SeveralClasses, HostileStatesAreRefused) {
  const Method& greedy = method("greedy");
  const OptionValues options = complete_options("greedy", greedy.options, OptionTexts{});
  FitCache cache;
  const StageState good = greedy.fit(overlapping(90, 4, 3, 2), options, context(), cache).fitted->save();
  const StageInput three{4, Task::classify, {"a", "b", "c"}};
  const auto load = [&](auto change, const StageInput& input) {
    StageState state = good;
    change(state);
    return code_of([&] { greedy.load(state, options, input); });
  };
  EXPECT_EQ(load([](StageState&) {}, three), "none");
  EXPECT_EQ(load([](StageState&) {}, {4, Task::classify, {"a", "b"}}), "bad_model");
  EXPECT_EQ(load([](StageState&) {}, {4, Task::classify, {"a", "b", "c", "d"}}), "bad_model");
  EXPECT_EQ(load([](StageState&) {}, {2, Task::classify, {"a", "b", "c"}}), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["binary"][1] = 3; }, three), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.set("binary1/support", Vector(Vector::Constant(2, 1.0))); }, three),
            "bad_model");
}

TEST(SeveralClasses, ShareGramMatricesOfTheSameGroups) {
  const TrainView first = against_rest(weighted(), 0), second = against_rest(weighted(), 1);
  const SelectionData a("test", first), b("test", second);
  const auto columns = [](const SelectionData& data, PathRoute route, FitCache* cache) {
    return moment_columns(data, route, GramKind::double_precision, cache, context());
  };
  FitCache cache(FitCache::Order::of_problems);
  const auto of_first = columns(a, PathRoute::gram, &cache);
  // Memory that is taken may speak for the other route, and the matrices are there.
  const auto of_second = columns(b, PathRoute::lazy, &cache);
  EXPECT_EQ(of_first.get(), of_second.get());
  EXPECT_EQ(of_second->route, PathRoute::gram);
  const auto alone = columns(b, PathRoute::gram, nullptr);
  EXPECT_EQ(of_second->moments.classes, alone->moments.classes);
  EXPECT_TRUE(same_bytes(of_second->moments.xy, alone->moments.xy));
  EXPECT_TRUE(same_bytes(Matrix(of_second->moments.y1), Matrix(alone->moments.y1)));
  const std::vector<Index> wanted = {2, 5};
  of_second->columns->fetch(wanted, context());
  alone->columns->fetch(wanted, context());
  for (const Index j : wanted) EXPECT_TRUE(same_bytes(of_second->columns->column(j), alone->columns->column(j)));

  TrainView moved = second;
  std::rotate(moved.domain.index.begin(), moved.domain.index.begin() + 7, moved.domain.index.end());
  const SelectionData elsewhere("test", moved);
  const auto of_others = columns(elsewhere, PathRoute::gram, &cache);
  EXPECT_NE(of_others.get(), of_first.get());
  EXPECT_TRUE(same_bytes(of_others->moments.xx, columns(elsewhere, PathRoute::gram, nullptr)->moments.xx));
  // Other caches share nothing.
  FitCache any;
  EXPECT_NE(columns(a, PathRoute::gram, &any).get(), columns(a, PathRoute::gram, &any).get());
}

}  // namespace several_classes_test
}  // namespace test
}  // namespace ecotone
