#include "ecotone/methods/learn/svm/svm.h"

#include "methods/support.h"

namespace ecotone::test {
namespace svm_test {

/// A disc inside a ring: no line separates them.
TrainView rings(Index rows, Index domains = 3) {
  TrainView view = overlapping(rows, 2, 2, domains, 0);
  Matrix x(rows, 2);
  Random random(3, "rings");
  for (Index i = 0; i < rows; ++i) {
    const bool outer = i % 2 == 1;
    const double angle = 6.283185307179586 * random.uniform();
    const double radius = (outer ? 2.0 : 0.5) + 0.2 * random.normal();
    x.row(i) << radius * std::cos(angle), radius * std::sin(angle);
    view.y.index[static_cast<std::size_t>(i)] = outer ? 1 : 0;
  }
  view.x = Features::dense(std::move(x));
  return view;
}

StageResult fitted(const TrainView& view, const SvmOptions& options, const Context& with = context()) {
  FitCache cache;
  return Svm::fit(view, options, with, cache);
}

double accuracy(const StageResult& result, const TrainView& view) {
  const Prediction prediction = result.fitted->predict({view.x, std::nullopt}, context());
  double right = 0;
  for (std::size_t i = 0; i < prediction.index.size(); ++i) right += prediction.index[i] == view.y.index[i] ? 1 : 0;
  return right / static_cast<double>(prediction.index.size());
}

TEST(SvmStage, SeparatesWhatNoLineCan) {
  const TrainView view = rings(400);
  EXPECT_GT(accuracy(fitted(view, {}), view), 0.99);
  EXPECT_LT(accuracy(fitted(view, {.kernel = LearnerKernelKind::linear}), view), 0.75);
  EXPECT_GT(accuracy(fitted(view, {.kernel = LearnerKernelKind::poly, .degree = 2}), view), 0.99);
}

TEST(SvmStage, SaysTheDualityGap) {
  const StageResult result = fitted(rings(300), {});
  EXPECT_TRUE(result.status.converged);
  const StageState state = result.fitted->save();
  EXPECT_LE(state.number("kkt"), 1e-3);
  EXPECT_GE(state.number("gap"), -1e-9);
  EXPECT_LE(state.number("gap"), 300 * 1e-3);
  EXPECT_FALSE(fitted(rings(300), {.max_iterations = 3}).status.converged);
}

TEST(SvmStage, SaysTheGapBesideTheObjective) {
  const StageResult result = fitted(rings(300), {});
  const StageState state = result.fitted->save();
  const double primal = state.number("gap") - state.number("objective");
  EXPECT_NE(result.status.text.find(fmt::format("duality gap {:.2g} of {:.4g}", state.number("gap"), primal)),
            std::string::npos)
      << result.status.text;
}

TEST(SvmStage, NamesTheClassThatWeightsLeave) {
  TrainView view = rings(40);
  view.y.classes = {"cat", "dog"};
  view.weight = Vector::Ones(40);
  for (Index i = 0; i < 40; ++i)
    if (view.y.index[static_cast<std::size_t>(i)] == 0) view.weight[i] = 0;
  for (const SvmRoute route : {SvmRoute::exact, SvmRoute::low_rank}) {
    try {
      fitted(view, {.route = route});
      FAIL() << "one class was fitted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "one_class");
      EXPECT_NE(std::string(error.what()).find("'dog'"), std::string::npos) << error.what();
    }
  }
  view.weight.setZero();
  EXPECT_EQ(code_of([&] { fitted(view, {}); }), "zero_weights");
}

TEST(SvmStage, WarnsOfNumbersWithinEpsilon) {
  for (const SvmRoute route : {SvmRoute::exact, SvmRoute::low_rank}) {
    for (const double spread : {0.15, 0.25}) {
      TrainView view = overlapping(20, 2, 2, 1, 0);
      view.y = Labels{Task::regress, {}, {}, Vector::LinSpaced(20, 3.0, 3.0 + spread)};
      Recorder recorder;
      fitted(view, {.route = route}, context().observed_by(&recorder));
      const bool told = std::any_of(recorder.warnings.begin(), recorder.warnings.end(),
                                    [](const auto& warning) { return warning.first == "within_epsilon"; });
      EXPECT_EQ(told, spread < 0.2);
    }
  }
}

TEST(SvmStage, AnOffsetOfTheColumnsCostsAGridOfLinearKernelsNothing) {
  TrainView view = overlapping(200, 3, 2, 2, 0);
  TrainView moved = view;
  moved.x = Features::dense(view.x.to_matrix().array() + 1e7);
  FitCache near_cache(FitCache::Order::in_order), far_cache(FitCache::Order::in_order);
  for (const double cost : {0.1, 1.0, 10.0}) {
    const SvmOptions options{.cost = cost, .kernel = LearnerKernelKind::linear, .tolerance = 1e-5};
    const StageResult near = Svm::fit(view, options, context(), near_cache);
    const StageResult far = Svm::fit(moved, options, context(), far_cache);
    EXPECT_TRUE(far.status.converged) << far.status.text;
    const Vector a = near.fitted->predict({view.x, std::nullopt}, context()).score.col(0);
    const Vector b = far.fitted->predict({moved.x, std::nullopt}, context()).score.col(0);
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-2) << cost;
  }
}

TEST(SvmStage, PredictsNumbers) {
  TrainView view = overlapping(300, 2, 2, 1, 0);
  const Matrix x = view.x.to_matrix();
  view.y = Labels{Task::regress, {}, {}, Vector(x.col(0).array().sin() + x.col(1).array())};
  const StageResult result = fitted(view, {.cost = 100, .epsilon = 0.05});
  const Prediction prediction = result.fitted->predict({view.x, std::nullopt}, context());
  ASSERT_EQ(prediction.task, Task::regress);
  EXPECT_LT((prediction.value - view.y.value).cwiseAbs().mean(), 0.06);
}

TEST(SvmStage, PredictsAConstantWhereNoRowCosts) {
  TrainView view = overlapping(20, 2, 2, 1, 0);
  view.y = Labels{Task::regress, {}, {}, Vector::Constant(20, 3.0)};
  const StageResult result = fitted(view, {});
  const Prediction prediction = result.fitted->predict({view.x, std::nullopt}, context());
  EXPECT_LE((prediction.value.array() - 3).abs().maxCoeff(), 0.1 + 1e-12);
  EXPECT_EQ(result.fitted->save().matrix("support", -1, 2).rows(), 1);
}

TEST(SvmStage, MapsScoresToProbabilities) {
  for (const Index domains : {1, 3}) {
    // Labels of a tenth of the rows are turned: sure predictions are wrong there.
    TrainView view = rings(500, domains);
    for (std::size_t i = 0; i < view.y.index.size(); i += 10) view.y.index[i] = 1 - view.y.index[i];
    const StageResult with = fitted(view, {.probability = true});
    const StageResult without = fitted(view, {});
    const Prediction p = with.fitted->predict({view.x, std::nullopt}, context());
    const Prediction raw = without.fitted->predict({view.x, std::nullopt}, context());
    EXPECT_TRUE(p.score == raw.score);
    const auto loss = [&](const Prediction& prediction) {
      double sum = 0;
      for (std::size_t i = 0; i < view.y.index.size(); ++i)
        sum -= std::log(prediction.probability(static_cast<Index>(i), view.y.index[i]));
      return sum / 500;
    };
    // The entropy of one tenth is 0.325.
    EXPECT_LT(loss(p), 0.36);
    EXPECT_LT(loss(p), loss(raw));
    const Prediction again =
        fitted(view, {.probability = true}, context(7)).fitted->predict({view.x, std::nullopt}, context());
    EXPECT_TRUE(p.probability == again.probability);
  }
}

/// Domains of different scale, so that a scale that has seen them all differs from one that has not.
TrainView uneven(Index rows, Index domains) {
  TrainView view = overlapping(rows, 4, 2, domains);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x.row(i) *= 1.0 + 0.3 * view.domain.index[at(i)];
  view.x = Features::dense(x);
  return view;
}

TEST(SvmStage, ProbabilitiesAreLearnedBehindStagesThatHaveNotSeenTheFold) {
  for (const Index domains : {1, 6}) {
    const TrainView view = uneven(180, domains);
    for (const std::string before : {"scale | ", "greedy steps=2 intercept=true | "})
      for (const std::string learner :
           {"svm", "svm kernel=linear route=low_rank", "svm route=low_rank rank=20", "svm distributional=true"}) {
        std::vector<double> score, positive;
        for (const InnerFold& fold : inner_folds(view, context())) {
          const Model model = test::fitted(before + learner, view_of_rows(view, fold.train));
          const Prediction p = model.predict({view.x.take(fold.held), view.domain.take(fold.held)}, context());
          for (std::size_t i = 0; i < fold.held.size(); ++i) {
            score.push_back(p.score(static_cast<Index>(i), 0));
            positive.push_back(view.y.index[at(fold.held[i])]);
          }
        }
        const auto vector = [](const std::vector<double>& v) {
          return Vector(Eigen::Map<const Vector>(v.data(), std::ssize(v)));
        };
        const PlattMap expected = fit_platt(vector(score), vector(positive), Vector::Ones(180)).map;
        const Model model = test::fitted(before + learner + " probability=true", view);
        const Json stage = model.inspect().at("stages")[1];
        EXPECT_NEAR(stage.at("platt_slope").get<double>(), expected.slope, 1e-9) << before << learner;
        EXPECT_NEAR(stage.at("platt_intercept").get<double>(), expected.intercept, 1e-9) << before << learner;
        EXPECT_EQ(reloaded(model).bytes(), model.bytes());
      }
  }
}

TEST(SvmStage, ProbabilitiesAreNotSureOfASelectionThatSawTheLabels) {
  TrainView view = overlapping(120, 200, 2, 6);
  Random random(9, "pure noise");
  for (auto& cls : view.y.index) cls = random.uniform() < 0.5 ? 1 : 0;
  const std::string lucky = "greedy steps=10 intercept=true";
  TrainView leaking = view;
  leaking.x = test::fitted(lucky, view).transform({view.x, view.domain}, context());
  const auto slope = [](const Json& stage) { return stage.at("platt_slope").get<double>(); };
  const std::string learner = "svm kernel=linear probability=true";
  const double fooled = slope(test::fitted(learner, leaking).inspect().at("stages")[0]);
  EXPECT_GT(fooled, 0.5);
  EXPECT_LT(slope(test::fitted(lucky + " | " + learner, view).inspect().at("stages")[1]), 0.5 * fooled);
}

TEST(SvmStage, ProbabilitiesOfSeveralClassesAndWeightsShareTheFolds) {
  TrainView view = overlapping(180, 4, 3, 3);
  view.weight = Vector::Ones(180);
  for (Index i = 0; i < 180; i += 9) view.weight[i] = 0;
  for (const std::string text : {"scale | svm probability=true", "scale | svm probability=true multiclass=ova",
                                 "scale | svm probability=true class_weight=balanced"}) {
    Recorder recorder;
    const Model model = test::fitted(text, view, context().observed_by(&recorder));
    EXPECT_TRUE(recorder.warnings.empty() && recorder.notes.empty()) << text;
    EXPECT_EQ(model.bytes(), test::fitted(text, view, context(7)).bytes()) << text;
  }
}

TEST(SvmStage, CountsRowsByTheirWeights) {
  TrainView view = overlapping(200, 3, 2, 2, 0);
  view.weight = Vector::Ones(200);
  view.weight.tail(100).setZero();
  const StageResult half = fitted(view, {.sigma = {1.0}});
  TrainView less = overlapping(200, 3, 2, 2, 0);
  less.x = less.x.head(100);
  less.y.index.resize(100);
  less.domain.index.resize(100);
  const StageResult alone = fitted(less, {.sigma = {1.0}});
  EXPECT_TRUE(half.fitted->save().vector("coefficients", -1) == alone.fitted->save().vector("coefficients", -1));
}

TEST(SvmStage, RefusesHostileStates) {
  const TrainView view = rings(60);
  const SvmOptions options{.probability = true};
  const StageState good = fitted(view, options).fitted->save();
  const StageInput input{2, Task::classify, view.y.classes};
  const auto code = [&](const auto& spoil) {
    StageState state = good;
    spoil(state);
    return code_of([&] { Svm::load(state, options, input); });
  };
  EXPECT_EQ(code([](StageState&) {}), "none");
  EXPECT_EQ(code([](StageState& s) { s.set("support", Matrix(Matrix::Ones(4, 3))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.set("coefficients", Vector(Vector::Ones(1))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.set("support", Matrix(Matrix(0, 2))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info["sigma"] = 0.0; }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info["sigma"] = 1e-300; }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info.erase("platt_slope"); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info.erase("offset"); }), "bad_model");
}

/// A model that cannot answer the rows that it was fitted on is none.
TEST(Svm, RefusesValuesWhoseKernelOverflows) {
  TrainView view = overlapping(40, 3, 2, 2);
  view.x = Features::dense(1e200 * view.x.to_matrix());
  for (const char* text : {"svm kernel=linear", "svm kernel=poly"})
    EXPECT_EQ(code_of([&] { test::fitted(text, view); }), "non_finite") << text;
}

/// Rounding keeps the violation above such a tolerance, and the fit would take all its steps.
TEST(Svm, RefusesAToleranceBelowRounding) {
  for (const char* text : {"svm tolerance=1e-300", "dasvm tolerance=1e-300", "svm tolerance=0"})
    EXPECT_EQ(code_of([&] { Pipeline::parse(text); }), "bad_option") << text;
  EXPECT_NO_THROW(Pipeline::parse("svm tolerance=1e-12"));
}

}  // namespace svm_test
}  // namespace ecotone::test
