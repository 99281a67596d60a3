// Penalties chosen inside the training domains.
#include "ecotone/methods/learn/linear/penalty_path.h"

#include <algorithm>

#include "ecotone/measure/fold_choice.h"
#include "methods/support.h"

namespace ecotone::test {
namespace penalty_path_test {

Json stage_of(const std::string& text, const TrainView& view, int threads = 2) {
  return fitted(text, view, context(threads)).inspect()["stages"][0];
}

std::vector<double> numbers_of(const Json& stage, const char* name) { return stage[name].get<std::vector<double>>(); }

/// Mean over domains of the log loss on a domain that the fit with this penalty has not seen.
double held_out_loss(const TrainView& view, const std::string& learner) {
  double total = 0;
  const Matrix x = view.x.to_matrix();
  for (Index d = 0; d < view.domain.count(); ++d) {
    std::vector<Index> in, out;
    for (Index i = 0; i < view.labelled(); ++i)
      (view.domain.index[static_cast<std::size_t>(i)] == d ? out : in).push_back(i);
    Labels y = view.y.take(in);
    const Model model = fitted(learner, view_of(Features::dense(x(in, Eigen::all)), y));
    const Prediction p = model.predict({Features::dense(x(out, Eigen::all)), std::nullopt}, context());
    double loss = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      loss -= std::log(p.probability(static_cast<Index>(i), view.y.index[static_cast<std::size_t>(out[i])]));
    total += loss / static_cast<double>(out.size());
  }
  return total / static_cast<double>(view.domain.count());
}

TEST(PenaltyPath, LossesAreThoseOfFitsWithoutTheDomain) {
  const TrainView view = overlapping(300, 4, 2, 3);
  for (const std::string which : {"l2", "l1"}) {
    const Json stage = stage_of("logistic rule=best " + which + "=auto", view);
    const auto penalty = numbers_of(stage, ("path_" + which).c_str());
    const auto loss = numbers_of(stage, "path_loss");
    ASSERT_EQ(penalty.size(), which == "l2" ? 15U : 20U);
    EXPECT_TRUE(std::is_sorted(penalty.rbegin(), penalty.rend()));
    for (const std::size_t i : {std::size_t{0}, std::size_t{6}, penalty.size() - 1}) {
      const double expected = held_out_loss(view, fmt::format("logistic {}={}", which, penalty[i]));
      EXPECT_NEAR(loss[i], expected, 1e-5) << which << " " << i;
    }
    const auto best = static_cast<std::size_t>(std::min_element(loss.begin(), loss.end()) - loss.begin());
    EXPECT_EQ(stage["path_chosen"], best);
    EXPECT_EQ(stage["chosen_" + which], penalty[best]);
    EXPECT_EQ(stage["path_folds"], 3);
    // The model is the one of all rows with that penalty.
    const Json direct = stage_of(fmt::format("logistic {}={}", which, penalty[best]), view);
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(stage["weights"][j].get<double>(), direct["weights"][j].get<double>(), 1e-8);
  }
}

TEST(PenaltyPath, NoiseIsPenalisedAway) {
  // Labels that have nothing to do with the features: the best model is the constant one, or near it.
  TrainView view = overlapping(400, 10, 2, 6);
  Random random(4, "noise");
  for (auto& cls : view.y.index) cls = random.uniform() < 0.5 ? 1 : 0;
  const Json best = stage_of("logistic l1=auto rule=best", view);
  EXPECT_LE(best["path_chosen"].get<int>(), 6);
  const Json careful = stage_of("logistic l1=auto rule=one_se", view);
  EXPECT_LE(careful["path_chosen"].get<int>(), 2);
  // A weight of 400 rows has a standard error of about 0.1.
  for (const double w : numbers_of(careful, "weights")) EXPECT_LT(std::abs(w), 0.2);
}

TEST(PenaltyPath, OneStandardErrorIsNeverWeakerThanTheBest) {
  const TrainView view = overlapping(240, 5, 3, 6);
  const Json best = stage_of("logistic l2=auto rule=best", view);
  const Json careful = stage_of("logistic l2=auto rule=one_se", view);
  EXPECT_LE(careful["path_chosen"].get<int>(), best["path_chosen"].get<int>());
  EXPECT_EQ(careful["path_loss"], best["path_loss"]);
}

TEST(PenaltyPath, BothPenaltiesAndEveryFamily) {
  const TrainView view = overlapping(240, 4, 2, 3);
  const Json both = stage_of("logistic l1=auto l2=auto", view);
  EXPECT_EQ(both["path_loss"].size(), 50U);
  for (const char* text : {"softmax l2=auto", "probit l2=auto", "probit l1=auto l2=0.01"})
    EXPECT_EQ(stage_of(text, view)["status"], "converged") << text;
  TrainView values = view;
  values.y = {Task::regress, {}, {}, Vector(240)};
  for (Index i = 0; i < 240; ++i) values.y.value[i] = static_cast<double>(i % 7);
  for (const char* text : {"poisson l2=auto", "least_squares l1=auto"})
    EXPECT_EQ(stage_of(text, values)["status"], "converged") << text;
}

TEST(PenaltyPath, OneDomainIsCutIntoRows) {
  const TrainView view = overlapping(200, 3, 2, 1);
  EXPECT_EQ(stage_of("logistic l2=auto", view)["path_folds"], 5);
  EXPECT_EQ(stage_of("logistic l2=auto", view, 1).dump(), stage_of("logistic l2=auto", view, 7).dump());
}

TEST(PenaltyPath, SaysWhenNothingCanBeLeftOut) {
  // Each class in a domain of its own: without either, one class is left.
  TrainView view = overlapping(60, 3, 2, 2);
  for (std::size_t i = 0; i < 60; ++i) view.domain.index[i] = view.y.index[i];
  EXPECT_EQ(code_of([&] { fitted("logistic l1=auto", view); }), "no_folds");
  // A third domain with both classes saves it: every fold then has both among its other rows.
  for (std::size_t i = 0; i < 20; ++i) view.domain.index[i] = 2;
  view.domain.names.push_back("both");
  view.role.push_back(Role::source);
  Recorder recorder;
  const Model model = fitted("logistic l2=auto", view, context().observed_by(&recorder));
  EXPECT_EQ(model.inspect()["stages"][0]["path_folds"], 3);
}

TEST(PenaltyPath, DataErrorsKeepTheirNames) {
  TrainView view = overlapping(60, 3, 2, 3);
  view.weight = Vector::Zero(60);
  EXPECT_EQ(code_of([&] { fitted("logistic l2=auto", view); }), "zero_weights");
  view.weight = Vector();
  view.y = class_labels({"only"}, std::vector<std::int32_t>(60, 0));
  EXPECT_EQ(code_of([&] { fitted("logistic l2=auto", view); }), "one_class");
  EXPECT_EQ(code_of([&] { fitted("logistic l1=auto solver=lbfgs", overlapping(60, 3, 2, 3)); }), "bad_option");
}

TEST(PenaltyPath, LossesThatOverflowAndFoldsWithoutCountsAreSurvived) {
  // Two domains; the first alone has counts, and a column that is huge in the second.
  Matrix x(40, 1);
  Labels y{Task::regress, {}, {}, Vector::Zero(40)};
  for (Index i = 0; i < 40; ++i) {
    x(i, 0) = i < 20 ? static_cast<double>(i % 5) : 1e5 * static_cast<double>(i % 5);
    if (i < 20) y.value[i] = static_cast<double>(i % 5) + 1;
  }
  TrainView view = view_of(Features::dense(x), y);
  view.domain = {{"counts", "none"}, {}};
  view.role = {Role::source, Role::source};
  for (Index i = 0; i < 40; ++i) view.domain.index.push_back(i < 20 ? 0 : 1);
  Recorder recorder;
  const Model model = fitted("poisson l2=auto", view, context().observed_by(&recorder));
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["path_folds"], 1);
  for (const double loss : numbers_of(stage, "path_loss")) EXPECT_TRUE(std::isfinite(loss));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "fold_lacks_class");
}

