#include "ecotone/methods/select/step/step.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/cross_fit.h"
#include "methods/support.h"

namespace ecotone::test {
namespace step_test {

/// Columns a and d have the same effect in all domains, column b a larger one that changes with the domain, the others
/// none.
TrainView shifting(Index domains = 6, Index rows = 900) {
  Random random(9, "shifting");
  Matrix x(rows, 6);
  Labels y{Task::classify, {"no", "yes"}, {}, {}};
  TrainView view = view_of(Features::dense(Matrix(rows, 6)), y);
  view.domain = dealt_domains(rows, domains);
  view.role.assign(static_cast<std::size_t>(domains), Role::source);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 6; ++j) x(i, j) = 2 * random.normal() + 5;
    const double sign = (i % domains) % 2 == 0 ? 1.6 : -0.6;
    const double effect = x(i, 0) - 5 + 0.7 * (x(i, 3) - 5) + sign * (x(i, 1) - 5);
    y.index.push_back(effect + random.normal() > 0 ? 1 : 0);
  }
  view.x = Features::dense(x, {"a", "b", "c", "d", "e", "f"});
  view.y = y;
  return view;
}

Json stage_of(const std::string& pipeline, const TrainView& view) {
  return fitted(pipeline, view).inspect().at("stages")[0];
}

TEST(Step, ShowsWhatItChoseAndFromWhat) {
  const Json stage = stage_of("step", shifting());
  EXPECT_EQ(stage.at("lodo").at("criterion"), "log_loss");
  EXPECT_EQ(stage_of("step score=auroc", shifting()).at("lodo").at("criterion"), "auroc");
  EXPECT_EQ(stage.at("lodo").at("folds"), 6);
  EXPECT_TRUE(stage.at("lodo").at("beats_empty").get<bool>());
  EXPECT_FALSE(stage.at("kept_empty").get<bool>());
  EXPECT_EQ(stage.at("left_out"), "domains");
  // The empty model, and 7 penalties with sizes 1, 2, 3, 5, 6.
  EXPECT_EQ(stage.at("lodo_value").size(), 36U);
  EXPECT_EQ(stage.at("size"), stage.at("indices").size());
  const auto best = stage.at("lodo").at("best").get<std::size_t>();
  EXPECT_EQ(stage.at("lam"), stage.at("lodo_lam")[best]);
  EXPECT_EQ(stage.at("size").get<double>(), stage.at("lodo_size")[best].get<double>());
}

TEST(Step, LearnsWhenLastAndPassesColumnsOnOtherwise) {
  const TrainView view = shifting();
  const Batch batch{view.x, view.domain};
  EXPECT_TRUE(Pipeline::parse("scale | step").predicts());
  EXPECT_FALSE(Pipeline::parse("step | scale").predicts());
  const Model learner = fitted("step size=2 lam=0.1", view);
  const Json stage = learner.inspect().at("stages")[0];
  EXPECT_TRUE(stage.at("lodo").is_null());
  const auto w = stage.at("weights").get<std::vector<double>>();
  const auto chosen = stage.at("indices").get<std::vector<double>>();
  const Matrix x = view.x.to_matrix();
  const Prediction prediction = learner.predict(batch, context());
  for (Index i = 0; i < 20; ++i) {
    const double score = w[0] * x(i, static_cast<Index>(chosen[0])) + w[1] * x(i, static_cast<Index>(chosen[1])) +
                         stage.at("offset").get<double>();
    EXPECT_NEAR(prediction.score(i, 0), score, 1e-12);
  }
  const Model both = fitted("step size=3 | logistic", view);
  EXPECT_EQ(both.transform(batch, context()).cols(), 3);
  EXPECT_EQ(both.inspect().at("stages")[1].at("weights").size(), 3U);
}

TEST(Step, TheVariancePenaltyPrefersWhatIsTheSameEverywhere) {
  const TrainView view = shifting();
  EXPECT_EQ(stage_of("step size=1 lam=0.1", view).at("indices"), Json::parse("[0.0]"));
  const Json two = stage_of("step size=2 lam=10 penalty=variance", view);
  auto chosen = two.at("indices").get<std::vector<double>>();
  std::sort(chosen.begin(), chosen.end());
  EXPECT_EQ(chosen, (std::vector<double>{0, 3}));
  EXPECT_EQ(two.at("mix"), 1.0);
  const Json three = stage_of("step size=3 lam=10 penalty=variance", view);
  const Json plain = stage_of("step size=3 lam=10", view);
  // Column b has less weight beside a.
  const auto part = [](const Json& stage) {
    double a = 0, b = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (stage.at("indices")[k] == 0.0) a = stage.at("weights")[k].get<double>();
      if (stage.at("indices")[k] == 1.0) b = stage.at("weights")[k].get<double>();
    }
    return std::abs(b / a);
  };
  EXPECT_LT(part(three), part(plain));
}

