#include "ecotone/methods/adapt/daboost/daboost.h"

#include "ecotone/data/generate/generate.h"
#include "methods/support.h"

namespace ecotone::test {
namespace daboost_test {

/// Moons: source rows with labels, target rows without; the target's labels apart.
struct Moons {
  TrainView view;
  Features target;
  std::vector<std::int32_t> truth;
};

Moons moons(int angle, int rows = 300, std::uint64_t seed = 1) {
  const Context draw(Context::Settings{.threads = 1, .seed = seed});
  Dataset data = generate("moons", {{"angle", std::to_string(angle)}, {"rows", std::to_string(rows)}}, draw);
  set_targets(data, {"target"});
  Moons result{train_view(data, draw), {}, {}};
  std::vector<Index> target = data.domain.rows_of(1);
  result.target = data.x.take(target);
  result.truth = data.y->take(target).index;
  return result;
}

/// Share of target rows with the wrong class.
double error(const Model& model, const Moons& data) {
  const std::vector<std::int32_t> found = model.predict({data.target, std::nullopt}, context()).index;
  double wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] == data.truth[i] ? 0 : 1;
  return wrong / static_cast<double>(found.size());
}

Json stage(const Model& model) { return model.inspect()["stages"][0]; }

TEST(DaBoost, AdaptsWhereAdaBoostDoesNot) {
  const Moons data = moons(30);
  const double adapted = error(fitted("daboost rounds=800 vote=3", data.view), data);
  const double plain = error(fitted("adaboost rounds=40", data.view), data);
  EXPECT_LT(adapted, 0.15);
  EXPECT_GT(plain, 0.2);
}

TEST(DaBoost, VotesWithTheMeanOfItsNormalisedRuns) {
  const Moons data = moons(30, 60);
  const Model model = fitted("daboost rounds=50 vote=3", data.view);
  const std::vector<double> y = boost_labels(data.view, "test");
  BoostOptions options;
  options.rounds = 50;
  options.seed = context().seed();
  const auto fits =
      fit_boost_runs({.source = data.view.labelled_x(), .y = y, .target = data.target}, options, 3, context());
  Vector wanted = Vector::Zero(60);
  for (const BoostFit& fit : fits) {
    double sum = 0;
    for (const double beta : fit.betas(50)) sum += beta;
    wanted += StumpVote(fit.stumps(50), fit.betas(50)).values(data.target, context()) / sum / 3;
  }
  const Prediction found = model.predict({data.target, std::nullopt}, context());
  EXPECT_LT((found.score.col(0) - wanted).cwiseAbs().maxCoeff(), 1e-12);
  // The other classifier is kept too.
  const Model source = fitted("daboost rounds=50 vote=1 classifier=source", data.view);
  const Vector f_s = StumpVote(fits[0].stumps(50), fits[0].alphas(50)).values(data.target, context());
  double sum = 0;
  for (const double alpha : fits[0].alphas(50)) sum += alpha;
  EXPECT_LT((source.predict({data.target, std::nullopt}, context()).score.col(0) - f_s / sum).cwiseAbs().maxCoeff(),
            1e-12);
}

TEST(DaBoost, KeepsHistoryStopsAndPseudoLabels) {
  const Moons data = moons(20, 60);
  const Model model = fitted("daboost rounds=40 vote=2 criteria=true", data.view);
  const Json json = stage(model);
  ASSERT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][0]["stop"], "n_iter");
  EXPECT_EQ(json["runs"][1]["rounds"], 40);
  EXPECT_EQ(json["target_rows"], 60);
  for (const char* name : {"alpha", "beta", "eps", "viol", "log_z", "log_bound", "log_w_target", "err_source",
                           "loss_target", "margin_loss", "eq13", "eq14", "d_h"})
    EXPECT_TRUE(json.contains(name)) << name;
  const Prediction found = model.predict({data.target, std::nullopt}, context());
  const double second = static_cast<double>(std::count(found.index.begin(), found.index.end(), 1)) / 60;
  EXPECT_EQ(json["target_share"], second);
}

