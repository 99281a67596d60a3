#include "ecotone/methods/adapt/joint/joint.h"

#include "methods/support.h"

namespace ecotone::test {
namespace joint_test {

TEST(AdaptJoint, GivesWhatItsSolverFinds) {
  const TrainView view = overlapping(120, 3, 2, 2, 60);
  const Model model = fitted("adapt.joint l2=0.02 lam=2 domain_l2=0.05", view);
  const Vector all_one;
  const JointFit fit = fit_joint(
      {.x = view.x, .sources = 120, .cls = view.y.index, .weight = all_one, .l2 = 0.02, .lam = 2, .domain_l2 = 0.05},
      context());
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["risk"], fit.risk);
  EXPECT_EQ(stage["rows"], 120);
  EXPECT_LE(stage["ess"].get<double>(), 120 + 1e-9);
  EXPECT_NEAR(stage["auroc"].get<double>(), 0.5, 0.2);
  const Batch batch{view.x, std::nullopt};
  const Vector z = view.x.to_matrix() * fit.weights + Vector::Constant(view.x.rows(), fit.offset);
  const Vector p = (1 + (-z.array()).exp()).inverse();
  EXPECT_LT((model.predict(batch, context()).probability.col(1) - p).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(AdaptJoint, WithoutAShiftIsNearlyLogisticRegression) {
  const TrainView view = overlapping(600, 2, 2, 1, 600);
  const Batch batch{view.x, std::nullopt};
  const Matrix joint = fitted("adapt.joint l2=0.01 lam=100", view).predict(batch, context()).probability;
  const Matrix plain = fitted("logistic l2=0.01", view).predict(batch, context()).probability;
  EXPECT_LT((joint - plain).cwiseAbs().maxCoeff(), 0.1);
}

TEST(AdaptJoint, LearnsSeveralClassesAndCalibrates) {
  const TrainView view = overlapping(200, 3, 3, 2, 60);
  for (const char* text : {"adapt.joint", "adapt.joint multiclass=ovo", "scale | adapt.joint | calibrate"}) {
    const Model model = fitted(text, view);
    EXPECT_EQ(model.predict({view.x, std::nullopt}, context()).probability.cols(), 3) << text;
    EXPECT_EQ(reloaded(model).bytes(), model.bytes()) << text;
  }
}

TEST(AdaptJoint, WarnsOfFewEffectiveAndFewTargetRows) {
  TrainView view = overlapping(200, 3, 2, 2, 60);
  Recorder quiet;
  fitted("adapt.joint", view, context().observed_by(&quiet));
  EXPECT_TRUE(quiet.warnings.empty());
  // Row weights count: ten rows of equal weight are worth ten at most.
  view.weight = Vector::Zero(200);
  view.weight.head(10).setOnes();
  Recorder recorder;
  const Model model = fitted("adapt.joint", view, context().observed_by(&recorder));
  EXPECT_LE(model.inspect()["stages"][0]["ess"].get<double>(), 10 + 1e-9);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "low_effective_sample");
  EXPECT_NE(recorder.warnings[0].second.find("out of 200 rows, but 3 columns need 40 or more; the weights were not "
                                             "flattened"),
            std::string::npos)
      << recorder.warnings[0].second;
  Recorder one;
  const Model single = fitted("adapt.joint", overlapping(200, 3, 2, 2, 1), context().observed_by(&one));
  EXPECT_TRUE(single.inspect()["stages"][0]["auroc"].is_null());
  EXPECT_EQ(reloaded(single).bytes(), single.bytes());
  ASSERT_FALSE(one.warnings.empty());
  EXPECT_EQ(one.warnings[0].first, "few_target_rows");
}

TEST(AdaptJoint, RefusesByName) {
  const TrainView none = overlapping(60, 3, 2, 2);
  EXPECT_EQ(code_of([&] { fitted("adapt.joint", none); }), "no_target");
  EXPECT_EQ(message_of([&] { fitted("adapt.joint", none); }),
            "adapt.joint: no target domain; name one with --target (fit) or use --protocol adapt (evaluate)");
  TrainView numbers = overlapping(60, 3, 2, 2, 20);
  numbers.y = {Task::regress, {}, {}, Vector::LinSpaced(60, 0, 1)};
  EXPECT_EQ(code_of([&] { fitted("adapt.joint", numbers); }), "needs_classes");
  TrainView large = overlapping(60, 3, 2, 2, 20);
  large.x = Features::dense(1e200 * large.x.to_matrix());
  EXPECT_EQ(code_of([&] { fitted("adapt.joint", large); }), "non_finite");
}

}  // namespace joint_test
}  // namespace ecotone::test
