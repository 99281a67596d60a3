#include "ecotone/methods/learn/linear/linear.h"
#include "methods/support.h"

namespace ecotone::test {
namespace logistic_test {

double log_loss_term(double z) { return z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z)); }

/// rho ||w||^2 + (1/A) sum a_n ln(1 + exp(-y_n (w'x_n + offset)))
double risk(const TrainView& view, const Vector& w, double offset, double rho, double normaliser) {
  const Vector score = (view.x.to_matrix() * w).array() + offset;
  double sum = 0;
  for (Index i = 0; i < view.labelled(); ++i) {
    sum += view.weight_of(i) * log_loss_term(view.y.index[static_cast<std::size_t>(i)] == 1 ? score[i] : -score[i]);
  }
  return rho * w.squaredNorm() + sum / normaliser;
}

Vector weights_of(const Json& stage) {
  const auto values = stage["weights"].get<std::vector<double>>();
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

TEST(Logistic, TwoPointsPerValueGiveTheLogOdds) {
  // At x = 0 one of four rows is yes, at x = 1 three of four: offset = ln(1/3), weight = 2 ln 3.
  Matrix x(8, 1);
  x << 0, 0, 0, 0, 1, 1, 1, 1;
  const TrainView view = view_of(Features::dense(x), class_labels({"no", "yes"}, {1, 0, 0, 0, 1, 1, 1, 0}));
  const Model model = fitted("logistic l2=0", view);
  const Json stage = model.inspect()["stages"][0];
  EXPECT_NEAR(stage["offset"].get<double>(), -std::log(3.0), 1e-10);
  EXPECT_NEAR(stage["weights"][0].get<double>(), 2 * std::log(3.0), 1e-10);
  EXPECT_LT(stage["kkt"].get<double>(), 1e-10);
  EXPECT_EQ(stage["status"], "converged");
  const Prediction p = model.predict({Features::dense(x), std::nullopt}, context());
  EXPECT_NEAR(p.probability(0, 1), 0.25, 1e-10);
  EXPECT_NEAR(p.probability(7, 1), 0.75, 1e-10);
  EXPECT_EQ(p.index, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Logistic, OptionsReachTheRisk) {
  TrainView view = overlapping(400, 2, 2, 2);
  view.weight = Vector::LinSpaced(400, 0.5, 2.0);
  for (const auto& [text, rho, normaliser] :
       {std::tuple{"logistic l2=0.3", 0.3, 400.0}, std::tuple{"logistic l2=0.3 norm=sum", 0.3, view.weight.sum()},
        std::tuple{"logistic l2=0.3 offset=false", 0.3, 400.0}}) {
    const Json stage = fitted(text, view).inspect()["stages"][0];
    const Vector w = weights_of(stage);
    const double offset = stage["offset"].get<double>();
    const double optimum = risk(view, w, offset, rho, normaliser);
    EXPECT_NEAR(stage["risk"].get<double>(), optimum, 1e-12) << text;
    // No step improves on it.
    for (const double step : {1e-4, -1e-4}) {
      for (Index j = 0; j < 2; ++j) {
        Vector moved = w;
        moved[j] += step;
        EXPECT_GT(risk(view, moved, offset, rho, normaliser), optimum) << text;
      }
      if (std::string(text).find("offset=false") == std::string::npos) {
        EXPECT_GT(risk(view, w, offset + step, rho, normaliser), optimum) << text;
      } else {
        EXPECT_EQ(offset, 0.0);
      }
    }
  }
}

TEST(Logistic, SoftmaxForMoreThanTwoClasses) {
  const TrainView view = overlapping(900, 3, 3, 2);
  const Model model = fitted("scale | logistic l2=0.01", view);
  const Json stage = model.inspect()["stages"][1];
  ASSERT_EQ(stage["weights"].size(), 3U);
  ASSERT_EQ(stage["weights"][0].size(), 3U);
  ASSERT_EQ(stage["offset"].size(), 3U);
  const Prediction p = model.predict({view.x, std::nullopt}, context());
  Index correct = 0;
  for (Index i = 0; i < 900; ++i) {
    const std::int32_t chosen = p.index[static_cast<std::size_t>(i)];
    EXPECT_EQ(p.probability(i, chosen), p.probability.row(i).maxCoeff());
    correct += chosen == view.y.index[static_cast<std::size_t>(i)];
  }
  EXPECT_GT(correct, 350) << "better than one in three";
  // At the optimum the offsets' gradient is 0: mean probabilities are the class frequencies.
  for (Index c = 0; c < 3; ++c) EXPECT_NEAR(p.probability.col(c).mean(), 1.0 / 3, 1e-9);
  EXPECT_TRUE(same_bytes(reloaded(model).predict({view.x, std::nullopt}, context()), p));
}

TEST(Logistic, PredictsExtremeScoresWithoutOverflow) {
  LinearFit fit;
  fit.weights = Matrix::Constant(1, 1, 1000.0);
  fit.offset = Vector::Zero(1);
  Matrix x(3, 1);
  x << 5, -5, 0;
  const Prediction p = Linear(LinearFamily::logistic, fit, {}).predict({Features::dense(x), std::nullopt}, context());
  EXPECT_EQ(p.probability(0, 1), 1.0);
  EXPECT_EQ(p.probability(0, 0), 0.0);
  EXPECT_EQ(p.probability(1, 0), 1.0);
  EXPECT_EQ(p.index[2], 1) << "a score of 0 goes to the second class";
  EXPECT_EQ(p.probability(2, 0), 0.5);
  x << 1e308, 1, 1;
  EXPECT_EQ(code_of([&] {
              Linear(LinearFamily::logistic, fit, {}).predict({Features::dense(x), std::nullopt}, context());
            }),
            "non_finite");
}

TEST(Logistic, SaysWhatToDo) {
  Matrix x(4, 1);
  x << 1, 2, 3, 4;
  const auto fit = [&](std::vector<std::int32_t> y, const char* text) {
    return [=] { fitted(text, view_of(Features::dense(x), class_labels({"a", "b"}, y))); };
  };
  EXPECT_EQ(code_of(fit({0, 0, 1, 1}, "logistic l2=0")), "separable");
  EXPECT_TRUE(message_of(fit({0, 0, 1, 1}, "logistic l2=0")).starts_with("logistic: "));
  EXPECT_NE(message_of(fit({0, 0, 1, 1}, "logistic l2=0")).find("l2=0.01"), std::string::npos);
  EXPECT_EQ(code_of(fit({0, 0, 1, 1}, "logistic l2=0.01")), "none");
  EXPECT_EQ(code_of(fit({0, 0, 1, 1}, "logistic")), "none");

  const auto one = [&] { fitted("logistic", view_of(Features::dense(x), class_labels({"sick"}, {0, 0, 0, 0}))); };
  EXPECT_EQ(code_of(one), "one_class");
  EXPECT_NE(message_of(one).find("'sick'"), std::string::npos) << message_of(one);

  const auto numbers = [&] { fitted("logistic", view_of(Features::dense(x), number_labels({1, 2.5, 3, 4}))); };
  EXPECT_EQ(code_of(numbers), "needs_classes");
  EXPECT_NE(message_of(numbers).find("--task classify"), std::string::npos);
}

TEST(Logistic, NotConvergingIsAStatusAndAWarning) {
  Recorder recorder;
  const Context run({.threads = 1, .observer = &recorder});
  const Model model = fitted("logistic l2=0 max_iterations=1", overlapping(300, 3, 2, 1), run);
  EXPECT_FALSE(model.statuses()[0].converged);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "not_converged");
  EXPECT_TRUE(recorder.warnings[0].second.starts_with("logistic: not converged after 1"));
  EXPECT_EQ(reloaded(model).statuses()[0].text, model.statuses()[0].text);
}

}  // namespace logistic_test
}  // namespace ecotone::test
