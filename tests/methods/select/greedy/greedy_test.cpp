#include "ecotone/methods/select/greedy/greedy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ecotone/methods/cross_fit.h"
#include "methods/support.h"

namespace ecotone::test {
namespace greedy_test {

/// Columns 0 and 3 have the same effect in all domains, column 1 a larger one that changes its sign.
TrainView shifting(Index rows = 600) {
  Random random(9, "shifting");
  Matrix x(rows, 5);
  Labels y{Task::classify, {"no", "yes"}, {}, {}};
  TrainView view = view_of(Features::dense(Matrix(rows, 5)), y);
  view.domain = dealt_domains(rows, 4);
  view.role.assign(4, Role::source);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 5; ++j) x(i, j) = random.normal();
    const Index domain = i % 4;
    const double effect = x(i, 0) + 0.7 * x(i, 3) + (domain == 3 ? -2.0 : 2.5) * x(i, 1);
    y.index.push_back(effect + 0.3 * random.normal() > 0 ? 1 : 0);
  }
  view.x = Features::dense(x, {"a", "b", "c", "d", "e"});
  view.y = y;
  return view;
}

std::vector<double> list(const Json& inspected, const char* name) {
  return inspected.at("stages")[0].at(name).get<std::vector<double>>();
}

TEST(TGreedy, PrefersWhatIsConsistentAndGreedyWhatIsLarge) {
  const TrainView view = shifting();
  EXPECT_EQ(list(fitted("greedy steps=1", view).inspect(), "indices"), std::vector<double>{1});
  EXPECT_EQ(list(fitted("tgreedy steps=1", view).inspect(), "indices"), std::vector<double>{0});
  EXPECT_EQ(list(fitted("tgreedy steps=2 mode=stepwise", view).inspect(), "indices"), (std::vector<double>{0, 3}));
}

TEST(TGreedy, LearnsWhenLastAndPassesColumnsOnOtherwise) {
  const TrainView view = shifting();
  const Batch batch{view.x, view.domain};
  EXPECT_TRUE(Pipeline::parse("scale | tgreedy").predicts());
  EXPECT_TRUE(Pipeline::parse("tgreedy | calibrate").predicts());
  EXPECT_FALSE(Pipeline::parse("tgreedy | scale").predicts());
  const Model learner = fitted("tgreedy steps=2 mode=stepwise intercept=true", view);
  const Prediction prediction = learner.predict(batch, context());
  const Json stage = learner.inspect().at("stages")[0];
  const Matrix x = view.x.to_matrix();
  const auto w = stage.at("weights").get<std::vector<double>>();
  for (Index i = 0; i < 20; ++i) {
    const double score = w[0] * x(i, 0) + w[1] * x(i, 3) + stage.at("offset").get<double>();
    EXPECT_NEAR(prediction.score(i, 0), score, 1e-12);
    EXPECT_NEAR(prediction.probability(i, 1), 1 / (1 + std::exp(-2 * score)), 1e-12);
    EXPECT_EQ(prediction.index[static_cast<std::size_t>(i)], score >= 0 ? 1 : 0);
  }
  const Model both = fitted("tgreedy steps=2 mode=stepwise | logistic", view);
  const Features z = both.transform(batch, context());
  EXPECT_EQ(z.names(), (std::vector<std::string>{"a", "d"}));
  EXPECT_TRUE(same_bytes(z.to_matrix().col(1), x.col(3)));
  EXPECT_EQ(both.inspect().at("stages")[1].at("weights").size(), 2U);
}