TEST(PenaltyPath, IsSavedAndLoaded) {
  const TrainView view = overlapping(120, 3, 2, 3);
  const Model model = fitted("logistic l2=auto", view);
  EXPECT_EQ(reloaded(model).bytes(), model.bytes());
  EXPECT_EQ(reloaded(model).inspect().dump(), model.inspect().dump());
}

/// Mean held-out log loss of each fold (whole domains) for each penalty: all stages are fitted without the domain.
Matrix hand_made_losses(const TrainView& view, const std::string& stages, const std::vector<double>& l2) {
  Matrix losses(view.domain.count(), static_cast<Index>(l2.size()));
  for (Index d = 0; d < view.domain.count(); ++d) {
    std::vector<Index> in, out;
    for (Index i = 0; i < view.labelled(); ++i) (view.domain.index[at(i)] == d ? out : in).push_back(i);
    for (std::size_t k = 0; k < l2.size(); ++k) {
      const Model model = fitted(fmt::format("{} | logistic l2={}", stages, l2[k]), view_of_rows(view, in));
      const Prediction p = model.predict({view.x.take(out), view.domain.take(out)}, context());
      double loss = 0;
      for (std::size_t i = 0; i < out.size(); ++i)
        loss -= std::log(p.probability(static_cast<Index>(i), view.y.index[at(out[i])]));
      losses(d, static_cast<Index>(k)) = loss / static_cast<double>(out.size());
    }
  }
  return losses;
}