TEST(DaBoost, StopsByTheCriteria) {
  const Moons data = moons(40, 80);
  for (const char* name : {"eq13", "eq14"}) {
    const Model model = fitted(fmt::format("daboost rounds=100 vote=1 stop={}", name), data.view);
    BoostOptions options;
    options.rounds = 100;
    options.seed = context().seed();
    options.criteria = true;
    const std::vector<double> y = boost_labels(data.view, "test");
    const BoostFit fit =
        fit_boost({.source = data.view.labelled_x(), .y = y, .target = data.target}, options, context());
    const Index kept = std::string(name) == "eq13" ? fit.rounds_by_eq13() : fit.rounds_by_eq14();
    EXPECT_EQ(stage(model)["runs"][0]["kept"], kept);
    EXPECT_EQ(stage(model)["runs"][0]["rounds"], 100);
    double least = 1e300;
    for (const BoostRound& round : fit.rounds)
      least = std::min(least, std::string(name) == "eq13" ? round.eq13 : round.eq14);
    const BoostRound& last = fit.rounds[static_cast<std::size_t>(kept - 1)];
    EXPECT_NEAR(std::string(name) == "eq13" ? last.eq13 : last.eq14, least, 1e-12);
  }
}

TEST(DaBoost, SmoothsOverNeighbours) {
  const Moons data = moons(30);
  const Model plain = fitted("daboost rounds=400 vote=2", data.view);
  const Model smooth = fitted("daboost rounds=400 vote=2 smooth=knn", data.view);
  EXPECT_LE(error(smooth, data), error(plain, data));
  // F = 0.95 P F + 0.05 y, so the scores shrink towards the mean of the neighbours and stay in [-1, 1].
  const Vector f = smooth.predict({data.target, std::nullopt}, context()).score.col(0);
  const Vector y = plain.predict({data.target, std::nullopt}, context()).score.col(0);
  EXPECT_LE(f.cwiseAbs().maxCoeff(), y.cwiseAbs().maxCoeff() + 1e-12);
  const Matrix x = data.target.to_matrix();
  for (const Index i : {Index{0}, Index{77}}) {
    std::vector<std::pair<double, Index>> near;
    for (Index k = 0; k < x.rows(); ++k)
      if (k != i) near.emplace_back((x.row(k) - x.row(i)).squaredNorm(), k);
    std::sort(near.begin(), near.end());
    double mean = 0;
    for (std::size_t k = 0; k < 5; ++k) mean += f[near[k].second] / 5;
    EXPECT_NEAR(f[i], 0.95 * mean + 0.05 * y[i], 1e-9);
  }
  // New rows take the score of the nearest target row.
  const Matrix moved = x.array() + 1e-9;
  const Vector fresh = smooth.predict({Features::dense(moved), std::nullopt}, context()).score.col(0);
  EXPECT_EQ(fresh, f);
  Recorder recorder;
  fitted("daboost rounds=5 vote=1 smooth=knn classifier=source", data.view, context().observed_by(&recorder));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "unused_option");
}

TEST(DaBoost, KeepsWhatItHasWhenNoStumpIsLeft) {
  const Moons data = moons(30, 40);
  Recorder recorder;
  const Model model = fitted("daboost gamma=0.5 vote=1", data.view, context().observed_by(&recorder));
  const Json run = stage(model)["runs"][0];
  ASSERT_EQ(run["stop"], "no_weak_da_learner");
  EXPECT_GT(run["rounds"], 0);
  EXPECT_LT(run["rounds"], 1500);
  EXPECT_EQ(run["refused"]["source"].get<int>() + run["refused"]["target"].get<int>(), boost_redraws);
  EXPECT_FALSE(model.statuses()[0].converged);
  EXPECT_NE(model.statuses()[0].text.find("try a smaller gamma"), std::string::npos) << model.statuses()[0].text;
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings.back().first, "not_converged");
  EXPECT_EQ(model.predict({data.target, std::nullopt}, context()).index.size(), 40U);
  EXPECT_EQ(reloaded(model).bytes(), model.bytes());
}