TEST(TGreedy, LearnsNumbers) {
  TrainView view = shifting();
  const Matrix x = view.x.to_matrix();
  view.y = {Task::regress, {}, {}, 3 * x.col(2) - x.col(4)};
  const Prediction prediction = fitted("greedy steps=5 mode=stepwise", view).predict({view.x, view.domain}, context());
  EXPECT_LT((prediction.value - view.y.value).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(TGreedy, OffsetOfAnInterceptIsThatOfCentredData) {
  TrainView view = shifting();
  Matrix x = view.x.to_matrix();
  for (Index j = 0; j < 5; ++j) x.col(j).array() += 3.0 * static_cast<double>(j) + 1;
  const Vector y = x.col(0) * 2 - x.col(3) + Vector::Constant(x.rows(), 17);
  view.x = Features::dense(x);
  view.y = {Task::regress, {}, {}, y};
  const Model model = fitted("greedy steps=5 mode=stepwise intercept=true", view);
  EXPECT_NEAR(model.inspect().at("stages")[0].at("offset").get<double>(), 17, 1e-8);
  EXPECT_LT((model.predict({view.x, {}}, context()).value - y).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(TGreedy, CentresAtSourceRowsAlone) {
  TrainView view = shifting(400);
  Matrix x(440, 5);
  x.topRows(400) = view.x.to_matrix();
  x.bottomRows(40).setConstant(1e6);
  TrainView with = view;
  with.x = Features::dense(x, view.x.names());
  with.domain.names.push_back("target");
  with.role.push_back(Role::target);
  with.domain.index.insert(with.domain.index.end(), 40, 4);
  for (const char* text : {"tgreedy centre=source", "greedy intercept=true", "tgreedy"}) {
    const Json a = fitted(text, view).inspect().at("stages")[0];
    const Json b = fitted(text, with).inspect().at("stages")[0];
    EXPECT_EQ(a.at("weights"), b.at("weights")) << text;
    EXPECT_EQ(a.at("offset"), b.at("offset")) << text;
  }
  // Only ex2=all may look at the target rows, and only at their squares.
  EXPECT_NE(list(fitted("tgreedy steps=1 ex2=all", with).inspect(), "weights"),
            list(fitted("tgreedy steps=1", with).inspect(), "weights"));
}

TEST(TGreedy, NonNegativeWeightsStaySo) {
  TrainView view = shifting();
  const Matrix x = view.x.to_matrix();
  view.y = {Task::regress, {}, {}, x.col(0) + 0.5 * x.col(1) - 2 * x.col(2) + 0.2 * x.col(3)};
  for (const char* text : {"greedy steps=40 nonnegative=true", "greedy steps=5 mode=stepwise nonnegative=true",
                           "tgreedy steps=40 nonnegative=true"}) {
    const Json stage = fitted(text, view).inspect().at("stages")[0];
    for (const double w : stage.at("weights").get<std::vector<double>>()) EXPECT_GE(w, 0) << text;
    for (const double j : stage.at("support").get<std::vector<double>>()) EXPECT_NE(j, 2) << text;
  }
  EXPECT_EQ(code_of([&] { fitted("greedy mode=ortho nonnegative=true", view); }), "bad_option");
}

TEST(TGreedy, RefusesByName) {
  const TrainView view = shifting();
  TrainView one = view;
  one.domain = dealt_domains(600, 1);
  one.role = {Role::source};
  EXPECT_EQ(code_of([&] { fitted("tgreedy", one); }), "needs_two_domains");
  EXPECT_EQ(code_of([&] { fitted("greedy stop=lodo", one); }), "needs_two_domains");
  EXPECT_EQ(code_of([&] { fitted("greedy", one); }), "none");
  TrainView two = view;
  two.domain = dealt_domains(600, 2);
  two.role.assign(2, Role::source);
  EXPECT_EQ(code_of([&] { fitted("tgreedy stop=lodo", two); }), "needs_three_domains");
  EXPECT_EQ(code_of([&] { fitted("tgreedy", two); }), "none");
  TrainView constant = view;
  constant.y = {Task::regress, {}, {}, Vector::Constant(600, 4)};
  EXPECT_EQ(code_of([&] { fitted("tgreedy", constant); }), "one_class");
  TrainView weightless = view;
  weightless.weight = Vector::Zero(600);
  EXPECT_EQ(code_of([&] { fitted("tgreedy", weightless); }), "no_weight");
}

TEST(TGreedy, StopsEarlyWhereAFeatureCannotReturn) {
  const TrainView view = shifting();
  const Json stage = fitted("greedy steps=50 mode=stepwise", view).inspect().at("stages")[0];
  EXPECT_EQ(stage.at("indices").size(), 5U);
  EXPECT_TRUE(stage.at("stopped_early").get<bool>());
  EXPECT_NE(stage.at("status").get<std::string>().find("no further feature could be chosen"), std::string::npos);
}

TEST(TGreedy, SaysWhenTheoremOneIsNoGuarantee) {
  Recorder recorder;
  const Context run({.threads = 2, .seed = 1, .observer = &recorder});
  fitted("tgreedy stop=theorem1", shifting(), run);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "theorem1_invalid");
}

TEST(TGreedy, LeaveOneDomainOutKeepsTheEmptyModelOnNoise) {
  TrainView view = shifting();
  Random random(4, "noise");
  view.y = {Task::regress, {}, {}, Vector(600)};
  for (Index i = 0; i < 600; ++i) view.y.value[i] = random.normal();
  const Model model = fitted("greedy steps=5 stop=lodo size=best", view);
  EXPECT_EQ(model.inspect().at("stages")[0].at("indices").size(), 0U);
  EXPECT_EQ(model.predict({view.x, {}}, context()).value.cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(reloaded(model).inspect(), model.inspect());
  Recorder recorder;
  const Context run({.threads = 2, .seed = 1, .observer = &recorder});
  const Model both = fitted("greedy steps=5 stop=lodo | least_squares", view, run);
  EXPECT_EQ(both.transform({view.x, {}}, context()).cols(), 1);
  EXPECT_EQ(reloaded(both).transform({view.x, {}}, context()).cols(), 1);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "empty_model");
}

TEST(TGreedy, RoutesAgree) {
  const TrainView view = shifting();
  TrainView sparse = view;
  sparse.x = Features::sparse(to_csr(view.x.to_matrix()), view.x.names());
  for (const char* mode : {"stagewise", "stepwise", "ortho", "ortho_resid"}) {
    const std::string text = fmt::format("tgreedy steps=5 intercept=true mode={}", mode);
    const auto expected = list(fitted(text + " route=gram", view).inspect(), "weights");
    for (const TrainView& data : {view, sparse}) {
      const auto found = list(fitted(text + " route=lazy", data).inspect(), "weights");
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-11) << mode;
    }
  }
}

TEST(TGreedy, HostileStatesAreRefused) {
  const Model model = fitted("tgreedy steps=3", shifting());
  const Method& method = *model.pipeline().stages()[0].method;
  const OptionValues& options = model.pipeline().stages()[0].options;
  const Json stage = model.inspect().at("stages")[0];
  const auto state_of = [&] {
    StageState state;
    for (const char* name : {"indices", "mu", "sigma", "gain", "loss", "support", "weights"}) {
      const auto values = stage.at(name).get<std::vector<double>>();
      state.set(name, Vector(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()))));
    }
    for (const char* name : {"T", "pvalue", "offset", "route", "stopped_early"}) state.info[name] = stage.at(name);
    return state;
  };
  const StageInput input{5, Task::classify, {"no", "yes"}};
  const auto load = [&](auto change, StageInput in) {
    StageState state = state_of();
    change(state);
    return code_of([&] { method.load(state, options, in); });
  };
  EXPECT_EQ(load([](StageState&) {}, input), "none");
  EXPECT_EQ(load([](StageState&) {}, {2, Task::classify, {"no", "yes"}}), "bad_model");
  EXPECT_EQ(load([](StageState&) {}, {5, Task::classify, {"no", "yes", "so"}}), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.set("indices", Vector(Vector::Constant(3, 7.0))); }, input), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.set("support", Vector(Vector::Constant(3, 1.0))); }, input), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.set("weights", Vector(Vector::Zero(9))); }, input), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["T"] = {1, 2}; }, input), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["T"] = {1, 2, "x"}; }, input), "bad_model");
  EXPECT_EQ(load([](StageState& s) { s.info["stopped_early"] = 1; }, input), "bad_model");
}