TEST(PenaltyPath, StagesBeforeTheLearnerAreRefittedInEveryFold) {
  TrainView view = overlapping(240, 6, 2, 6);
  // Domains of different scale, so that a scale that has seen them all differs from one that has not.
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x.row(i) *= 1.0 + view.domain.index[at(i)];
  view.x = Features::dense(x);
  for (const std::string stages :
       {"scale", "scale | greedy steps=2 intercept=true", "scale | kpca components=2 sigma=2",
        "scale | kpca components=2 sigma=2 centre=batch"}) {
    const Json stage = fitted(stages + " | logistic", view).inspect()["stages"].back();
    const auto l2 = numbers_of(stage, "path_l2");
    const auto loss = numbers_of(stage, "path_loss");
    const auto error = numbers_of(stage, "path_error");
    // Weights vanish under a huge penalty, which leaves a constant prediction.
    const Matrix expected =
        bounded_losses(hand_made_losses(view, stages, l2), hand_made_losses(view, stages, {1e12}).col(0));
    const Vector mean = expected.colwise().mean().transpose();
    Index best = 0;
    mean.minCoeff(&best);
    Index chosen = best;
    for (Index i = static_cast<Index>(l2.size()) - 1; i >= 0; --i) {
      const Vector difference = expected.col(i) - expected.col(best);
      const double centred = (difference.array() - difference.mean()).square().sum();
      EXPECT_NEAR(loss[at(i)], mean[i], 1e-5) << stages << " " << i;
      EXPECT_NEAR(error[at(i)], std::sqrt(centred / 30), 1e-5) << stages << " " << i;
      if (i < best && difference.mean() <= std::sqrt(centred / 30)) chosen = i;
    }
    // Small penalties may lose the same to all digits of the path.
    EXPECT_NEAR(mean[stage["path_chosen"].get<Index>()], mean[chosen], 1e-5) << stages;
  }
}

TEST(PenaltyPath, ASelectionThatSawTheLabelsDoesNotWeakenThePenalty) {
  const TrainView view = noise(80, 200, 4);
  const Json stage = fitted("greedy steps=10 intercept=true | logistic rule=best", view).inspect()["stages"][1];
  // Columns picked for their luck on all rows look good on all rows ...
  const Model selection = fitted("greedy steps=10 intercept=true", view);
  TrainView leaking = view;
  leaking.x = selection.transform({view.x, view.domain}, context());
  const Json fooled = stage_of("logistic rule=best", leaking);
  EXPECT_LT(fooled["path_loss"][fooled["path_chosen"].get<std::size_t>()].get<double>(), 0.6);
  // ... and like what they are on rows that had no part in the choice.
  EXPECT_GT(stage["path_loss"][stage["path_chosen"].get<std::size_t>()].get<double>(), 0.65);
  EXPECT_GT(stage["chosen_l2"].get<double>(), 10 * fooled["chosen_l2"].get<double>());
}

