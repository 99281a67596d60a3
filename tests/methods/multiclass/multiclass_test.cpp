// Several classes from binary learners, whatever the learner.
#include "ecotone/methods/multiclass/multiclass.h"

#include "ecotone/methods/multiclass/code_matrix.h"
#include "ecotone/methods/multiclass/decode.h"
#include "ecotone/methods/registry.h"
#include "methods/support.h"

namespace ecotone::test {
namespace multiclass_test {

const std::vector<std::string> decompositions = {
    "ova", "ovo", "ovo ties=random", "ecoc", "ecoc decode=hamming", "ecoc codes=random"};

std::string logistic(const std::string& multiclass) { return "logistic l2=0.01 multiclass=" + multiclass; }

TEST(Multiclass, ProbabilitiesSumToOneAndScoresDecide) {
  for (const Index classes : {3, 4, 9}) {
    const TrainView view = overlapping(50 * classes, 5, classes, 2);
    for (const std::string& multiclass : decompositions) {
      SCOPED_TRACE(fmt::format("{} {}", multiclass, classes));
      const Prediction p = fitted(logistic(multiclass), view).predict({view.x, view.domain}, context());
      ASSERT_EQ(p.probability.rows(), view.x.rows());
      ASSERT_EQ(p.probability.cols(), classes);
      EXPECT_GE(p.probability.minCoeff(), 0);
      EXPECT_LT((p.probability.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
      EXPECT_TRUE(p.score.allFinite());
      for (Index i = 0; i < p.score.rows(); ++i) {
        const auto cls = static_cast<Index>(p.index[static_cast<std::size_t>(i)]);
        const bool drawn = multiclass == "ovo ties=random";
        EXPECT_TRUE(drawn || first_largest(p.score.row(i).transpose()) == cls) << i;
        const bool ordered = multiclass == "ova" || multiclass == "ecoc" || multiclass == "ecoc codes=random";
        EXPECT_TRUE(!ordered || first_largest(p.probability.row(i).transpose()) == cls) << i;
      }
    }
  }
}

TEST(Multiclass, LearnsWhatSoftmaxLearns) {
  const TrainView view = overlapping(600, 6, 4, 2);
  const auto correct = [&](const std::string& multiclass) {
    const Prediction p = fitted(logistic(multiclass), view).predict({view.x, view.domain}, context());
    Index count = 0;
    for (std::size_t i = 0; i < p.index.size(); ++i) count += p.index[i] == view.y.index[i] ? 1 : 0;
    return count;
  };
  const Index softmax = correct("softmax");
  ASSERT_GT(softmax, 600 / 4 + 50);
  for (const std::string& multiclass : decompositions) EXPECT_GT(correct(multiclass), softmax - 30) << multiclass;
}

TEST(Multiclass, SavedLoadedAndOnAnyNumberOfThreadsTheSame) {
  TrainView view = overlapping(3000, 5, 5, 3, 700);
  view.weight = Vector::LinSpaced(view.labelled(), 0.2, 2.0);
  const Batch batch{view.x, view.domain};
  for (const std::string& multiclass : decompositions) {
    const Model model = fitted("scale | " + logistic(multiclass), view, context(1));
    const Prediction expected = model.predict(batch, context(1));
    const Model loaded = reloaded(model);
    EXPECT_TRUE(loaded.bytes() == model.bytes()) << multiclass;
    EXPECT_EQ(loaded.inspect().dump(), model.inspect().dump()) << multiclass;
    const Prediction again = loaded.predict(batch, context(7));
    EXPECT_TRUE(same_bytes(again, expected)) << multiclass;
    EXPECT_TRUE(same_bytes(again.score, expected.score)) << multiclass;
    EXPECT_TRUE(fitted("scale | " + logistic(multiclass), view, context(7)).bytes() == model.bytes()) << multiclass;
  }
}

/// All of a stage but its options.
Json results(const Model& model) {
  Json stage = model.inspect().at("stages").at(0);
  stage.erase("options");
  return stage;
}

TEST(Multiclass, TwoClassesAreFittedAsTheyAre) {
  const TrainView view = overlapping(120, 3, 2, 2);
  const Json expected = results(fitted("logistic l2=0.01", view));
  EXPECT_FALSE(expected.contains("binary"));
  for (const std::string& multiclass : decompositions)
    EXPECT_EQ(results(fitted(logistic(multiclass), view)), expected) << multiclass;
}

TEST(Multiclass, NumberLabelsGoToTheLearner) {
  TrainView view = overlapping(6, 2, 2, 1);
  view.y = number_labels({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(code_of([&] { fitted(logistic("ova"), view); }), "needs_classes");
  EXPECT_EQ(code_of([&] { fitted("logistic class_weight=balanced", view); }), "needs_classes");
}

TEST(Multiclass, SaysWhichProblemFailed) {
  const TrainView line = view_of(Features::dense(Matrix(Vector::LinSpaced(9, 0, 8))),
                                 class_labels({"low", "mid", "top"}, {0, 0, 0, 1, 1, 1, 2, 2, 2}));
  const auto fit = [&] { fitted("logistic l2=0 multiclass=ovo", line); };
  EXPECT_EQ(code_of(fit), "separable");
  EXPECT_TRUE(message_of(fit).ends_with("('low' against 'mid')")) << message_of(fit);

  Recorder recorder;
  const Model model = fitted("logistic l2=0 multiclass=ova max_iterations=1", overlapping(90, 3, 3, 1),
                             context().observed_by(&recorder));
  EXPECT_FALSE(model.statuses()[0].converged);
  EXPECT_TRUE(model.statuses()[0].text.starts_with("3 of 3 binary problems not solved ('c0' against the rest, "))
      << model.statuses()[0].text;
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "not_converged");
}

TEST(Multiclass, SaysWhichProblemAWarningIsAbout) {
  // The second and the third class cannot be told apart; the first can.
  Random random(4, "problems");
  Matrix x(240, 1);
  Labels y = class_labels({"far", "near", "close"}, {});
  for (Index i = 0; i < x.rows(); ++i) {
    const auto c = static_cast<std::int32_t>(i % 3);
    y.index.push_back(c);
    x(i, 0) = random.normal() + (c == 0 ? 6.0 : 0.0);
  }
  Recorder recorder;
  const Model model = fitted("ridge multiclass=ovo", view_of(Features::dense(x), y), context().observed_by(&recorder));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "empty_model");
  EXPECT_TRUE(recorder.warnings[0].second.ends_with("('near' against 'close')")) << recorder.warnings[0].second;
  const std::string& status = model.statuses()[0].text;
  EXPECT_TRUE(status.starts_with("'far' against 'near': lam ")) << status;
  EXPECT_NE(status.find("'near' against 'close': all weights are 0"), std::string::npos) << status;
}

TEST(Multiclass, WarnsOfACodeThatIsNotUsed) {
  Recorder recorder;
  fitted("logistic l2=0.1 code=some.csv", overlapping(90, 3, 3, 1), context().observed_by(&recorder));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "unused_option");
}

/// A learner that says how often +1 occurred, and keeps the views that it was given.
class Share : public Fitted {
 public:
  explicit Share(double share) : share_(share) {}
  Prediction predict(const Batch& batch, const Context&) const override {
    Prediction prediction;
    prediction.index.assign(static_cast<std::size_t>(batch.x.rows()), share_ >= 0.5 ? 1 : 0);
    prediction.probability = Matrix::Constant(batch.x.rows(), 2, share_);
    prediction.probability.col(0).setConstant(1 - share_);
    return prediction;
  }
  StageState save() const override {
    StageState state;
    state.info["share"] = share_;
    return state;
  }

 private:
  double share_;
};

Method share_method(std::vector<TrainView>& views) {
  Method method;
  method.name = "share";
  method.family = Family::learn;
  method.learns = Learns::two_classes;
  method.fit = [&views](const TrainView& view, const OptionValues&, const Context&, FitCache&) -> StageResult {
    views.push_back(view);
    double ones = 0;
    for (const std::int32_t cls : view.y.index) ones += cls;
    return {std::make_shared<Share>(ones / static_cast<double>(view.labelled())), view, {}};
  };
  method.load = [](const StageState& state, const OptionValues&, const StageInput&) {
    return std::make_shared<Share>(state.number("share"));
  };
  return with_multiclass(method);
}

OptionValues options_of(const Method& method, const OptionTexts& given) {
  return complete_options(method.name, method.options, given);
}

TEST(Multiclass, AnyBinaryLearnerGetsTheOptions) {
  std::vector<TrainView> views;
  const Method method = share_method(views);
  EXPECT_EQ(options_of(method, {}).at("multiclass"), "ova");
  EXPECT_EQ(code_of([&] { options_of(method, {{"multiclass", "softmax"}}); }), "bad_option");
  EXPECT_EQ(options_of(method, {{"multiclass", "ecoc"}}).at("multiclass"), "ecoc");
}

TEST(Multiclass, PairsSeeTheirRowsAndAllTargetRows) {
  std::vector<TrainView> views;
  const Method method = share_method(views);
  // Classes c0, c1, c2 in turn; the first domain has c2 alone.
  TrainView view = overlapping(9, 2, 3, 1, 4);
  view.domain = {{"only c2", "rest", "target"}, {1, 1, 0, 1, 1, 0, 1, 1, 0, 2, 2, 2, 2}};
  view.role = {Role::source, Role::source, Role::target};
  view.weight = Vector::LinSpaced(9, 1, 9);
  FitCache cache;
  const StageResult result = method.fit(view, options_of(method, {{"multiclass", "ovo"}}), context(), cache);
  ASSERT_EQ(views.size(), 3U);
  const TrainView& pair = views[0];  // c0 against c1
  EXPECT_EQ(pair.y.classes, (std::vector<std::string>{"c1", "c0"}));
  EXPECT_EQ(pair.y.index, (std::vector<std::int32_t>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(pair.weight, (Vector(6) << 1, 2, 4, 5, 7, 8).finished());
  EXPECT_EQ(pair.domain.names, (std::vector<std::string>{"rest", "target"}));
  EXPECT_EQ(pair.role, (Roles{Role::source, Role::target}));
  ASSERT_EQ(pair.x.rows(), 10);
  const Matrix x = view.x.to_matrix();
  EXPECT_EQ(pair.x.to_matrix().row(2), x.row(3));
  EXPECT_EQ(pair.x.to_matrix().bottomRows(4), x.bottomRows(4));
  EXPECT_EQ(views[2].domain.names.size(), 3U);
  EXPECT_EQ(result.next.x.rows(), 13);

  // Shares of one half everywhere: scores of 0, made from the probabilities, are votes for the first of a pair.
  const Prediction prediction = result.fitted->predict({view.x, std::nullopt}, context());
  EXPECT_EQ(prediction.index, std::vector<std::int32_t>(13, 0));
  EXPECT_LT((prediction.probability.array() - 1.0 / 3).abs().maxCoeff(), 1e-12);
}

/// A one-versus-one model of three classes whose votes are tied everywhere but at 0: 0 beats 1 beats 2 beats 0.
std::shared_ptr<const Fitted> circle(const std::string& ties, double weight = 1) {
  const Method& method = ecotone::method("logistic");
  const OptionValues options = options_of(method, {{"l2", "1"}, {"multiclass", "ovo"}, {"ties", ties}});
  FitCache cache;
  StageState state = method.fit(overlapping(60, 1, 3, 1), options, context(), cache).fitted->save();
  for (const Index k : {0, 1, 2}) {
    state.set(fmt::format("binary{}/weights", k), Vector(Vector::Constant(1, k == 1 ? -weight : weight)));
    state.info["binary"][static_cast<std::size_t>(k)]["offset"] = 0.0;
  }
  return method.load(state, options, {1, Task::classify, {"a", "b", "c"}});
}

TEST(Multiclass, TiesByProbabilityOrAtRandom) {
  const Batch batch{Features::dense(Matrix::Ones(300, 1)), std::nullopt};
  // Equal votes and equal sums: the smaller index.
  EXPECT_EQ(circle("probability")->predict(batch, context()).index, std::vector<std::int32_t>(300, 0));
  const auto random = circle("random");
  const Prediction drawn = random->predict(batch, context(1));
  for (const std::int32_t cls : {0, 1, 2}) EXPECT_GT(std::count(drawn.index.begin(), drawn.index.end(), cls), 60);
  EXPECT_EQ(random->predict(batch, context(7)).index, drawn.index);
  EXPECT_NE(random->predict(batch, Context({.threads = 1, .seed = 2})).index, drawn.index);
}

TEST(Multiclass, ExtremeScoresGiveFiniteProbabilities) {
  for (const double x : {1.0, -1.0}) {
    const Prediction p =
        circle("probability", 1e300)->predict({Features::dense(Matrix::Constant(1, 1, x)), std::nullopt}, context());
    EXPECT_NEAR(p.probability.sum(), 1, 1e-12);
  }
  const Vector far = (Vector(3) << -1e308, -1000, -1001).finished();
  const Decoded decoded = decode_ova(far, Vector::Zero(3));
  EXPECT_EQ(decoded.cls, 1);
  EXPECT_NEAR(decoded.probability[1], 1 / (1 + std::exp(-1.0)), 1e-12);
  const Vector loss = code_losses(Matrix::Ones(3, 3), far);
  EXPECT_TRUE(loss.allFinite());
}

TEST(Multiclass, CouplingFindsTheProbabilitiesBehindConsistentPairs) {
  const Vector p = (Vector(4) << 0.5, 0.3, 0.15, 0.05).finished();
  Vector pairs(6);
  Index k = 0;
  for (Index i = 0; i < 4; ++i) {
    for (Index j = i + 1; j < 4; ++j) pairs[k++] = p[i] / (p[i] + p[j]);
  }
  EXPECT_LT((couple_pairs(pairs, 4, context()) - p).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Multiclass, CouplingIsAMinimum) {
  const Vector pairs = (Vector(3) << 0.9, 0.2, 0.7).finished();
  const auto objective = [&](const Vector& p) {
    // sum_{i<j} (r_ji p_i - r_ij p_j)^2
    const auto term = [&](Index k, Index i, Index j) { return std::pow((1 - pairs[k]) * p[i] - pairs[k] * p[j], 2); };
    return term(0, 0, 1) + term(1, 0, 2) + term(2, 1, 2);
  };
  const Vector p = couple_pairs(pairs, 3, context());
  for (const double step : {1e-3, -1e-3}) {
    for (Index i = 0; i < 3; ++i) {
      Vector moved = p;
      moved[i] += step;
      moved[(i + 1) % 3] -= step;
      EXPECT_GT(objective(moved), objective(p));
    }
  }
}

TEST(Multiclass, AScoreOfZeroIsAPlusBit) {
  Matrix code(3, 3);
  code << 1, -1, -1, -1, 1, -1, -1, -1, 1;
  EXPECT_EQ(code_distances(code, Vector::Zero(3)), Vector::Constant(3, 2));
  EXPECT_EQ(code_distances(code, (Vector(3) << 0, -1, -1).finished()), (Vector(3) << 0, 2, 2).finished());
}

TEST(Multiclass, ALongerCodeDoesNotMakeSurer) {
  // Only the first two classes are possible, with log-odds 1.5: so says each column that separates them.
  for (const Index classes : {3, 4, 6}) {
    const Matrix code = exhaustive_code(classes);
    Vector score(code.cols());
    for (Index c = 0; c < code.cols(); ++c) score[c] = code(0, c) * (code(0, c) == code(1, c) ? 50 : 1.5);
    const Vector p = loss_probability(code_losses(code, score), mean_row_distance(code));
    EXPECT_NEAR(std::log(p[0] / p[1]), 1.5, 1e-9) << classes;
    EXPECT_GT(p[0] + p[1], 0.999) << classes;
  }
}

TEST(Multiclass, SupportVectorMachinesTakePairsUnlessTheyKnowDomains) {
  const TrainView view = overlapping(120, 3, 4, 2);
  const auto scores = [&](const std::string& text) {
    return fitted(text, view).predict({view.x, view.domain}, context()).score;
  };
  EXPECT_EQ(scores("svm"), scores("svm multiclass=ovo"));
  EXPECT_NE(scores("svm"), scores("svm multiclass=ova"));
  EXPECT_EQ(scores("svm distributional=true"), scores("svm distributional=true multiclass=ova"));
  EXPECT_EQ(code_of([&] { scores("svm distributional=true multiclass=ovo"); }), "bad_option");
  EXPECT_EQ(code_of([&] { scores("logistic l2=0.1 multiclass=auto"); }), "bad_option");
  EXPECT_EQ(reloaded(fitted("svm", view)).bytes(), fitted("svm", view).bytes());
}

/// State and options of a fitted model, to be tampered with.
struct Saved {
  StageState state;
  OptionValues options;

  explicit Saved(const std::string& multiclass) {
    const Method& method = ecotone::method("logistic");
    options = options_of(method, {{"l2", "0.1"}, {"multiclass", multiclass}});
    FitCache cache;
    state = method.fit(overlapping(80, 2, 4, 1), options, context(), cache).fitted->save();
  }
  std::string load() const {
    const StageInput input{2, Task::classify, {"a", "b", "c", "d"}};
    return code_of([&] { ecotone::method("logistic").load(state, options, input); });
  }
};

TEST(Multiclass, HostileStatesAreRefused) {
  for (const std::string multiclass : {"ova", "ovo", "ecoc"}) {
    SCOPED_TRACE(multiclass);
    const Saved good(multiclass);
    ASSERT_EQ(good.load(), "none");
    std::vector<Saved> bad(6, good);
    bad[0].state.info.erase("binary");
    bad[1].state.info["binary"].push_back(good.state.info["binary"][0]);
    bad[2].state.info["binary"][1] = 7;
    bad[3].state.info["binary"] = "many";
    bad[4].state.set("binary2/weights", Vector(Vector::Ones(3)));
    bad[5].state.info["binary"][0].erase("offset");
    for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_EQ(bad[i].load(), "bad_model") << i;
  }
  const Saved good("ecoc");
  const Matrix code = good.state.matrix("code", 4, 7);
  std::vector<Saved> bad(5, good);
  bad[0].state.set("code", Matrix(2 * code));
  bad[1].state.set("code", Matrix(code.topRows(3)));
  bad[2].state.set("code", Matrix(Matrix::Ones(4, 7)));
  bad[3].state.set("code", Matrix(code.leftCols(6)));
  bad[4].state.set("code", Matrix(4, 0));
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_EQ(bad[i].load(), "bad_model") << i;
}

}  // namespace multiclass_test
}  // namespace ecotone::test