TEST(DaBoost, SaysWhyThereIsNoModelAtAll) {
  const Moons data = moons(30, 40);
  const auto fit = [&] { fitted("daboost gamma=0.9", data.view); };
  EXPECT_EQ(code_of(fit), "no_weak_da_learner");
  EXPECT_NE(message_of(fit).find("try a smaller gamma"), std::string::npos) << message_of(fit);
  EXPECT_NE(message_of(fit).find("within gamma 0.9"), std::string::npos) << message_of(fit);
}

TEST(DaBoost, AdvisesByTheReason) {
  Moons data = moons(30, 40);
  const auto message = [&](const char* text) { return message_of([&] { fitted(text, data.view); }); };
  // Few stumps have this little outside the margin.
  const std::string limited = message("daboost gamma=0.01 b_t=0.5001");
  EXPECT_NE(limited.find("raise b_t"), std::string::npos) << limited;
  EXPECT_NE(message("daboost b_t=0.5").find("(0.5, 1]"), std::string::npos) << message("daboost b_t=0.5");
  // The label has nothing to do with the columns: every row is there with both classes.
  Matrix x = data.view.x.to_matrix();
  for (Index i = 0; i < 40; i += 2) x.row(i + 1) = x.row(i);
  for (std::size_t i = 0; i < 40; ++i) data.view.y.index[i] = static_cast<std::int32_t>(i % 2);
  data.view.x = Features::dense(x);
  EXPECT_NE(message("daboost").find("or base=tree"), std::string::npos) << message("daboost");
  data.view.x = Features::dense(Matrix::Ones(80, 2));
  EXPECT_NE(message("daboost").find("every column is constant"), std::string::npos) << message("daboost");
}

TEST(DaBoost, TellsOfTheRoundsThatVote) {
  bool fewer = false;
  for (const int angle : {0, 20, 30, 50}) {
    const Model model = fitted("daboost rounds=100 vote=1 stop=eq14", moons(angle, 150).view);
    const Json json = stage(model);
    const auto kept = json["runs"][0]["kept"].get<std::size_t>();
    fewer = fewer || kept < 100;
    const double err = json["err_source"][kept - 1], loss = json["loss_target"][kept - 1];
    EXPECT_EQ(model.statuses()[0].text,
              fmt::format("a run of 100 rounds, of which {} vote, source error {:.3g}%, target loss {:.3g}%", kept,
                          100 * err, 100 * loss));
  }
  EXPECT_TRUE(fewer);
}

TEST(DaBoost, DividesByANumber) {
  const Moons data = moons(30, 60);
  const Json one = stage(fitted("daboost rounds=20 vote=1 scale=1", data.view));
  const Json raw = stage(fitted("daboost rounds=20 vote=1 scale=raw", data.view));
  const Json half = stage(fitted("daboost rounds=20 vote=1 scale=0.5", data.view));
  EXPECT_EQ(one["beta"], raw["beta"]);
  EXPECT_EQ(half["left"], Json(std::vector<double>(20, 0.5)));
  EXPECT_EQ(half["right"], half["left"]);
  EXPECT_EQ(code_of([&] { fitted("daboost scale=0", data.view); }), "bad_option");
}

