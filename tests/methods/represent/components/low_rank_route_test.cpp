// The route low_rank of kpca, udica, coir and dica; what all routes share is tested beside it.
#include <algorithm>
#include <string>

#include "methods/support.h"

namespace ecotone::test {
namespace low_rank_route_test {

/// Rows of three domains with a moved column; labels are classes or numbers.
struct Rows {
  Matrix x;
  TrainView view;

  explicit Rows(Index n, Task task = Task::classify) : x(n, 3) {
    Random random(2, "low rank route");
    Labels y{task, {}, {}, {}};
    if (task == Task::classify) y.classes = {"a", "b", "c"};
    y.value.resize(task == Task::regress ? n : 0);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < 3; ++j) x(i, j) = random.normal();
      const double score = x(i, 0) + 0.5 * x(i, 1) * x(i, 1);
      x(i, 2) += 0.7 * static_cast<double>(i % 3);
      if (task == Task::classify) y.index.push_back(score < 0 ? 0 : score < 1 ? 1 : 2);
      if (task == Task::regress) y.value[i] = 1000 + score;
    }
    view.x = Features::dense(x);
    view.y = std::move(y);
    view.domain = dealt_domains(n, 3);
    view.role = {Role::source, Role::source, Role::source};
  }

  Schema schema() const {
    Schema result;
    for (Index j = 0; j < 3; ++j) result.columns.push_back({view.x.name(j), ColumnKind::numeric, {}});
    return result;
  }
  Model fit(const std::string& pipeline, const Context& with) const {
    return Model::fit(Pipeline::parse(pipeline), view, schema(), with);
  }
};

Matrix transformed(const Model& model, const Matrix& x) {
  return model.transform({Features::dense(x), {}}, context()).to_matrix();
}

Json stage_json(const Model& model) { return model.inspect().at("stages").at(0); }

