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
  for (const char* field : {"selected", "status", "sets"}) golden.compared(task).expects(field);
  EXPECT_EQ(found.at("indices"), expect.at("selected")) << task.at("params");
  EXPECT_EQ(found.at("status"), expect.at("status")) << task.at("params");
  golden.expect(task, "pvalue", vector_of(found.at("pvalue")));
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
  EXPECT_NE(recorder.warnings[0].second.find("smallest p-value, '"), std::string::npos) << recorder.warnings[0].second;
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

Json found_by(const std::string& pipeline, const TrainView& view) {
  const Stage stage = Pipeline::parse(pipeline).stages().front();
  const std::string who = "icp";
  return to_json(stage.method->select({.who = who, .view = &view}, stage.options, context()));
}

/// The p-value of a set; -1: there is no such set.
double p_of(const Json& found, const std::vector<Index>& features) {
  for (const Json& each : found.at("sets"))
    if (each.at("set").get<std::vector<Index>>() == features) return each.at("p").get<double>();
  return -1;
}

TEST(Icp, AnExactRuleIsAccepted) {
  // y = 2 a - b + 1, far from 0; a is shifted in the second domain, b in the third.
  for (const double noise : {0.0, 1e-7}) {
    Random random(5, "icp exact");
    TrainView view = overlapping(240, 2, 2, 3);
    Matrix x(240, 2);
    Vector y(240);
    for (Index i = 0; i < 240; ++i) {
      const auto domain = view.domain.index[at(i)];
      x(i, 0) = 30 + random.normal() + (domain == 1 ? 4 : 0);
      x(i, 1) = random.normal() + (domain == 2 ? 4 : 0);
      y[i] = 2 * x(i, 0) - x(i, 1) + 1 + noise * random.normal();
    }
    view.x = Features::dense(x);
    view.y = Labels{Task::regress, {}, {}, y};
    for (const char* text : {"icp", "icp test=residual"}) {
      const Json found = found_by(text, view);
      EXPECT_EQ(found.at("indices"), Json::array({0, 1})) << text << " " << noise;
      EXPECT_GT(p_of(found, {0, 1}), 0.9) << text << " " << noise;
    }
  }
}

TEST(Icp, AConstantColumnIsNoParameter) {
  const AlignGolden golden("14_icp");
  TrainView view = golden.numbers("y");
  for (const char* text : {"icp", "icp test=residual"}) {
    const Json without = found_by(text, view);
    TrainView more = view;
    Matrix x(view.x.rows(), 4);
    x << view.x.to_matrix(), Vector::Constant(view.x.rows(), 0.1);
    more.x = Features::dense(x);
    const Json with = found_by(text, more);
    EXPECT_EQ(with.at("indices"), without.at("indices"));
    for (const Json& each : without.at("sets")) {
      auto set = each.at("set").get<std::vector<Index>>();
      EXPECT_NEAR(p_of(with, set), each.at("p").get<double>(), 1e-12) << each;
      set.push_back(3);
      EXPECT_NEAR(p_of(with, set), each.at("p").get<double>(), 1e-12) << each;
    }
  }
}

TEST(Icp, RowsOfWeightZeroDoNotCount) {
  const AlignGolden golden("14_icp");
  TrainView view = golden.numbers("y");
  view.weight = Vector::Ones(view.labelled());
  std::vector<Index> kept;
  for (Index i = 0; i < view.labelled(); ++i) {
    if (i % 3 == 1)
      view.weight[i] = 0;
    else
      kept.push_back(i);
  }
  TrainView less = view;
  less.x = view.x.take(kept);
  less.y = view.y.take(kept);
  less.domain = view.domain.take(kept);
  less.weight = {};
  for (const char* text : {"icp", "icp test=residual"}) {
    const Json zero = found_by(text, view), gone = found_by(text, less);
    for (const Json& each : gone.at("sets"))
      EXPECT_NEAR(p_of(zero, each.at("set").get<std::vector<Index>>()), each.at("p").get<double>(), 1e-12) << each;
    const Json weighted = fitted(text, view).inspect()["stages"][0];
    const Json deleted = fitted(text, less).inspect()["stages"][0];
    EXPECT_LT((vector_of(weighted.at("pvalue")) - vector_of(deleted.at("pvalue"))).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Icp, ADomainWithoutWeightIsNamed) {
  TrainView view = overlapping(90, 2, 2, 3);
  view.weight = Vector::Ones(90);
  for (Index i = 0; i < 90; ++i)
    if (view.domain.index[at(i)] == 1 || i < 4) view.weight[i] = 0;
  Recorder recorder;
  fitted("icp", view, context().observed_by(&recorder));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "domain_without_weight");
}

TEST(Icp, ADuplicatedColumnIsNoSurprise) {
  const AlignGolden golden("14_icp");
  TrainView view = golden.numbers("y");
  view.x = view.x.columns(std::vector<Index>{0, 1, 2, 1}, {}, context());
  EXPECT_EQ(code_of([&] { fitted("icp", view); }), "none");
}

}  // namespace icp_test
}  // namespace ecotone::test