TEST(DaBoost, LetsSourceDomainsCountEqually) {
  Moons data = moons(30, 60);
  // Two source domains, of 15 and of 45 rows.
  data.view.domain.names.push_back("other");
  data.view.role.push_back(Role::source);
  for (std::size_t i = 0; i < 15; ++i) data.view.domain.index[4 * i] = 2;
  const std::vector<double> equal = boost_weights(data.view, GroupShares::equal);
  double first = 0, second = 0;
  for (std::size_t i = 0; i < 60; ++i) (i % 4 == 0 ? first : second) += equal[i];
  EXPECT_NEAR(first, second, 1e-12);
  EXPECT_TRUE(boost_weights(data.view, GroupShares::pooled).empty());
  for (const std::string name : {"daboost vote=1 rounds=30", "adaboost rounds=30"}) {
    Moons by_hand = data;
    by_hand.view.weight = Vector::Constant(60, 2.0 / 3);
    for (Index i = 0; i < 60; i += 4) by_hand.view.weight[i] = 2;
    const Json found = stage(fitted(name + " domain_weights=equal", data.view));
    const Json wanted = stage(fitted(name + " domain_weights=equal", by_hand.view));
    const Json pooled = stage(fitted(name, data.view));
    EXPECT_NE(found["alpha"], pooled["alpha"]);
    ASSERT_EQ(found["alpha"].size(), wanted["alpha"].size());
    for (std::size_t n = 0; n < found["alpha"].size(); ++n)
      EXPECT_NEAR(found["alpha"][n].get<double>(), wanted["alpha"][n].get<double>(), 1e-9);
  }
}

TEST(DaBoost, RespectsRowWeightsAndLearnsSeveralClasses) {
  Moons data = moons(30, 60);
  data.view.weight = Vector::Constant(60, 1);
  const Model equal = fitted("daboost rounds=30 vote=1", data.view);
  data.view.weight.head(20).setConstant(3);
  const Model weighted = fitted("daboost rounds=30 vote=1", data.view);
  EXPECT_NE(stage(equal)["alpha"], stage(weighted)["alpha"]);
  const TrainView three = overlapping(200, 3, 3, 2, 60);
  for (const char* text : {"daboost rounds=20 vote=2", "daboost rounds=20 vote=2 multiclass=ovo smooth=knn",
                           "daboost rounds=20 vote=2 base=tree candidates=5", "adaboost rounds=10 base=tree depth=3",
                           "scale | adaboost rounds=20 | calibrate"}) {
    const Model model = fitted(text, three);
    EXPECT_EQ(model.predict({three.x, std::nullopt}, context()).probability.cols(), 3) << text;
    EXPECT_EQ(reloaded(model).bytes(), model.bytes()) << text;
  }
}

TEST(DaBoost, WarnsWhenAllTargetRowsAreOfOneClass) {
  Moons data = moons(0, 60);
  Matrix x = data.view.x.to_matrix();
  x.bottomRows(60).array() += 50;
  data.view.x = Features::dense(x);
  Recorder recorder;
  fitted("daboost rounds=20 vote=1", data.view, context().observed_by(&recorder));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings.back().first, "one_target_class");
}

TEST(DaBoost, RefusesModelFilesThatDoNotFit) {
  const Moons data = moons(30, 40);
  const StageInput input{.cols = 2, .task = Task::classify, .classes = {"-1", "1"}};
  FitCache cache;
  DaBoostOptions options;
  options.rounds = 10;
  options.vote = 2;
  options.smooth = DaBoostSmooth::knn;
  const StageState good = DaBoost::fit(data.view, options, context(), cache).fitted->save();
  EXPECT_EQ(DaBoost::load(good, options, input)->save().arrays().size(), good.arrays().size());
  const auto code = [&](const StageState& state) { return code_of([&] { DaBoost::load(state, options, input); }); };
  for (const auto& entry : good.arrays()) {
    StageState bad = good;
    bad.set(entry.first, Vector(Vector::Constant(3, 1)));
    EXPECT_EQ(code(bad), "bad_model") << entry.first;
  }
  const auto with = [&](const char* name, double value) {
    StageState bad = good;
    Vector values = good.vector(name, -1);
    values[4] = value;
    bad.set(name, values);
    return bad;
  };
  EXPECT_EQ(code(with("attribute", 2)), "bad_model");
  EXPECT_EQ(code(with("attribute", 0.5)), "bad_model");
  EXPECT_EQ(code(with("attribute", -1)), "bad_model");
  EXPECT_EQ(code(with("sign", 0.5)), "bad_model");
  EXPECT_EQ(code(with("left", 0)), "bad_model");
  EXPECT_EQ(code(with("right", -1)), "bad_model");
  EXPECT_EQ(code(with("alpha", -1)), "bad_model");
  EXPECT_EQ(code(with("beta", -1)), "bad_model");
  EXPECT_EQ(code(with("alpha", 1e308)), "bad_model");
  EXPECT_EQ(code(with("beta", 70)), "bad_model");
  EXPECT_EQ(code(with("eps", std::numeric_limits<double>::infinity())), "bad_model");
  for (const char* path : {"/runs/0/rounds", "/runs/0/kept", "/runs/1/stop", "/runs/0/refused", "/runs/0/refused/b_t",
                           "/runs/0/binned", "/runs/1", "/target_share", "/target_rows", "/runs"}) {
    StageState bad = good;
    bad.info[Json::json_pointer(path)] = -3;
    EXPECT_EQ(code(bad), "bad_model") << path;
  }
  StageState none = good;
  for (Json& run : none.info["runs"]) run["kept"] = 0;
  EXPECT_EQ(code(none), "bad_model");
}