TEST(Step, OneDomainLeavesRowsOut) {
  const TrainView view = shifting(1);
  const Json stage = stage_of("step", view);
  EXPECT_EQ(stage.at("left_out"), "rows");
  EXPECT_EQ(stage.at("lodo").at("folds"), 5);
  // The final fit is that of all rows at once.
  TrainView two = view;
  two.domain = dealt_domains(900, 2);
  two.role.assign(2, Role::source);
  const Json a = stage_of("step size=3 lam=0.1", view);
  const Json b = stage_of("step size=3 lam=0.1 domain_weights=pooled", two);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(a.at("weights")[k].get<double>(), b.at("weights")[k].get<double>(), 1e-12);
}

TEST(Step, SizeIsThatOfTheUnitsOfTheColumns) {
  TrainView view = shifting();
  const Json a = stage_of("step size=4", view);
  Matrix x = view.x.to_matrix();
  x.col(0) *= 1000;
  x.col(3) = x.col(3) * 1e-3 + Vector::Constant(x.rows(), 4);
  view.x = Features::dense(x, view.x.names());
  const Json b = stage_of("step size=4", view);
  EXPECT_EQ(a.at("indices"), b.at("indices"));
  EXPECT_EQ(a.at("lam"), b.at("lam"));
}

TEST(Step, RoutesAgree) {
  const TrainView view = shifting();
  TrainView sparse = view;
  sparse.x = Features::sparse(to_csr(view.x.to_matrix()), view.x.names());
  const Json expected = stage_of("step route=gram", view);
  for (const TrainView& data : {view, sparse}) {
    const Json found = stage_of("step route=lazy", data);
    ASSERT_EQ(found.at("indices"), expected.at("indices"));
    for (std::size_t k = 0; k < found.at("weights").size(); ++k)
      EXPECT_NEAR(found.at("weights")[k].get<double>(), expected.at("weights")[k].get<double>(), 1e-11);
  }
}

TEST(Step, WhatTurnsAroundInEveryNewDomainKeepsTheEmptyModelAndSaysSo) {
  // The effect of column a is +1 in three domains and -1 in three: those that remain always say the opposite.
  TrainView view = shifting();
  const Matrix x = view.x.to_matrix();
  view.y = {Task::regress, {}, {}, Vector(900)};
  for (Index i = 0; i < 900; ++i) view.y.value[i] = 3 + (i % 2 == 0 ? 1 : -1) * (x(i, 0) - 5);
  Recorder recorder;
  const Context run({.threads = 2, .seed = 1, .observer = &recorder});
  const Model model = fitted("step", view, run);
  EXPECT_EQ(model.inspect().at("stages")[0].at("size"), 0);
  EXPECT_EQ(model.inspect().at("stages")[0].at("lodo").at("criterion"), "squared_loss");
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "empty_model");
  EXPECT_NEAR(model.predict({view.x, {}}, context()).value.mean(), view.y.value.mean(), 1e-9);
  EXPECT_EQ(reloaded(model).inspect(), model.inspect());
  // A stage behind it gets the first of the path, and the warning names it.
  const Model both = fitted("step | least_squares", view);
  EXPECT_EQ(both.inspect().at("stages")[1].at("weights").size(), 1U);
  const auto first = model.inspect().at("stages")[0].at("first").get<Index>();
  EXPECT_NE(recorder.warnings[0].second.find(fmt::format("'{}'", view.x.name(first))), std::string::npos);
  const Matrix kept = reloaded(both).transform({view.x, {}}, context()).to_matrix();
  EXPECT_TRUE(same_bytes(kept, Matrix(x.col(first))));
}

TEST(Step, RefusesByName) {
  EXPECT_EQ(code_of([] { fitted("step penalty=variance", shifting(4)); }), "needs_five_domains");
  EXPECT_EQ(code_of([] { fitted("step penalty=auto", shifting(4)); }), "needs_five_domains");
  EXPECT_EQ(code_of([] { fitted("step penalty=auto", shifting(5)); }), "none");
  EXPECT_EQ(code_of([] { fitted("step size=2.5", shifting()); }), "bad_option");
  TrainView constant = shifting();
  constant.y = {Task::regress, {}, {}, Vector::Constant(900, 4)};
  EXPECT_EQ(code_of([&] { fitted("step", constant); }), "one_class");
}