/// The steps that stop=lodo size=best keeps, by fits of all stages without each domain.
std::size_t steps_by_hand(const std::string& before, const std::string& path, Index steps, const TrainView& view) {
  const Index domains = view.domain.count();
  Matrix losses = Matrix::Zero(domains, steps + 1);
  for (std::int32_t d = 0; d < domains; ++d) {
    std::vector<Index> in, out;
    for (Index i = 0; i < view.labelled(); ++i) (view.domain.index[at(i)] == d ? out : in).push_back(i);
    const TrainView rest = view_of_rows(view, in);
    // Without a feature the prediction is the mean over the domains of their mean labels.
    double offset = 0;
    for (std::int32_t other = 0; other < domains; ++other) {
      if (other == d) continue;
      double sum = 0, count = 0;
      for (const Index i : in) {
        if (view.domain.index[at(i)] != other) continue;
        sum += view.y.index[at(i)] == 1 ? 1 : -1;
        count += 1;
      }
      offset += sum / count / static_cast<double>(domains - 1);
    }
    for (Index k = 0; k <= steps; ++k) {
      Vector score = Vector::Constant(std::ssize(out), offset);
      if (k > 0) {
        const Model model = fitted(fmt::format("{}{} steps={}", before, path, k), rest);
        score = model.predict({view.x.take(out), {}}, context()).score.col(0);
      }
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double y = view.y.index[at(out[i])] == 1 ? 1 : -1;
        losses(d, k) += std::pow(y - score[static_cast<Index>(i)], 2) / static_cast<double>(out.size());
      }
    }
  }
  Index best = 0;
  losses.colwise().mean().minCoeff(&best);
  const Vector gain = losses.col(0) - losses.col(best);
  const double spread = std::sqrt((gain.array() - gain.mean()).square().sum() / static_cast<double>(domains - 1));
  return gain.mean() > spread / std::sqrt(static_cast<double>(domains)) ? at(best) : 0;
}

