#include "ecotone/methods/select/icp/icp.h"

#include "ecotone/methods/registry.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/text/text.h"
#include "methods/align_golden.h"

namespace ecotone::test {
namespace icp_test {

/// The view of a task, with its label and columns.
TrainView view_of_task(const AlignGolden& golden, const Json& task) {
  const Json& params = task.at("params");
  TrainView view = golden.numbers(params.value("y", std::string("y")));
  if (params.contains("features"))
    view.x = view.x.columns(params.at("features").get<std::vector<Index>>(), {}, context());
  return view;
}

void expect_golden(const AlignGolden& golden, const Json& task, const Json& found) {
  const Json& expect = task.at("expect");
  EXPECT_EQ(found.at("indices"), expect.at("selected")) << task.at("params");
  EXPECT_EQ(found.at("status"), expect.at("status")) << task.at("params");
  golden.expect(task, "pvalue", Matrix(vector_of(found.at("pvalue"))));
  ASSERT_EQ(found.at("sets").size(), expect.at("sets").size());
  for (std::size_t s = 0; s < expect.at("sets").size(); ++s) {
    EXPECT_EQ(found.at("sets")[s].at("set"), expect.at("sets")[s].at("set"));
    EXPECT_NEAR(found.at("sets")[s].at("p").get<double>(), expect.at("sets")[s].at("p").get<double>(),
                task.at("tol").get<double>());
  }
}

/// From rows, and from moments alone.
TEST(Icp, GoldenSets) {
  const AlignGolden golden("14_icp");
  for (const Json& task : golden.tasks("icp")) {
    const Stage stage =
        Pipeline::parse(fmt::format("icp test={} alpha={}", task.at("params").at("test").get<std::string>(),
                                    task.at("params").at("alpha").get<double>()))
            .stages()
            .front();
    const TrainView view = view_of_task(golden, task);
    const std::string who = "icp";
    const FeatureSelection rows = stage.method->select({.who = who, .view = &view}, stage.options, context());
    expect_golden(golden, task, to_json(rows));
    const Moments moments = SelectionData("icp", view).moments(GramKind::double_precision, context());
    const FeatureSelection sums = stage.method->select({.who = who, .moments = &moments}, stage.options, context());
    expect_golden(golden, task, to_json(sums));
    EXPECT_NE(selection_text(rows).find(task.at("expect").at("status").get<std::string>()), std::string::npos);
    const Json again = to_json(selection_from_json(to_json(rows), "saved"));
    EXPECT_EQ(again.dump(), to_json(rows).dump());
  }
}

TEST(Icp, AsAStagePassesOnWhatItSelects) {
  const AlignGolden golden("14_icp");
  const TrainView view = golden.numbers("y");
  const Model model = fitted("icp | least_squares l2=0", view);
  EXPECT_EQ(model.transform({view.x, std::nullopt}, context()).cols(), 1);
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["outcome"], "ok");
  // As the last stage it predicts by least squares on them.
  const Prediction alone = fitted("icp", view).predict({view.x, std::nullopt}, context());
  const Prediction together = model.predict({view.x, std::nullopt}, context());
  EXPECT_LT((alone.value - together.value).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Icp, NothingSelectedIsSaidAndTheLikeliestPassedOn) {
  const AlignGolden golden("14_icp");
  TrainView view = golden.numbers("y_shifted");
  view.x = view.x.columns(std::vector<Index>{1}, {}, context());
  Recorder recorder;
  const Context told({.threads = 2, .seed = 1, .observer = &recorder});
  const Model model = fitted("icp", view, told);
  EXPECT_EQ(model.inspect()["stages"][0]["outcome"], "no_invariant_set");
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "empty_model");
  EXPECT_EQ(model.transform({view.x, std::nullopt}, context()).cols(), 1);
}

TEST(Icp, ManyFeaturesAreScreenedByTheLasso) {
  // y = 2 x3 + x17 in every domain; 40 columns.
  Random random(3, "icp");
  Matrix x(400, 40);
  Vector y(400);
  TrainView view = overlapping(400, 1, 2, 2);
  for (Index i = 0; i < 400; ++i) {
    for (Index j = 0; j < 40; ++j)
      x(i, j) = random.normal() + (j == 3 || j == 17 ? 2.0 * view.domain.index[at(i)] : 0.0);
    y[i] = 2 * x(i, 3) + x(i, 17) + 0.5 * random.normal();
  }
  view.x = Features::dense(x);
  view.y = Labels{Task::regress, {}, {}, y};
  const Stage stage = Pipeline::parse("icp most=6").stages().front();
  const std::string who = "icp";
  const Json found = to_json(stage.method->select({.who = who, .view = &view}, stage.options, context()));
  EXPECT_EQ(found.at("screened").size(), 6U);
  EXPECT_FALSE(found.at("screened_all").get<bool>());
  EXPECT_EQ(found.at("indices"), Json::array({3, 17}));
}

TEST(Icp, ADuplicatedColumnIsNoSurprise) {
  const AlignGolden golden("14_icp");
  TrainView view = golden.numbers("y");
  view.x = view.x.columns(std::vector<Index>{0, 1, 2, 1}, {}, context());
  EXPECT_EQ(code_of([&] { fitted("icp", view); }), "none");
}

}  // namespace icp_test
}  // namespace ecotone::test
