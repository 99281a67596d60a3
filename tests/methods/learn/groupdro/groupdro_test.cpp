#include "methods/align_golden.h"

namespace ecotone::test {
namespace groupdro_test {

Json stage_of(const std::string& text, const TrainView& view) { return fitted(text, view).inspect()["stages"][0]; }

/// The largest of the domains' losses.
double worst_of(const Json& stage) {
  double worst = 0;
  for (const Json& each : stage.at("domain_losses")) worst = std::max(worst, each.at("loss").get<double>());
  return worst;
}

TEST(Groupdro, GoldenIsSolvedExactly) {
  const AlignGolden golden("12_robust");
  for (const Json& task : golden.tasks("groupdro")) {
    const double l2 = task.at("params").at("l2").get<double>();
    const Json stage = stage_of(fmt::format("groupdro base='logistic l2={}'", l2), golden.classes("y"));
    const Vector weights = vector_of(stage.at("base/weights"));
    Vector theta(3);
    theta << weights, stage.at("base").at("offset").get<double>();
    golden.expect(task, "theta", theta);
    golden.expect(task, "objective", stage.at("base").at("risk").get<double>());
    Vector losses(3);
    Vector q(3);
    for (Index e = 0; e < 3; ++e) {
      losses[e] = stage.at("domain_losses")[at(e)].at("loss").get<double>();
      q[e] = stage.at("domain_losses")[at(e)].at("share").get<double>();
    }
    golden.expect(task, "losses", losses);
    golden.expect(task, "q", q);
    EXPECT_LT(stage.at("gap").get<double>(), 1e-7);
  }
}

/// What a base of any kind gets: rounds, which come near the exact optimum.
TEST(Groupdro, RoundsComeNearTheGolden) {
  const AlignGolden golden("12_robust");
  const Json task = golden.tasks("groupdro").front();
  const Json stage = stage_of("groupdro base='logistic l2=0.01 solver=irls' rounds=400", golden.classes("y"));
  EXPECT_NEAR(worst_of(stage), task.at("expect").at("losses")[0].get<double>(), 1e-3);
  EXPECT_GT(stage.at("rounds").get<int>(), 1);
}

/// What rounds certify holds: the optimum, solved exactly, is between the lower bound and the objective, and the gap
/// never grows.
TEST(Groupdro, RoundsKeepTheBestBounds) {
  const AlignGolden golden("12_robust");
  const Json task = golden.tasks("groupdro").front();
  const double l2 = task.at("params").at("l2").get<double>();
  const double optimum = task.at("expect").at("objective").get<double>();
  double before = HUGE_VAL;
  for (const int rounds : {1, 2, 4, 8, 16, 32, 64}) {
    const Json stage =
        stage_of(fmt::format("groupdro base='logistic l2={} solver=newton tol=0' tol=1e-12 rounds={}", l2, rounds),
                 golden.classes("y"));
    const double gap = stage.at("gap").get<double>();
    const double objective = worst_of(stage) + l2 * vector_of(stage.at("base/weights")).squaredNorm();
    EXPECT_LE(gap, before) << rounds;
    EXPECT_GE(objective, optimum - 1e-9) << rounds;
    EXPECT_LE(objective - gap, optimum + 1e-9) << rounds;
    before = gap;
  }
  EXPECT_LT(before, 1e-2 * optimum);
}

TEST(Groupdro, RoundsStartWhereTheLastOneStopped) {
  const TrainView view = overlapping(300, 6, 2, 3);
  const auto iterations = [&](int rounds) {
    const char* text = "groupdro base='logistic l2=1e-3 solver=lbfgs' tol=1e-12 eta=0.1 rounds={}";
    return stage_of(fmt::format(fmt::runtime(text), rounds), view).at("base").at("iterations").get<int>();
  };
  EXPECT_LT(iterations(40), iterations(1));
}

TEST(Groupdro, TheWorstDomainIsBetterThanOfThePlainLearner) {
  TrainView view = overlapping(300, 3, 2, 3);
  // In the small third domain the label is turned around.
  for (std::size_t i = 0; i < 300; ++i)
    if (view.domain.index[i] == 2) {
      if (i % 3 == 0) view.domain.index[i] = 0;
      view.y.index[i] = 1 - view.y.index[i];
    }
  for (const char* base : {"logistic l2=0.01", "trees rounds=10 leaves=4"}) {
    const Json robust = stage_of(fmt::format("groupdro base='{}'", base), view);
    const Json plain = stage_of(
        fmt::format("groupdro base='{}{}' rounds=1", base, std::string(base).starts_with("log") ? " solver=irls" : ""),
        view);
    EXPECT_LT(worst_of(robust), worst_of(plain)) << base;
  }
}

TEST(Groupdro, OptionsOfTheBasePassThroughAndSurviveAFile) {
  const TrainView view = overlapping(120, 3, 3, 3);
  const Model model = fitted("groupdro base='svm C=0.3 tolerance=0.1' rounds=3", view);
  EXPECT_NE(model.pipeline().text().find("base='svm C=0.3 tolerance=0.1'"), std::string::npos)
      << model.pipeline().text();
  EXPECT_TRUE(same_bytes(reloaded(model).predict({view.x, std::nullopt}, context()),
                         model.predict({view.x, std::nullopt}, context())));
}

TEST(Groupdro, OwnLossesAreSubtracted) {
  TrainView view = overlapping(200, 3, 2, 2);
  Random random(4, "noise");
  for (std::size_t i = 0; i < 200; ++i)
    if (view.domain.index[i] == 1) view.y.index[i] = random.uniform() < 0.5 ? 1 : 0;
  const Json plain = stage_of("groupdro base='logistic l2=0.01'", view);
  const Json own = stage_of("groupdro base='logistic l2=0.01' adjust=own", view);
  EXPECT_LT(own.at("domain_losses")[1].at("share").get<double>(),
            plain.at("domain_losses")[1].at("share").get<double>());
}

/// Domains of the same law: what remains when their own losses are subtracted is near 0 and says nothing.
TEST(Groupdro, AdjustedRoundsEndWhereThePlainLossSays) {
  TrainView view = overlapping(900, 3, 2, 3);
  const Matrix x = view.x.to_matrix();
  Random random(5, "noise of numbers");
  Vector noise(900);
  for (Index i = 0; i < 900; ++i) noise[i] = random.normal() * (1 + view.domain.index[at(i)]);
  view.y = {Task::regress, {}, {}, x.col(0) - x.col(1) + noise};
  for (const char* base : {"least_squares l2=0", "least_squares l2=1e-3"}) {
    const Model model = fitted(fmt::format("groupdro base='{}' adjust=own", base), view);
    const Json stage = model.inspect()["stages"][0];
    EXPECT_LT(stage.at("rounds").get<int>(), 50) << base;
    EXPECT_EQ(model.inspect().dump().find("rounds the worst domain"), std::string::npos) << base;
  }
  // The same rows twice: nothing is left at all.
  TrainView twins = overlapping(200, 3, 2, 2);
  Matrix rows = twins.x.to_matrix();
  for (Index i = 0; i < 200; ++i) {
    twins.domain.index[at(i)] = static_cast<std::int32_t>(i / 100);
    if (i >= 100) rows.row(i) = rows.row(i - 100);
  }
  twins.x = Features::dense(rows);
  EXPECT_EQ(stage_of("groupdro base='logistic l2=0.01' adjust=own", twins).at("rounds"), 1);
}

TEST(Groupdro, TheRiskOfTheBaseMayBeGiven) {
  const TrainView view = overlapping(120, 3, 2, 3);
  const Json given = stage_of("groupdro base='logistic risk=mean l2=0.1'", view);
  EXPECT_EQ(given.at("base/weights"), stage_of("groupdro base='logistic l2=0.1'", view).at("base/weights"));
}

/// ridge counts domains equally by itself, which would undo the weights of the rounds.
TEST(Groupdro, ABaseThatCanWeighDomainsCountsRows) {
  TrainView view = overlapping(300, 3, 2, 3);
  const Matrix x = view.x.to_matrix();
  Vector y = x.col(0);
  for (Index i = 0; i < 300; ++i)
    if (view.domain.index[at(i)] == 2) y[i] = -x(i, 0);
  view.y = {Task::regress, {}, {}, y};
  const double plain = worst_of(stage_of("groupdro base='ridge lam=0.01' rounds=1", view));
  const Json robust = stage_of("groupdro base='ridge lam=0.01' rounds=20", view);
  EXPECT_LT(worst_of(robust), 0.9 * plain);
  const Json asked = stage_of("groupdro base='ridge lam=0.01 domain_weights=pooled' rounds=20", view);
  EXPECT_EQ(asked.at("base/weights"), robust.at("base/weights"));
  for (const char* base : {"ridge domain_weights=equal", "trees domain_weights=equal"})
    EXPECT_EQ(code_of([&] { fitted(fmt::format("groupdro base='{}'", base), view); }), "bad_option") << base;
}

TEST(Groupdro, RefusesLossesThatOverflow) {
  TrainView view = overlapping(60, 2, 2, 2);
  view.y = {Task::regress, {}, {}, Vector(view.x.to_matrix().col(0) * 1e200)};
  // A model refuses such labels at its entrance; these stages are fitted without one.
  for (const char* base : {"least_squares l2=0.1", "constant"}) {
    const Pipeline pipeline = Pipeline::parse(fmt::format("groupdro base='{}'", base));
    const Stage& stage = pipeline.stages().front();
    FitCache cache;
    EXPECT_EQ(code_of([&] { stage.method->fit(view, stage.options, context(), cache); }), "non_finite") << base;
  }
}

TEST(Groupdro, RefusesABaseThatIsNoLearner) {
  const TrainView view = overlapping(40, 2, 2, 2);
  for (const char* base : {"scale", "scale | logistic", "groupdro", "weight.knn", "adapt.joint"})
    EXPECT_EQ(code_of([&] { fitted(fmt::format("groupdro base='{}'", base), view); }), "bad_option") << base;
  EXPECT_EQ(code_of([&] { fitted("groupdro base='logistic nonsense=1'", view); }), "unknown_option");
  EXPECT_EQ(code_of([&] { fitted("groupdro base=least_squares", view); }), "needs_numbers");
}

}  // namespace groupdro_test
}  // namespace ecotone::test