TEST(Step, HostileStatesAreRefused) {
  const Model model = fitted("step", shifting());
  const Stage& step = model.pipeline().stages()[0];
  const Json stage = model.inspect().at("stages")[0];
  const auto load = [&](auto change) {
    StageState state;
    for (const char* name : {"indices", "gain", "loss", "weights", "lodo_lam", "lodo_mix", "lodo_size", "lodo_value"}) {
      const auto values = stage.at(name).get<std::vector<double>>();
      state.set(name, Vector(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()))));
    }
    for (const char* name :
         {"offset", "size", "lam", "mix", "kept_empty", "left_out", "route", "stopped_early", "lodo"})
      state.info[name] = stage.at(name);
    change(state);
    return code_of([&] { step.method->load(state, step.options, {6, Task::classify, {"no", "yes"}}); });
  };
  EXPECT_EQ(load([](StageState&) {}), "none");
  EXPECT_EQ(
      load([](StageState& s) { s.set("indices", Vector(Vector::Constant(s.vector("indices", -1).size(), 9.0))); }),
      "bad_model");
  EXPECT_EQ(
      load([](StageState& s) { s.set("indices", Vector(Vector::Constant(s.vector("indices", -1).size(), 1.0))); }),
      "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.set("weights", Vector(Vector::Zero(17))); }), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.set("lodo_value", Vector(Vector::Zero(2))); }), "bad_model");
  EXPECT_EQ(
      load([](StageState& s) { s.set("lodo_size", Vector(Vector::Constant(s.vector("lodo_lam", -1).size(), -1.0))); }),
      "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["lodo"] = 3; }), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["lodo"]["best"] = 1000; }), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["lodo"]["criterion"] = "luck"; }), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["size"] = 99; }), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["first"] = 2; }), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["kept_empty"] = "no"; }), "bad_model");
}

/// The log loss of a pipeline on each domain in turn, fitted without it, averaged.
double left_out_loss(const std::string& pipeline, const TrainView& view) {
  double mean = 0;
  for (std::int32_t d = 0; d < view.domain.count(); ++d) {
    std::vector<Index> in, out;
    for (Index i = 0; i < view.labelled(); ++i) (view.domain.index[at(i)] == d ? out : in).push_back(i);
    const Prediction p = fitted(pipeline, view_of_rows(view, in)).predict({view.x.take(out), {}}, context());
    mean += log_loss(view.y.take(out).index, p.probability) / static_cast<double>(view.domain.count());
  }
  return mean;
}

TEST(Step, StagesBeforeItAreRefittedInEveryFold) {
  const TrainView view = overlapping(300, 5, 2, 4);
  for (const std::string before :
       {"scale | ", "greedy steps=4 mode=stepwise intercept=true | ", "kpca components=2 sigma=20 | "}) {
    const Json stage = fitted(before + "step steps=3 rule=best", view).inspect().at("stages").back();
    const auto lam = stage.at("lodo_lam").get<std::vector<double>>();
    const auto size = stage.at("lodo_size").get<std::vector<double>>();
    const auto value = stage.at("lodo_value").get<std::vector<double>>();
    ASSERT_GT(value.size(), 10U);
    for (std::size_t c = 1; c < lam.size(); c += 2) {
      const std::string own = fmt::format("{}step lam={} size={}", before, lam[c], size[c]);
      EXPECT_NEAR(value[c], left_out_loss(own, view), 1e-9) << own;
    }
    EXPECT_EQ(stage.at("lodo").at("best").get<std::ptrdiff_t>(),
              std::min_element(value.begin() + 1, value.end()) - value.begin());
  }
}

TEST(Step, IsNotFooledByASelectionThatSawTheLabels) {
  const TrainView view = noise(120, 200, 6);
  const std::string lucky = "greedy steps=10 intercept=true";
  const auto best_value = [](const Json& stage) {
    return stage.at("lodo_value")[stage.at("lodo").at("best").get<std::size_t>()].get<double>();
  };
  TrainView leaking = view;
  leaking.x = fitted(lucky, view).transform({view.x, view.domain}, context());
  EXPECT_LT(best_value(stage_of("step", leaking)), 0.62);
  EXPECT_GT(best_value(fitted(lucky + " | step", view).inspect().at("stages")[1]), 0.66);
}

TEST(Step, SaysWhenRefitsWouldTakeLong) {
  // A stage that compares rows is refitted in each of five folds: 2,100^2 x 5 > 2e7.
  const TrainView many = overlapping(2100, 2, 2, 1);
  for (const std::string learner : {"step", "ridge"}) {
    Recorder recorder;
    fitted("greedy steps=1 | " + learner, many, context().observed_by(&recorder));
    ASSERT_EQ(recorder.notes.size(), 1U) << learner;
    EXPECT_NE(recorder.notes[0].find("would take long"), std::string::npos) << recorder.notes[0];
  }
  Recorder recorder;
  fitted("greedy steps=1 | step lam=0.1 size=1", many, context().observed_by(&recorder));
  EXPECT_TRUE(recorder.notes.empty()) << "nothing is chosen";
}

}  // namespace step_test
}  // namespace ecotone::test