TEST(PenaltyPath, SeveralClassesAndClassWeightsShareTheFolds) {
  const TrainView view = overlapping(180, 4, 3, 3);
  for (const char* text : {"scale | logistic", "scale | logistic multiclass=ova", "scale | logistic multiclass=ovo",
                           "scale | logistic class_weight=balanced", "scale | probit multiclass=ovo"}) {
    Recorder recorder;
    const Model model = fitted(text, view, context().observed_by(&recorder));
    EXPECT_TRUE(recorder.warnings.empty()) << text;
    EXPECT_EQ(reloaded(model).bytes(), model.bytes()) << text;
    EXPECT_EQ(fitted(text, view, context(1)).bytes(), fitted(text, view, context(7)).bytes()) << text;
  }
}

TEST(PenaltyPath, AutoFallsBackToAFixedPenaltyAndSaysSo) {
  const auto note_of = [](const std::string& text, const TrainView& view, double expected) {
    Recorder recorder;
    const Json stage = fitted(text, view, context().observed_by(&recorder)).inspect()["stages"].back();
    EXPECT_EQ(stage["fixed_l2"], expected) << text;
    EXPECT_FALSE(stage.contains("path_l2")) << text;
    EXPECT_EQ(recorder.notes.size(), 1U) << text;
    return recorder.notes.empty() ? "" : recorder.notes[0];
  };
  // Two rows: without either there is one class.
  Matrix x(2, 1);
  x << 0, 1;
  const TrainView two = view_of(Features::dense(x), class_labels({"a", "b"}, {0, 1}));
  EXPECT_NE(note_of("logistic", two, 0.25).find("left out"), std::string::npos);
  // A stage that compares rows is refitted in each of five folds: 2,100^2 x 5 > 2e7.
  const TrainView many = overlapping(2100, 2, 2, 1);
  EXPECT_NE(note_of("greedy steps=1 | logistic", many, 0.5 / 2100).find("tune"), std::string::npos);
  EXPECT_TRUE(stage_of("logistic", many).contains("path_l2"));
}

TEST(PenaltyPath, FoldsThatLackAClassAreLeftOut) {
  TrainView view = overlapping(90, 3, 2, 3);
  for (std::size_t i = 0; i < 90; ++i)
    if (view.domain.index[i] != 0) view.y.index[i] = 1;
  Recorder recorder;
  const Json stage = fitted("greedy steps=1 | logistic", view, context().observed_by(&recorder)).inspect()["stages"][1];
  EXPECT_EQ(stage["path_folds"], 2);
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "fold_lacks_class");
}

TEST(PenaltyPath, AStageThatCannotBeRefittedIsNamed) {
  // Without either of two domains, tgreedy has none to compare.
  const TrainView view = overlapping(120, 3, 2, 2);
  for (const std::string learner : {"logistic", "ridge", "step", "greedy stop=lodo", "svm probability=true"}) {
    Recorder recorder;
    const Json stage =
        fitted("tgreedy steps=2 | " + learner, view, context().observed_by(&recorder)).inspect()["stages"][1];
    ASSERT_FALSE(recorder.notes.empty()) << learner;
    EXPECT_NE(recorder.notes[0].find(learner == "logistic" ? "cannot be refitted" : "cannot be fitted without a"),
              std::string::npos)
        << recorder.notes[0];
    if (learner == "logistic") {
      EXPECT_EQ(stage["fixed_l2"], 0.5 / 120);
    }
  }
}

