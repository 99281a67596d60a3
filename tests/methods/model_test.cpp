#include "ecotone/methods/model.h"

#include <future>

#include "methods/support.h"

namespace ecotone::test {
namespace model_test {

/// A table with a numeric and a categorical column: age and sex in {f, m, x}; only `present` levels occur.
struct Table {
  Schema schema{.columns = {{"age", ColumnKind::numeric, {}}, {"sex", ColumnKind::categorical, {"f", "m", "x"}}},
                .label = "y",
                .domain = "site",
                .weight = ""};
  TrainView view;
};

Table table(Index rows) {
  Table result;
  Random random(4, "table");
  Matrix x = Matrix::Zero(rows, 4);
  std::vector<std::int32_t> y;
  for (Index i = 0; i < rows; ++i) {
    x(i, 0) = 50 + 10 * random.normal();
    x(i, i % 3 == 0 ? 1 : 2) = 1;
    y.push_back(random.uniform() < (i % 3 == 0 ? 0.3 : 0.6) ? 1 : 0);
  }
  result.view = view_of(Features::dense(x, result.schema.feature_names()), class_labels({"no", "yes"}, y));
  return result;
}

TEST(Model, LeavesOutLevelsThatNoTrainingRowHas) {
  const Table data = table(60);
  const Model model = Model::fit(Pipeline::parse("scale | logistic l2=0.1"), data.view, data.schema, context());
  EXPECT_EQ(model.features(), (std::vector<std::string>{"age", "sex=f", "sex=m"}));
  EXPECT_EQ(model.schema().columns[1].levels, (std::vector<std::string>{"f", "m"}));
  // The held-out rows of the same table still have the level as a column; the model does not look at it.
  Matrix x(1, 4);
  x << 40, 0, 0, 1;
  const Prediction with = model.predict({Features::dense(x, data.schema.feature_names()), std::nullopt}, context());
  const Prediction without =
      model.predict({Features::dense(x.leftCols(3), {"age", "sex=f", "sex=m"}), std::nullopt}, context());
  EXPECT_TRUE(same_bytes(with, without));
  EXPECT_EQ(reloaded(model).features(), model.features());
}

TEST(Model, SparseRowsLoseUnseenLevelsToo) {
  Table data = table(60);
  const Model dense = Model::fit(Pipeline::parse("constant"), data.view, data.schema, context());
  data.view.x = Features::sparse(to_csr(data.view.x.to_matrix()), data.schema.feature_names());
  EXPECT_EQ(Model::fit(Pipeline::parse("constant"), data.view, data.schema, context()).features(), dense.features());
}

TEST(Model, MatchesColumnsByName) {
  const Table data = table(60);
  const Model model = Model::fit(Pipeline::parse("scale | logistic l2=0.1"), data.view, data.schema, context());
  Matrix x(2, 4);
  x << 1, 0, 61, 5, 0, 1, 33, 5;
  const Prediction shuffled =
      model.predict({Features::dense(x, {"sex=m", "sex=f", "age", "other"}), std::nullopt}, context());
  Matrix ordered(2, 3);
  ordered << 61, 0, 1, 33, 1, 0;
  const Prediction straight = model.predict({Features::dense(ordered, model.features()), std::nullopt}, context());
  EXPECT_TRUE(same_bytes(shuffled, straight));
  // Without names: by position.
  EXPECT_TRUE(same_bytes(model.predict({Features::dense(ordered), std::nullopt}, context()), straight));
  // A level that does not occur is a column of zeros.
  Matrix female(1, 2);
  female << 33, 1;
  const Prediction one = model.predict({Features::dense(female, {"age", "sex=f"}), std::nullopt}, context());
  EXPECT_EQ(one.probability(0, 1), straight.probability(1, 1));
}

TEST(Model, NamesMissingColumns) {
  const Table data = table(60);
  const Model model = Model::fit(Pipeline::parse("constant"), data.view, data.schema, context());
  const auto predict = [&](Index cols, std::vector<std::string> names) {
    return [&model, cols, names] {
      model.predict({Features::dense(Matrix::Zero(1, cols), names), std::nullopt}, context());
    };
  };
  EXPECT_EQ(code_of(predict(2, {"sex=f", "sex=m"})), "missing_column");
  EXPECT_NE(message_of(predict(2, {"sex=f", "sex=m"})).find("'age'"), std::string::npos);
  EXPECT_EQ(code_of(predict(2, {"age", "sexy"})), "missing_column");
  EXPECT_NE(message_of(predict(2, {"age", "sexy"})).find("'sex'"), std::string::npos);
  EXPECT_EQ(code_of(predict(2, {"age", "sex=unheard"})), "none");
  EXPECT_EQ(code_of(predict(5, {})), "shape_mismatch");
}

TEST(Model, NamesThatLookMadeUpStillMatchByName) {
  const TrainView view = overlapping(60, 2, 2, 1);
  const Model swapped = Model::fit(
      Pipeline::parse("logistic l2=0.1"),
      [&] {
        TrainView named = view;
        named.x = Features::dense(view.x.to_matrix(), {"x2", "x1"});
        return named;
      }(),
      Schema{}, context());
  const Matrix x = view.x.to_matrix();
  Matrix reversed(x.rows(), 2);
  reversed << x.col(1), x.col(0);
  EXPECT_TRUE(same_bytes(swapped.predict({Features::dense(reversed, {"x1", "x2"}), std::nullopt}, context()),
                         swapped.predict({Features::dense(x, {"x2", "x1"}), std::nullopt}, context())));
}

TEST(Model, AHoleBeforeALearnerNamesColumnAndRow) {
  TrainView view = overlapping(40, 2, 2, 1);
  Matrix x = view.x.to_matrix();
  x(11, 1) = nan;
  x(30, 0) = nan;
  view.x = Features::dense(x, {"age", "chol"});
  const auto fit = [&] { fitted("logistic", view); };
  EXPECT_EQ(code_of(fit), "non_finite");
  EXPECT_EQ(message_of(fit), "logistic: column 'chol' is not a number in row 12; add impute before it");
  const Model model = fitted("impute | logistic", view);
  EXPECT_EQ(model.predict({view.x, std::nullopt}, context()).index.size(), 40U);
  // Also in new rows.
  TrainView whole = overlapping(40, 2, 2, 1);
  const Model bare = fitted("logistic", whole);
  EXPECT_EQ(code_of([&] { bare.predict({Features::dense(x), std::nullopt}, context()); }), "non_finite");
  x = whole.x.to_matrix();
  x(3, 0) = INFINITY;
  EXPECT_EQ(message_of([&] {
              bare.predict({Features::dense(x), std::nullopt}, context());
            }),
            "logistic: column 'x1' is infinite in row 4; drop the row");
}

TEST(Model, AHoleIsNamedByTheRowOfTheFile) {
  Matrix x(3, 1);
  x << 1, 2, nan;
  TrainView view = view_of(Features::dense(x, {"a"}), class_labels({"u", "v"}, {0, 1, 0}));
  view.origin = {7, 3, 11};
  EXPECT_NE(message_of([&] { fitted("logistic", view); }).find("in row 12;"), std::string::npos);
  x << 1, 2, 1;
  view.x = Features::dense(x, {"a"});
  const Model model = fitted("logistic l2=1", view);
  Matrix fresh(2, 1);
  fresh << nan, 1;
  const Batch batch{Features::dense(fresh, {"a"}), std::nullopt, {4, 9}};
  EXPECT_NE(message_of([&] { model.predict(batch, context()); }).find("in row 5;"), std::string::npos);
  fresh << 1, 1e308;
  const Batch large{Features::dense(fresh * 1e0, {"a"}), std::nullopt, {4, 9}};
  const Model steep = fitted("logistic l2=0", [] {
    Matrix near(4, 1);
    near << 0, 0.02, 0.01, 0.03;
    return view_of(Features::dense(near, {"a"}), class_labels({"u", "v"}, {0, 0, 1, 1}));
  }());
  EXPECT_NE(message_of([&] { steep.predict(large, context()); }).find("values of row 10 are too large"),
            std::string::npos);
}

TEST(Model, AnAnswerThatOverflowsIsRefused) {
  TrainView view = overlapping(60, 3, 2, 3);
  const Batch large{Features::dense(Matrix::Constant(2, 3, 1.7e308)), std::nullopt, {6, 7}};
  const auto refused = [&](const char* text) {
    EXPECT_NE(
        message_of([&] { fitted(text, view).predict(large, context()); }).find("the values of row 7 are too large"),
        std::string::npos)
        << text;
  };
  for (const char* text : {"logistic l2=1e-6", "svm kernel=linear"}) refused(text);
  view.y = {Task::regress, {}, {}, 1e3 * view.x.to_matrix().col(0)};
  for (const char* text :
       {"ridge lam=0.1", "tgreedy steps=3", "greedy steps=3", "step size=2 lam=0.1", "least_squares"})
    refused(text);
}

TEST(Model, ChecksComeInOrder) {
  TrainView empty = view_of(Features::dense(Matrix(0, 2)), no_labels());
  EXPECT_EQ(code_of([&] { fitted("logistic", empty); }), "empty_data");
  EXPECT_EQ(code_of([&] { fitted("scale", empty); }), "empty_data");
  EXPECT_EQ(code_of([&] { fitted("scale", view_of(Features::dense(Matrix(3, 0)), no_labels())); }), "empty_data");
  // No labels comes before a hole in the data.
  TrainView unlabelled = view_of(Features::dense(Matrix::Constant(3, 2, nan)), no_labels());
  EXPECT_EQ(code_of([&] { fitted("logistic", unlabelled); }), "no_labels");
  EXPECT_EQ(code_of([&] { fitted("impute", unlabelled); }), "none");
}

TEST(Model, RefusesLabelsAndWeightsWhoseSquaresOverflow) {
  TrainView view = overlapping(10, 2, 2, 2);
  view.weight = Vector::Constant(10, 1e307);
  EXPECT_EQ(code_of([&] { fitted("constant", view); }), "bad_weight");
  view.weight = {};
  view.y = {Task::regress, {}, {}, Vector::Constant(10, 1e154)};
  view.origin = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  Schema schema;
  schema.label = "cost";
  for (const char* text : {"constant", "scale | least_squares", "ridge"}) {
    const auto fit = [&] { Model::fit(Pipeline::parse(text), view, schema, context()); };
    EXPECT_EQ(code_of(fit), "bad_label") << text;
    EXPECT_TRUE(message_of(fit).starts_with("fit: the label in column 'cost' is 1e+154 in row 5;")) << message_of(fit);
  }
}

TEST(Model, PartsOfAViewMustFitTogether) {
  const TrainView good = overlapping(10, 2, 2, 2);
  const auto refused = [](const TrainView& view) { return code_of([&] { fitted("constant", view); }); };
  TrainView bad = good;
  bad.domain.index.pop_back();
  EXPECT_EQ(refused(bad), "shape_mismatch");
  bad = good;
  bad.y.index.push_back(0);
  EXPECT_EQ(refused(bad), "shape_mismatch");
  bad = good;
  bad.y.index[3] = 2;
  EXPECT_EQ(refused(bad), "bad_label");
  bad = good;
  bad.weight = Vector::Ones(3);
  EXPECT_EQ(refused(bad), "shape_mismatch");
  bad = good;
  bad.domain.index[0] = 9;
  EXPECT_EQ(refused(bad), "shape_mismatch");
  EXPECT_EQ(code_of([&] {
              Model::fit(Pipeline::parse("constant"), good,
                         Schema{.columns = {{"a", ColumnKind::numeric, {}}}, .label = "", .domain = "", .weight = ""},
                         context());
            }),
            "shape_mismatch");
}

TEST(Model, WithoutALearnerItTransformsOnly) {
  const TrainView view = overlapping(40, 2, 2, 1);
  const Model model = fitted("impute | scale", view);
  EXPECT_EQ(code_of([&] { model.predict({view.x, std::nullopt}, context()); }), "no_learner");
  EXPECT_EQ(model.transform({view.x, std::nullopt}, context()).cols(), 2);
}

TEST(Model, HeldOutLabelsCannotReachIt) {
  // Rows of the last domain are held out; their labels become noise with a class of its own.
  const TrainView seen = overlapping(600, 3, 2, 3);
  Dataset data;
  data.x = seen.x;
  data.y = seen.y;
  data.domain = seen.domain;
  data.role.assign(3, Role::source);
  std::vector<Index> source;
  for (Index i = 0; i < 600; ++i) {
    if (data.domain.index[static_cast<std::size_t>(i)] != 2) source.push_back(i);
  }
  const std::vector<Index> target = data.domain.rows_of(2);
  Dataset noise = data;
  noise.y->classes = {"a new class", "c0", "c1"};
  for (std::int32_t& cls : noise.y->index) cls += 1;
  Random random(8, "noise");
  for (const Index row : target)
    noise.y->index[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(random.below(3));

  const Pipeline pipeline = Pipeline::parse("impute | scale | logistic l2=0.01");
  for (const std::vector<Index>& visible : {std::vector<Index>{}, target}) {
    const Model honest = Model::fit(pipeline, train_view(data, source, visible, context()), data.schema, context());
    const Model swapped = Model::fit(pipeline, train_view(noise, source, visible, context()), noise.schema, context());
    EXPECT_TRUE(honest.bytes() == swapped.bytes());
    EXPECT_EQ(swapped.classes(), (std::vector<std::string>{"c0", "c1"}));
  }
}

TEST(Model, ManyThreadsMayPredictAtOnce) {
  const TrainView view = overlapping(3000, 3, 2, 2);
  const Model model = fitted("impute | scale | logistic", view);
  const Batch batch{view.x, view.domain};
  const Context shared = context(2);
  const Prediction expected = model.predict(batch, shared);
  std::vector<std::future<bool>> runs;
  for (int k = 0; k < 6; ++k) {
    runs.push_back(std::async(std::launch::async, [&, k] {
      const Context own = context(1);
      return same_bytes(model.predict(batch, k % 2 ? shared : own), expected);
    }));
  }
  for (auto& run : runs) EXPECT_TRUE(run.get());
}

TEST(Model, PredictsNoRows) {
  const TrainView view = overlapping(60, 2, 2, 1);
  const Prediction none = fitted("impute | scale | logistic", view).predict({view.x.head(0), std::nullopt}, context());
  EXPECT_EQ(none.probability.rows(), 0);
  EXPECT_EQ(none.probability.cols(), 2);
}

TEST(Model, KeepsTheVersionThatWroteTheFile) {
  std::string bytes = fitted("scale", overlapping(20, 2, 2, 1)).bytes();
  const std::string key = "\"version\":\"";
  const auto place = bytes.find(key) + key.size();
  ASSERT_LT(place, bytes.size());
  bytes[place] = '9';
  const Model old = Model::from_tensors(TensorFile::parse(bytes, "old.eco"));
  EXPECT_EQ(old.inspect()["version"].get<std::string>().front(), '9');
  EXPECT_EQ(old.bytes(), bytes);
}

TEST(Model, InspectShowsWhatTheDesignSays) {
  TrainView view = overlapping(60, 2, 2, 2);
  const Json json = fitted("scale | logistic l2=0.5", view).inspect();
  EXPECT_EQ(json["format"], "ecotone-model");
  EXPECT_EQ(json["pipeline"], "scale | logistic l2=0.5");
  EXPECT_EQ(json["classes"], Json({"c0", "c1"}));
  EXPECT_EQ(json["features"], Json({"x1", "x2"}));
  EXPECT_EQ(json["domains"], Json({"d1", "d2"}));
  EXPECT_EQ(json["seed"], 1);
  EXPECT_EQ(json["task"], "classify");
  EXPECT_EQ(json["stages"][0]["stage"], "scale");
  EXPECT_EQ(json["stages"][1]["options"]["l2"], 0.5);
  for (const char* key : {"weights", "offset", "kkt", "risk", "iterations", "status"})
    EXPECT_TRUE(json["stages"][1].contains(key)) << key;
  EXPECT_TRUE(json["stages"][1]["offset"].is_number());
}

}  // namespace model_test
}  // namespace ecotone::test
