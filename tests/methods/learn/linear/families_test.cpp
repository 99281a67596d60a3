// Linear models as stages: what each family predicts, and what `inspect` shows.
#include "ecotone/linalg/cholesky.h"
#include "ecotone/methods/learn/linear/linear.h"
#include "methods/support.h"

namespace ecotone::test {
namespace families_test {

/// Numbers that grow with the first column: counts where `counts`.
TrainView numbers(Index rows, bool counts) {
  TrainView view = overlapping(rows, 3, 2, 3);
  Random random(8, "numbers");
  Labels y{Task::regress, {}, {}, Vector(rows)};
  const Matrix x = view.x.to_matrix();
  for (Index i = 0; i < rows; ++i)
    y.value[i] = counts ? static_cast<double>(random.poisson(std::exp(0.5 * x(i, 0)))) : 2 * x(i, 0) + random.normal();
  view.y = std::move(y);
  return view;
}

Json stage_of(const Model& model) { return model.inspect()["stages"][0]; }

TEST(Softmax, TheDefaultToleranceIsOneOfPrediction) {
  // The optimum to 1e-6 of the risk, in fewer iterations than the last digits take.
  const TrainView view = overlapping(800, 60, 8, 2);
  for (const char* l2 : {"0.1", "0.01", "0.001"}) {
    const std::string text = fmt::format("softmax l2={}", l2);
    const Json quick = stage_of(fitted(text, view)), slow = stage_of(fitted(text + " tol=1e-10", view));
    const double best = slow["risk"].get<double>();
    EXPECT_LT(quick["risk"].get<double>() - best, 1e-6 * best) << l2;
    EXPECT_LT(quick["iterations"].get<int>(), slow["iterations"].get<int>()) << l2;
  }
}

TEST(LeastSquares, IsTheNormalEquations) {
  const TrainView view = numbers(200, false);
  const Model model = fitted("least_squares l2=0", view);
  Matrix x(200, 4);
  x << view.x.to_matrix(), Vector::Ones(200);
  const auto cholesky = Cholesky::factor(Matrix(x.transpose() * x), context());
  const Vector best = cholesky->solve(Vector(x.transpose() * view.y.value), context());
  const Json stage = stage_of(model);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(stage["weights"][static_cast<std::size_t>(j)].get<double>(), best[j], 1e-9);
  EXPECT_NEAR(stage["offset"].get<double>(), best[3], 1e-7);
  EXPECT_NEAR(stage["risk"].get<double>(), 0.5 * (view.y.value - x * best).squaredNorm() / 200, 1e-10);
  const Prediction p = model.predict({view.x, std::nullopt}, context());
  EXPECT_EQ(p.task, Task::regress);
  EXPECT_LT((p.value - x * best).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Poisson, MeansOfTheTrainingRowsAreTheirCounts) {
  const TrainView view = numbers(400, true);
  const Model model = fitted("poisson l2=0 tol=1e-10", view);
  const Prediction p = model.predict({view.x, std::nullopt}, context());
  // The gradient of the offset is zero: predicted and counted sums are equal, and so are those along each column.
  EXPECT_NEAR(p.value.sum(), view.y.value.sum(), 1e-7);
  EXPECT_LT((view.x.to_matrix().transpose() * (p.value - view.y.value)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_GT(p.value.minCoeff(), 0);
}

TEST(Probit, IsTheNormalLawOfTheScore) {
  const TrainView view = overlapping(300, 2, 2, 2);
  const Prediction p = fitted("probit l2=0", view).predict({view.x, std::nullopt}, context());
  for (Index i = 0; i < 300; ++i) {
    EXPECT_NEAR(p.probability(i, 1), 0.5 * std::erfc(-p.score(i, 0) / std::sqrt(2.0)), 1e-15);
    EXPECT_NEAR(p.probability.row(i).sum(), 1, 1e-15);
  }
}

TEST(Softmax, OfTwoClassesIsLogisticWithHalfThePenalty) {
  // Weights of two classes are w/2 and -w/2, so rho costs rho ||w||^2 / 2.
  const TrainView view = overlapping(300, 3, 2, 2);
  const Model two = fitted("softmax l2=0.2", view);
  const Model one = fitted("logistic l2=0.1", view);
  const Prediction a = two.predict({view.x, std::nullopt}, context());
  const Prediction b = one.predict({view.x, std::nullopt}, context());
  EXPECT_LT((a.probability - b.probability).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(a.score.cols(), 1);
  EXPECT_EQ(stage_of(two)["weights"].size(), 2U);
}

TEST(LinearFamilies, WantTheirKindOfLabel) {
  const TrainView classes = overlapping(60, 3, 2, 2);
  const TrainView values = numbers(60, true);
  for (const char* name : {"poisson", "least_squares"}) {
    EXPECT_EQ(code_of([&] { fitted(name, classes); }), "needs_numbers");
    EXPECT_EQ(code_of([&] { fitted(name, values); }), "none");
  }
  for (const char* name : {"logistic", "softmax", "probit"}) {
    EXPECT_EQ(code_of([&] { fitted(name, values); }), "needs_classes");
    EXPECT_EQ(code_of([&] { fitted(name, classes); }), "none");
  }
}

TEST(LinearFamilies, NotConvergingIsAStatusThatIsSeen) {
  const TrainView view = overlapping(200, 3, 2, 2);
  Recorder recorder;
  const Model model = fitted("logistic l2=0.01 max_iterations=1", view, context().observed_by(&recorder));
  const Json stage = stage_of(model);
  EXPECT_NE(stage["status"], "converged");
  EXPECT_EQ(stage["iterations"], 1);
  EXPECT_GT(stage["kkt"].get<double>(), 1e-9);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "not_converged");
}

TEST(LinearFamilies, InspectNamesWhatWasDone) {
  const TrainView view = overlapping(200, 3, 2, 2);
  const Json stage = stage_of(fitted("logistic l1=0.01 l2=0.02 tol=1e-10", view));
  EXPECT_EQ(stage["solver"], "prox-newton");
  EXPECT_EQ(stage["status"], "converged");
  EXPECT_LT(stage["kkt"].get<double>(), 1e-9);
  const Json stochastic = stage_of(fitted("logistic l2=0.02 solver=sgd epochs=30", view));
  EXPECT_EQ(stochastic["solver"], "sgd");
  EXPECT_GT(stochastic["step_size"].get<double>(), 0);
}

TEST(LinearFamilies, SolversThatCannotAreRefusedByName) {
  const TrainView view = overlapping(60, 3, 2, 2);
  EXPECT_EQ(code_of([&] { fitted("logistic l1=0.1 solver=lbfgs", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("logistic l1=0.1 solver=sgd", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("logistic l1=0.1 solver=prox-sgd", view); }), "none");
}

}  // namespace families_test
}  // namespace ecotone::test