TEST(DaBoost, RefusesTreesThatDoNotFit) {
  const Moons data = moons(30, 40);
  const StageInput input{.cols = 2, .task = Task::classify, .classes = {"-1", "1"}};
  FitCache cache;
  DaBoostOptions options;
  options.rounds = 10;
  options.vote = 1;
  options.base = BoostBase::tree;
  options.candidates = 10;
  const auto fitted_stage = DaBoost::fit(data.view, options, context(), cache).fitted;
  const StageState good = fitted_stage->save();
  const auto loaded = DaBoost::load(good, options, input);
  EXPECT_EQ(loaded->save().arrays().size(), good.arrays().size());
  const Batch batch{data.target, std::nullopt};
  EXPECT_TRUE(same_bytes(loaded->predict(batch, context()), fitted_stage->predict(batch, context())));
  const auto code = [&](const char* name, double value) {
    StageState bad = good;
    Matrix values = good.matrix(name, -1, -1);
    values(2, 1) = value;
    bad.set(name, values);
    return code_of([&] { DaBoost::load(bad, options, input); });
  };
  EXPECT_EQ(code("attribute", 2), "bad_model");
  EXPECT_EQ(code("attribute", -1), "bad_model");
  EXPECT_EQ(code("attribute", 0.5), "bad_model");
  EXPECT_EQ(code("value", 1.5), "bad_model");
  EXPECT_EQ(code("sign", 0.5), "bad_model");
  EXPECT_EQ(code("sign", 0), "bad_model");
  EXPECT_EQ(code("theta", std::nan("")), "bad_model");
  StageState narrow = good;
  narrow.set("value", Matrix(Matrix::Zero(10, 3)));
  EXPECT_EQ(code_of([&] { DaBoost::load(narrow, options, input); }), "bad_model");
  // A model of trees is none of stumps.
  options.base = BoostBase::stump;
  EXPECT_EQ(code_of([&] { DaBoost::load(good, options, input); }), "bad_model");
}

TEST(DaBoost, OfTheSmallestNumbersCanBeReadBack) {
  for (const double unit : {5e-324, 1e-315, 1e-300}) {
    TrainView view = overlapping(60, 3, 2, 2, 20);
    Matrix x = view.x.to_matrix();
    for (Index i = 0; i < x.rows(); ++i) x.row(i).head(2) << unit * static_cast<double>(i % 3), unit;
    view.x = Features::dense(x);
    for (const char* text : {"daboost rounds=20 vote=2", "daboost rounds=20 vote=2 scale=half", "adaboost rounds=9"}) {
      const Model model = fitted(text, view);
      EXPECT_TRUE(reloaded(model).bytes() == model.bytes()) << text << " " << unit;
    }
  }
}

}  // namespace daboost_test
}  // namespace ecotone::test
