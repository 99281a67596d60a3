#include "ecotone/methods/learn/adaboost/adaboost.h"

#include "methods/support.h"

namespace ecotone::test {
namespace adaboost_test {

TEST(AdaBoostStage, GivesWhatItsEngineFinds) {
  const TrainView view = overlapping(150, 3, 2, 2);
  const Model model = fitted("adaboost rounds=25", view);
  const std::vector<double> y = boost_labels(view, "test");
  BoostOptions options;
  options.rounds = 25;
  options.search = BoostSearch::all;
  const BoostFit fit = fit_boost({.source = view.x, .y = y}, options, context());
  const auto count = static_cast<Index>(fit.rounds.size());
  const Vector f = StumpVote(fit.stumps(count), fit.alphas(count)).values(view.x, context());
  const Prediction found = model.predict({view.x, std::nullopt}, context());
  EXPECT_EQ(Vector(found.score.col(0)), f);
  // p = 1 / (1 + exp(-2 f)), and the class is the sign of f.
  for (Index i = 0; i < f.size(); ++i) {
    EXPECT_NEAR(found.probability(i, 1), 1 / (1 + std::exp(-2 * f[i])), 1e-12);
    EXPECT_EQ(found.index[static_cast<std::size_t>(i)], f[i] >= 0 ? 1 : 0);
  }
}

TEST(AdaBoostStage, StopsAtAPerfectStumpAndSaysSo) {
  TrainView view = overlapping(60, 2, 2, 1);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 60; ++i) x(i, 1) = view.y.index[static_cast<std::size_t>(i)];
  view.x = Features::dense(x);
  const Model model = fitted("adaboost", view);
  EXPECT_EQ(model.inspect()["stages"][0]["runs"][0]["stop"], "perfect");
  EXPECT_EQ(model.statuses()[0].text, "1 round, the last makes no errors");
  EXPECT_TRUE(model.statuses()[0].converged);
  EXPECT_EQ(model.predict({view.x, std::nullopt}, context()).index, view.y.index);
}

TEST(AdaBoostStage, RefusesColumnsThatSayNothing) {
  TrainView view = overlapping(60, 2, 2, 1);
  view.x = Features::dense(Matrix::Ones(60, 2));
  const auto fit = [&] { fitted("adaboost", view); };
  EXPECT_EQ(code_of(fit), "no_weak_learner");
  EXPECT_NE(message_of(fit).find("every column is constant"), std::string::npos) << message_of(fit);
}

TEST(AdaBoostStage, RefusesVotesThatNoFloorAllows) {
  const TrainView view = overlapping(60, 2, 2, 1);
  const StageInput input{.cols = 2, .task = Task::classify, .classes = {"a", "b"}};
  FitCache cache;
  AdaBoostOptions options;
  options.rounds = 10;
  StageState state = AdaBoost::fit(view, options, context(), cache).fitted->save();
  const Vector alpha = state.vector("alpha", -1), bound = state.vector("log_bound", alpha.size());
  EXPECT_LE(state.vector("log_z", alpha.size()).sum(), bound.sum() + 1e-9);
  AdaBoost::load(state, options, input);
  for (const double large : {1e308, 14.0}) {
    state.set("alpha", Vector(Vector::Constant(alpha.size(), large)));
    EXPECT_EQ(code_of([&] { AdaBoost::load(state, options, input); }), "bad_model");
  }
  state.set("alpha", Vector(Vector::Constant(alpha.size(), 1e-320)));
  EXPECT_EQ(code_of([&] { AdaBoost::load(state, options, input); }), "bad_model");
}

TEST(AdaBoostStage, LearnsTheSameFromRowsTwiceAndOnBins) {
  TrainView view = overlapping(200, 3, 2, 2);
  view.weight = Vector::Constant(200, 2);
  const Matrix weighted = fitted("adaboost rounds=20", view).predict({view.x, std::nullopt}, context()).score;
  view.weight = Vector::Constant(200, 1);
  const Matrix once = fitted("adaboost rounds=20", view).predict({view.x, std::nullopt}, context()).score;
  EXPECT_LT((weighted - once).cwiseAbs().maxCoeff(), 1e-9);
  // Fewer than 256 values in each column: every value has its bin.
  const Matrix binned = fitted("adaboost rounds=20 exact=false", view).predict({view.x, std::nullopt}, context()).score;
  EXPECT_LT((binned - once).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace adaboost_test
}  // namespace ecotone::test
