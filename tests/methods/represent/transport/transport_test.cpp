#include "methods/align_golden.h"

namespace ecotone::test {
namespace transport_test {

StageResult moved(const std::string& text, const TrainView& view) {
  const Stage stage = Pipeline::parse(text).stages().front();
  FitCache cache;
  return stage.method->fit(view, stage.options, context(), cache);
}

/// Plans themselves are compared in solve/transport: a stage keeps where they move rows, and their cost.
TEST(Transport, GoldenPlansMoveRows) {
  const AlignGolden golden("11_transport");
  const TrainView view = golden.transport_view();
  const Matrix target = matrix_of(golden.inputs().at("Xt"));
  const auto compare = [&](const std::string& text, const Json& task, const char* cost) {
    const StageResult result = moved(text, view);
    const Matrix x = result.next.x.to_matrix();
    golden.compared(task).expects("plan");
    golden.expect(task, "barycentric", Matrix(x.topRows(9)));
    EXPECT_EQ(x.bottomRows(7), target) << "target rows stay";
    const double found = result.fitted->save().info["moved"][0]["cost"].get<double>();
    if (*cost != 0) golden.expect(task, cost, found);
  };
  compare("transport solver=exact", golden.task("emd"), "cost");
  for (const Json& task : golden.tasks("sinkhorn"))
    compare(fmt::format("transport tol=1e-12 reg={}", task.at("params").at("reg").get<double>()), task,
            "transport_cost");
  const Json by_class = golden.task("sinkhorn_class");
  compare(fmt::format("transport solver=class tol=1e-12 reg={} eta={}", by_class.at("params").at("reg").get<double>(),
                      by_class.at("params").at("eta").get<double>()),
          by_class, "");
}

TEST(Transport, EachSourceByItselfOrAllTogether) {
  const TrainView view = overlapping(60, 2, 2, 3, 30);
  EXPECT_EQ(moved("transport", view).fitted->save().info["moved"].size(), 3U);
  EXPECT_EQ(moved("transport pool_sources=true", view).fitted->save().info["moved"].size(), 1U);
}

TEST(Transport, RowsWithoutWeightStayAndPredictionsDoNotMove) {
  TrainView view = overlapping(60, 2, 2, 2, 30);
  view.weight = Vector::Ones(60);
  view.weight[4] = 0;
  for (const char* solver : {"exact", "entropic", "class"}) {
    const StageResult result = moved(fmt::format("transport solver={}", solver), view);
    EXPECT_EQ(result.next.x.to_matrix().row(4), view.x.to_matrix().row(4)) << solver;
    EXPECT_NE(result.next.x.to_matrix().row(5), view.x.to_matrix().row(5)) << solver;
    EXPECT_EQ(result.fitted->transform({view.x, std::nullopt}, context()).to_matrix(), view.x.to_matrix());
  }
}

/// The status counts the plans that are inaccurate and names the first.
TEST(Transport, SaysHowManyPlansAreInaccurate) {
  const TrainView view = overlapping(60, 2, 2, 3, 30);
  const Status all = moved("transport max_sweeps=2", view).status;
  EXPECT_FALSE(all.converged);
  EXPECT_NE(all.text.find("3 of 3 plans are inaccurate; domain 'd1'"), std::string::npos) << all.text;
  const Status one = moved("transport max_sweeps=2 pool_sources=true", view).status;
  EXPECT_EQ(one.text.find("domain 'all sources'"), 0U) << one.text;
  const Status rounds = moved("transport solver=class max_sweeps=2 pool_sources=true", view).status;
  EXPECT_NE(rounds.text.find("after 2 sweeps of the last round"), std::string::npos) << rounds.text;
  EXPECT_TRUE(moved("transport", view).status.converged);
}

/// A learner that chooses its penalty in folds sees training rows moved and held-out rows as they are.
TEST(Transport, ALearnerBehindItChoosesInFolds) {
  const TrainView view = overlapping(120, 2, 2, 3, 40);
  EXPECT_EQ(code_of([&] { fitted("scale | transport | logistic", view); }), "none");
}

TEST(Transport, WarnsOfOptionsThatItsSolverHasNot) {
  const TrainView view = overlapping(40, 2, 2, 2, 20);
  const auto unused = [&](const std::string& text) {
    Recorder recorder;
    fitted(text, view, context().observed_by(&recorder));
    return std::ranges::count_if(recorder.warnings, [](const auto& each) { return each.first == "unused_option"; });
  };
  EXPECT_EQ(unused("transport solver=exact reg=0.1"), 1);
  EXPECT_EQ(unused("transport solver=exact tol=0.001 max_sweeps=7 eta=1"), 2);
  EXPECT_EQ(unused("transport eta=1"), 1);
  EXPECT_EQ(unused("transport reg=0.1 tol=0.001 max_sweeps=900"), 0);
  EXPECT_EQ(unused("transport solver=class reg=0.1 eta=1"), 0);
  EXPECT_EQ(unused("transport solver=exact"), 0);
}

TEST(Transport, RefusesByName) {
  const TrainView view = overlapping(20, 2, 2, 2);
  EXPECT_EQ(code_of([&] { fitted("transport | logistic l2=0.1", view); }), "no_target");
  TrainView numbers = overlapping(20, 2, 2, 2, 10);
  numbers.y = Labels{Task::regress, {}, {}, Vector::LinSpaced(20, 0, 1)};
  EXPECT_EQ(code_of([&] { fitted("transport solver=class", numbers); }), "needs_classes");
  const std::string zero = message_of([] { Pipeline::parse("transport tol=0"); });  // no plan ever reaches it
  EXPECT_NE(zero.find("tol"), std::string::npos) << zero;
  EXPECT_NE(zero.find("(0, 1]"), std::string::npos) << zero;
}

}  // namespace transport_test
}  // namespace ecotone::test