TEST(LowRankRoute, AsManyLandmarksAsRowsAreTheExactRoutes) {
  for (const Task task : {Task::classify, Task::regress}) {
    const Rows rows(90, task);
    const Matrix fresh = Rows(20).x;
    for (const std::string stage :
         {"kpca lam=0.1", "udica weight=20", "udica lam=0 weight=20", "coir", "coir form=paper scaling=reference",
          "dica weight=20", "dica weight=20 lam=0", "dica weight=20 form=paper scaling=metric", "dica centre=batch",
          "dica kernel=laplacian weight=5", "dica kernel=poly degree=2 weight=0.1", "udica kernel=linear"}) {
      SCOPED_TRACE(stage);
      const Model exact = rows.fit(stage, context());
      const Model low = rows.fit(stage + " route=low_rank rank=90", context());
      EXPECT_NE(stage_json(exact).at("route"), "low_rank");
      EXPECT_EQ(stage_json(low).at("route"), "low_rank");
      const Matrix expected = transformed(exact, fresh);
      Matrix z = transformed(low, fresh);
      ASSERT_EQ(z.cols(), expected.cols());
      for (Index j = 0; j < z.cols(); ++j)
        if (z.col(j).dot(expected.col(j)) < 0) z.col(j) *= -1;
      EXPECT_LT((z - expected).cwiseAbs().maxCoeff(), 1e-7 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST(LowRankRoute, LinearOutputsAreThoseOfTheExactRoute) {
  const Rows rows(80, Task::regress);
  const std::string stage = "dica output_kernel=linear components=1 weight=20";
  const Matrix expected = transformed(rows.fit(stage, context()), rows.x);
  Matrix z = transformed(rows.fit(stage + " route=low_rank rank=80", context()), rows.x);
  if (z.col(0).dot(expected.col(0)) < 0) z = -z;
  EXPECT_LT((z - expected).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(LowRankRoute, ManyRowsTakeItUnasked) {
  const Json many = stage_json(Rows(20001).fit("kpca kernel=linear rank=5", context()));
  EXPECT_EQ(many.at("route"), "low_rank");
  EXPECT_EQ(many.at("rank"), 3);
  EXPECT_EQ(many.at("map"), "pivoted");
  EXPECT_EQ(many.at("map_rows"), 10000);
  EXPECT_LT(many.at("residual").get<double>(), 1e-12);
  // A factorisation would take long much sooner than products with the Gram matrix.
  const Rows rows(4001);
  EXPECT_EQ(stage_json(rows.fit("udica kernel=linear rank=5", context())).at("route"), "low_rank");
  EXPECT_EQ(stage_json(rows.fit("udica kernel=linear lam=0", context())).at("route"), "matvec");
  EXPECT_EQ(stage_json(Rows(60).fit("udica kernel=linear rank=5", context())).at("route"), "cholesky");
}

TEST(LowRankRoute, WarnsOfARoughMapOnlyWhereItWasAskedFor) {
  const Rows rows(4001);
  const auto warned = [&](const char* stage) {
    Recorder recorder;
    rows.fit(stage, context().observed_by(&recorder));
    return std::any_of(recorder.warnings.begin(), recorder.warnings.end(),
                       [](const auto& warning) { return warning.first == "rough_map"; });
  };
  EXPECT_TRUE(warned("udica rank=2 sigma=0.3 route=low_rank"));
  EXPECT_FALSE(warned("udica rank=2 sigma=0.3"));
}

TEST(LowRankRoute, SavedAndLoadedItIsTheSame) {
  const Rows rows(200);
  for (const std::string map : {"pivoted", "uniform", "greedy", "fourier"}) {
    const Model model = rows.fit("dica route=low_rank rank=40 weight=10 map=" + map, context());
    const Model again = Model::from_tensors(TensorFile::parse(model.bytes(), "model"));
    EXPECT_EQ(model.bytes(), again.bytes());
    EXPECT_EQ(transformed(model, rows.x), transformed(again, rows.x));
    EXPECT_EQ(stage_json(again).at("map"), map);
  }
}

TEST(LowRankRoute, EqualBytesForAnyNumberOfThreads) {
  const Rows rows(3000);
  for (const char* stage : {"dica route=low_rank rank=60 weight=10", "kpca route=low_rank map=fourier rank=60"}) {
    const std::string one = rows.fit(stage, context(1)).bytes();
    EXPECT_EQ(rows.fit(stage, context(2)).bytes(), one);
    EXPECT_EQ(rows.fit(stage, context(7)).bytes(), one);
  }
}

TEST(LowRankRoute, AFileThatLiesIsRefused) {
  const Rows rows(100);
  const Pipeline pipeline = Pipeline::parse("udica route=low_rank rank=10");
  const Method& method = *pipeline.stages().front().method;
  const OptionValues& options = pipeline.stages().front().options;
  FitCache cache;
  const StageState good = method.fit(rows.view, options, context(), cache).fitted->save();
  StageInput input;
  input.cols = 3;
  const auto load = [&](const StageState& state) { return code_of([&] { method.load(state, options, input); }); };
  EXPECT_EQ(load(good), "none");
  StageState bad = good;
  bad.set("factor", Matrix(Matrix::Zero(10, 10)));
  EXPECT_EQ(load(bad), "bad_model");
  bad = good;
  bad.set("mean", Vector(Vector::Zero(9)));
  EXPECT_EQ(load(bad), "bad_model");
  bad = good;
  bad.info["rank"] = 11;
  EXPECT_EQ(load(bad), "bad_model");
  bad = good;
  bad.info.erase("direct");
  EXPECT_EQ(load(bad), "bad_model");
}

TEST(LowRankRoute, WarnsOfARoughMap) {
  const Rows rows(400);
  const auto warned = [&](const std::string& stage) {
    Recorder recorder;
    rows.fit(stage, Context({.threads = 2, .seed = 1, .observer = &recorder}));
    return std::ranges::any_of(recorder.warnings, [](const auto& one) { return one.first == "rough_map"; });
  };
  // The paper's form needs the kernel down to lam, others do not.
  EXPECT_TRUE(warned("coir route=low_rank rank=40 sigma=3 form=paper lam=0.001"));
  EXPECT_FALSE(warned("coir route=low_rank rank=40 sigma=3 form=symmetric lam=0.001"));
  EXPECT_FALSE(warned("coir route=low_rank rank=40 sigma=3 form=paper lam=100"));
  EXPECT_TRUE(warned("kpca route=low_rank rank=5 sigma=0.3"));
}

TEST(LowRankRoute, RefusesWhatItCannotDo) {
  const Rows rows(50);
  const auto code = [&](const char* stage) { return code_of([&] { rows.fit(stage, context()); }); };
  EXPECT_EQ(code("dica route=low_rank form=paper lam=0"), "bad_option");
  EXPECT_EQ(code("kpca route=low_rank map=fourier kernel=linear"), "bad_option");
  EXPECT_EQ(code("kpca route=low_rank map=fourier residual=0.1"), "bad_option");
  EXPECT_EQ(code("kpca route=low_rank residual=1"), "bad_option");
}

}  // namespace low_rank_route_test
}  // namespace ecotone::test