TEST(Greedy, StagesBeforeItAreRefittedInEveryFoldOfLeaveOneDomainOut) {
  std::set<std::size_t> sizes;
  for (const Index columns : {2, 5, 8}) {
    const TrainView view = overlapping(160, columns, 2, 5);
    for (const std::string path : {"greedy mode=stepwise intercept=true", "tgreedy intercept=true"})
      for (const std::string before : {"scale | ", "greedy steps=3 intercept=true | "}) {
        const Model model = fitted(before + path + " steps=4 stop=lodo size=best", view);
        const std::size_t kept = model.inspect().at("stages")[1].at("indices").size();
        EXPECT_EQ(kept, steps_by_hand(before, path, 4, view)) << before << path << " of " << columns;
        sizes.insert(kept);
      }
  }
  EXPECT_GT(sizes.size(), 1U) << "all choices are the same";
}

TEST(Greedy, IsNotFooledByASelectionThatSawTheLabels) {
  TrainView view = overlapping(120, 200, 2, 6);
  Random random(9, "pure noise");
  for (auto& cls : view.y.index) cls = random.uniform() < 0.5 ? 1 : 0;
  const std::string lucky = "greedy steps=10 intercept=true";
  const std::string path = "greedy steps=10 intercept=true stop=lodo";
  TrainView leaking = view;
  leaking.x = fitted(lucky, view).transform({view.x, view.domain}, context());
  EXPECT_GT(fitted(path, leaking).inspect().at("stages")[0].at("indices").size(), 3U);
  EXPECT_EQ(fitted(lucky + " | " + path, view).inspect().at("stages")[1].at("indices").size(), 0U);
}

TEST(Greedy, SaysThatTargetRowsAreNotRefitted) {
  const TrainView view = overlapping(120, 3, 2, 3, 20);
  Recorder recorder;
  fitted("scale | greedy steps=2 stop=lodo ex2=all", view, context().observed_by(&recorder));
  ASSERT_EQ(recorder.notes.size(), 1U);
  EXPECT_NE(recorder.notes[0].find("ex2=all"), std::string::npos) << recorder.notes[0];
}

}  // namespace greedy_test
}  // namespace ecotone::test