TEST(PenaltyPath, APairOfClassesThatLivesInOneDomainIsCutIntoRows) {
  // Classes 1 and 2 occur in the first domain alone, so leaving it out leaves nothing of them.
  TrainView view = overlapping(240, 3, 3, 3);
  for (std::size_t i = 0; i < 240; ++i)
    if (view.domain.index[i] != 0) view.y.index[i] = 0;
  for (const char* text : {"scale | logistic multiclass=ovo l1=auto", "scale | ridge multiclass=ovo"})
    EXPECT_EQ(code_of([&] { fitted(text, view); }), "none") << text;
}

TEST(Refits, OfSomeRowsAreTheSameFoldsOfThese) {
  const TrainView view = overlapping(40, 2, 2, 4);
  Refits all = no_refits(view, context());
  all.features = [&](std::size_t) { return Refitted{view.labelled_x(), Vector::LinSpaced(40, 0, 39)}; };
  const std::vector<Index> chosen = {1, 2, 7, 8, 30};
  const Refits some = all.of_rows(chosen);
  const auto whole = all.rows();
  const auto part = some.rows();
  ASSERT_EQ(part.size(), whole.size());
  for (std::size_t f = 0; f < part.size(); ++f) {
    for (const auto& [of_part, of_whole] :
         {std::pair(part[f].held, whole[f].held), std::pair(part[f].train, whole[f].train)}) {
      std::vector<Index> expected, found;
      for (const Index row : of_whole)
        if (std::ranges::find(chosen, row) != chosen.end()) expected.push_back(row);
      for (const Index row : of_part) found.push_back(chosen[at(row)]);
      EXPECT_EQ(found, expected);
    }
  }
  EXPECT_EQ(some.features(0).x.to_matrix(), Matrix(view.x.to_matrix()(chosen, Eigen::all)));
  EXPECT_EQ(some.features(0).weight, Vector(Vector::LinSpaced(40, 0, 39)(chosen)));
  EXPECT_EQ(all.times(Vector::Constant(40, 3)).features(0).weight, Vector(3 * Vector::LinSpaced(40, 0, 39)));
}

TEST(Refits, RubbishInTheHeldOutRowsDoesNotReachTheTrainingRows) {
  const TrainView view = overlapping(90, 4, 2, 3);
  const Schema schema;
  const Vector weight;
  for (const char* stages :
       {"scale", "scale | greedy steps=2 intercept=true", "scale | step", "scale | kpca components=2"}) {
    const auto folds = inner_folds(view, context());
    for (std::size_t f = 0; f < folds.size(); ++f) {
      TrainView rubbish = view;
      Matrix x = view.x.to_matrix();
      for (const Index row : folds[f].held) x.row(row).setConstant(1e6 + static_cast<double>(row));
      rubbish.x = Features::dense(x);
      FitCache first, second;
      const auto refits = [&](const TrainView& of, FitCache& cache) {
        return refits_of(std::make_shared<const Upstream>(Upstream{Pipeline::parse(stages), of, schema, weight}),
                         context(), cache);
      };
      const Refits clean = refits(view, first), dirty = refits(rubbish, second);
      EXPECT_TRUE(clean.stages);
      EXPECT_EQ(Matrix(clean.features(f).x.to_matrix()(folds[f].train, Eigen::all)),
                Matrix(dirty.features(f).x.to_matrix()(folds[f].train, Eigen::all)))
          << stages;
    }
  }
}

TEST(PenaltyPath, AnL1PenaltyStandsAloneUnlessAsked) {
  const TrainView view = overlapping(120, 3, 2, 3);
  EXPECT_EQ(stage_of("logistic l1=0.01", view)["options"]["l2"], 0.0);
  EXPECT_FALSE(stage_of("logistic l1=0.01", view).contains("path_l2"));
  EXPECT_TRUE(stage_of("logistic l1=0.01 l2=auto", view).contains("path_l2"));
  EXPECT_EQ(stage_of("logistic l1=auto", view)["chosen_l2"], 0.0);
  EXPECT_EQ(stage_of("logistic l1=auto l2=auto", view)["path_l2"].size(), 50U);
  EXPECT_TRUE(stage_of("logistic l1=0", view).contains("path_l2"));
}

}  // namespace penalty_path_test
}  // namespace ecotone::test
