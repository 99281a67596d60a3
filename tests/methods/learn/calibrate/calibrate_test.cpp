#include "ecotone/methods/learn/calibrate/calibrate.h"

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/cross_fit.h"
#include "methods/support.h"

namespace ecotone::test {
namespace calibrate_test {

/// Rows [first, last) of a labelled view.
TrainView rows_between(const TrainView& view, Index first, Index last) {
  std::vector<Index> rows;
  for (Index i = first; i < last; ++i) rows.push_back(i);
  return view_of_rows(view, rows);
}

Json calibration(const Model& model) { return model.inspect()["stages"].back(); }

double loss(const Model& model, const TrainView& view) {
  return log_loss(view.y.index, model.predict({view.x, std::nullopt}, context()).probability);
}

/// The view with some of the labels, drawn at random, moved to the next class.
TrainView with_wrong_labels(TrainView view, double part) {
  Random random(9, "wrong-labels");
  const auto classes = static_cast<std::int32_t>(view.y.classes.size());
  for (std::int32_t& cls : view.y.index)
    if (random.uniform() < part) cls = (cls + 1) % classes;
  return view;
}

TEST(Calibrate, MakesAnOverconfidentModelHonest) {
  for (const Index classes : {2, 3}) {
    const TrainView all = with_wrong_labels(overlapping(3000, 60, classes, 4), 0.3);
    const TrainView train = rows_between(all, 0, 360);
    const TrainView fresh = rows_between(all, 360, 3000);
    // With 60 columns for 360 rows, an unpenalised fit is far too sure.
    const double before = loss(fitted("scale | logistic l2=0", train), fresh);
    for (const char* method : {"platt", "isotonic"}) {
      const Model model = fitted(fmt::format("scale | logistic l2=0 | calibrate method={}", method), train);
      const double after = loss(model, fresh);
      EXPECT_LT(after, before - 0.02) << method << " of " << classes;
      const Json stage = calibration(model);
      EXPECT_LT(stage["log_loss_after"].get<double>(), stage["log_loss_before"].get<double>() - 0.02);
      EXPECT_EQ(stage["folds"], 4);
      EXPECT_EQ(stage["folds_of"], "domains");
      EXPECT_EQ(stage["rows"], 360);
    }
  }
}

TEST(Calibrate, IsPlattsMapOfTheOutOfFoldScores) {
  TrainView view = overlapping(120, 3, 2, 3);
  view.weight = Vector::LinSpaced(120, 0.5, 2);
  Schema schema;
  for (const std::string& name : view.x.names()) schema.columns.push_back({name, ColumnKind::numeric, {}});
  const CrossFit cross =
      cross_fit({Pipeline::parse("scale | logistic l2=0.1"), view, schema, view.weight}, "test", context());
  Vector positive(120);
  for (Index i = 0; i < 120; ++i) positive[i] = view.y.index[static_cast<std::size_t>(i)];
  const PlattMap map = fit_platt(Vector(cross.score.col(0)), positive, view.weight).map;
  const Model model = fitted("scale | logistic l2=0.1 | calibrate", view);
  EXPECT_EQ(calibration(model)["slope"], map.slope);
  EXPECT_EQ(calibration(model)["intercept"], map.intercept);
  EXPECT_EQ(calibration(model)["threshold"], 0.5);
  // The learner itself is the one of all rows.
  const Model learner = fitted("scale | logistic l2=0.1", view);
  const Matrix score = learner.predict({view.x, std::nullopt}, context()).score;
  const Prediction prediction = model.predict({view.x, std::nullopt}, context());
  for (Index i = 0; i < 120; ++i) {
    EXPECT_NEAR(prediction.probability(i, 1), 1 / (1 + std::exp(-map.slope * score(i, 0) - map.intercept)), 1e-12);
  }
  EXPECT_TRUE(same_bytes(model.transform({view.x, std::nullopt}, context()).to_matrix(),
                         learner.transform({view.x, std::nullopt}, context()).to_matrix()));
}

TEST(Calibrate, OneDomainIsCutIntoRows) {
  const Model model = fitted("logistic l2=0.1 | calibrate", overlapping(100, 3, 2, 1));
  EXPECT_EQ(calibration(model)["folds"], 5);
  EXPECT_EQ(calibration(model)["folds_of"], "rows");
}

TEST(Calibrate, TheClassFollowsTheThreshold) {
  TrainView view = overlapping(200, 12, 2, 4);
  // Few rows of the second class, so that a low threshold finds more of them.
  Random random(2, "few");
  for (std::int32_t& cls : view.y.index)
    if (random.uniform() < 0.7) cls = 0;
  for (const char* method : {"platt", "isotonic"}) {
    for (const char* measure : {"accuracy", "balanced_accuracy", "f1"}) {
      const Model model =
          fitted(fmt::format("scale | logistic l2=0.01 | calibrate method={} threshold={}", method, measure), view);
      const double threshold = calibration(model)["threshold"].get<double>();
      ASSERT_TRUE(threshold > 0 && threshold < 1);
      if (std::string_view(measure) != "accuracy") {
        EXPECT_LT(threshold, 0.45) << method << " " << measure;
      }
      const Prediction prediction = model.predict({view.x, std::nullopt}, context());
      ASSERT_EQ(prediction.score.cols(), 1);
      EXPECT_TRUE(prediction.score.allFinite());
      Index second = 0;
      for (Index i = 0; i < 200; ++i) {
        const auto cls = prediction.index[static_cast<std::size_t>(i)];
        EXPECT_EQ(cls, prediction.probability(i, 1) >= threshold ? 1 : 0);
        EXPECT_EQ(cls, prediction.score(i, 0) >= 0 ? 1 : 0);
        second += cls;
      }
      EXPECT_LT(second, 200);
      EXPECT_EQ(calibration(reloaded(model))["threshold"], threshold);
    }
  }
}

TEST(Calibrate, SeveralClassesSumToOneAndAllZeroIsUniform) {
  const TrainView view = overlapping(240, 4, 3, 3);
  const Batch batch{view.x, view.domain};
  for (const char* method : {"platt", "isotonic"}) {
    const Model model = fitted(fmt::format("scale | logistic l2=0.01 | calibrate method={}", method), view);
    const Prediction prediction = model.predict(batch, context());
    EXPECT_LT((prediction.probability.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
    for (Index i = 0; i < 240; ++i) {
      Index best = 0;
      prediction.probability.row(i).maxCoeff(&best);
      EXPECT_EQ(prediction.index[static_cast<std::size_t>(i)], best);
    }
    EXPECT_GT(accuracy(view.y.index, prediction.index), 0.4);
    EXPECT_FALSE(calibration(model).contains("threshold"));
    const Model loaded = reloaded(model);
    EXPECT_TRUE(loaded.bytes() == model.bytes()) << method;
    EXPECT_TRUE(same_bytes(loaded.predict(batch, context()), prediction)) << method;
    EXPECT_TRUE(same_bytes(fitted(model.pipeline().text(), view, context(7)).predict(batch, context(7)), prediction));
  }
  const IsotonicMap zero{Vector::Zero(1), Vector::Zero(1)};
  const Calibrate nothing({{}, {zero, zero, zero}}, 0.5, {});
  Prediction before;
  before.score = Matrix::Ones(2, 3);
  const Prediction uniform = nothing.revised(before, {}, context());
  EXPECT_TRUE(same_bytes(uniform.probability, Matrix::Constant(2, 3, 1.0 / 3)));
}

TEST(Calibrate, LeavesAModelAloneThatIsCalibrated) {
  for (const Index classes : {2, 3, 4}) {
    const Json stage = calibration(fitted("scale | logistic l2=0.0001 | calibrate", overlapping(6000, 4, classes, 4)));
    const std::vector<double> slopes =
        classes == 2 ? std::vector{stage["slope"].get<double>()} : stage["slope"].get<std::vector<double>>();
    for (const double slope : slopes) EXPECT_NEAR(slope, 1, 0.1) << classes;
    EXPECT_NEAR(stage["log_loss_after"].get<double>(), stage["log_loss_before"].get<double>(), 2e-3) << classes;
  }
}

TEST(Calibrate, RowsOfWeightZeroSayNothing) {
  const TrainView view = overlapping(160, 3, 2, 2);
  TrainView weighted = view;
  weighted.weight = Vector::Ones(160);
  for (Index i = 100; i < 160; ++i) {
    weighted.weight[i] = 0;
    weighted.y.index[static_cast<std::size_t>(i)] = 0;
  }
  for (const char* method : {"platt", "isotonic"}) {
    const std::string text = fmt::format("logistic l2=0.1 norm=sum | calibrate method={} threshold=f1", method);
    const Json with = calibration(fitted(text, weighted));
    const Json without = calibration(fitted(text, rows_between(view, 0, 100)));
    for (const char* key : {"threshold", "log_loss_before", "log_loss_after"})
      EXPECT_NEAR(with[key].get<double>(), without[key].get<double>(), 1e-6) << method << " " << key;
  }
}

TEST(Calibrate, SaysThatALearnerDoesNotCarryOver) {
  // The classes change sides between two domains.
  TrainView view = overlapping(200, 2, 2, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 200; ++i) {
    const bool second = view.domain.index[static_cast<std::size_t>(i)] == 1;
    x(i, 0) += (second ? -2.0 : 2.0) * view.y.index[static_cast<std::size_t>(i)];
  }
  view.x = Features::dense(std::move(x));
  Recorder recorder;
  const Model model = fitted("scale | logistic l2=0.01 | calibrate", view, context().observed_by(&recorder));
  EXPECT_LT(calibration(model)["slope"].get<double>(), 0);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "falling_slope");
}

TEST(Calibrate, AClassOfOneDomainIsHandled) {
  TrainView view = overlapping(180, 3, 3, 3);
  for (std::size_t i = 0; i < 180; ++i)
    if (view.domain.index[i] < 2 && view.y.index[i] == 2) view.y.index[i] = 0;
  for (const char* method : {"platt", "isotonic"}) {
    Recorder recorder;
    const Model model = fitted(fmt::format("scale | logistic l2=0.01 | calibrate method={}", method), view,
                               context().observed_by(&recorder));
    // That a fold lacks the class is said once, and its map does not fall.
    Index lacking = 0;
    for (const auto& [code, message] : recorder.warnings) {
      lacking += code == "fold_lacks_class";
      EXPECT_FALSE(code == "falling_slope" && message.find("'c2'") != std::string::npos) << message;
    }
    EXPECT_EQ(lacking, 1);
    const Matrix p = model.predict({view.x, std::nullopt}, context()).probability;
    EXPECT_TRUE(p.allFinite());
    EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
    // No domain held out confirmed the class.
    EXPECT_LT(p.col(2).maxCoeff(), 0.1);
  }
}

TEST(Calibrate, RefusesByName) {
  const TrainView numbers = view_of(Features::dense(Matrix::Ones(4, 1)), number_labels({1, 2, 3, 4}));
  EXPECT_EQ(code_of([&] { fitted("constant | calibrate", numbers); }), "needs_classes");
  EXPECT_TRUE(message_of([&] { fitted("constant | calibrate", numbers); }).starts_with("calibrate: "));
  EXPECT_EQ(code_of([&] { fitted("logistic l2=1 | calibrate threshold=f1", overlapping(60, 2, 3, 3)); }),
            "needs_two_classes");
  const TrainView one = view_of(Features::dense(Matrix::Ones(3, 1)), class_labels({"only"}, {0, 0, 0}));
  EXPECT_EQ(code_of([&] { fitted("constant | calibrate", one); }), "one_class");
}

/// Loads the state after a change; the code of the error.
template <class Change>
std::string load_code(const CalibrateOptions& options, std::size_t classes, Change&& change) {
  StageInput input{score_columns(classes), Task::classify, {}};
  for (std::size_t k = 0; k < classes; ++k) input.classes.push_back(fmt::format("c{}", k));
  CalibrateMaps maps;
  for (Index k = 0; k < input.cols; ++k) {
    if (options.method == CalibrateMethod::platt) maps.platt.push_back({1, 2});
    if (options.method == CalibrateMethod::isotonic)
      maps.isotonic.push_back({Vector::LinSpaced(3, 0, 1), Vector::LinSpaced(3, 0, 1)});
  }
  StageState state = Calibrate(maps, 0.5, {10, 2, true, 1, 0.5}).save();
  change(state);
  return code_of([&] { Calibrate::load(state, options, input); });
}

TEST(Calibrate, ChecksWhatAModelFileSays) {
  const CalibrateOptions platt{};
  const CalibrateOptions isotonic{.method = CalibrateMethod::isotonic};
  const auto same = [](StageState&) {};
  EXPECT_EQ(load_code(platt, 2, same), "none");
  EXPECT_EQ(load_code(platt, 3, same), "none");
  EXPECT_EQ(load_code(isotonic, 2, same), "none");
  EXPECT_EQ(load_code(isotonic, 3, same), "none");
  EXPECT_EQ(load_code(platt, 1, same), "bad_model");
  const auto bad = [](const CalibrateOptions& options, std::size_t classes, const auto& change) {
    return load_code(options, classes, change) == "bad_model";
  };
  EXPECT_TRUE(bad(platt, 2, [](StageState& s) { s.info.erase("slope"); }));
  EXPECT_TRUE(bad(platt, 2, [](StageState& s) { s.info["threshold"] = 0.4; }));
  EXPECT_TRUE(bad({.threshold = ThresholdMeasure::f1}, 2, [](StageState& s) { s.info["threshold"] = 1.0; }));
  EXPECT_TRUE(bad(platt, 2, [](StageState& s) { s.info["folds_of"] = "hours"; }));
  EXPECT_TRUE(bad(platt, 2, [](StageState& s) { s.info["folds"] = -1; }));
  EXPECT_TRUE(bad(platt, 3, [](StageState& s) { s.set("slope", Vector(Vector::Ones(2))); }));
  EXPECT_TRUE(bad(isotonic, 2, [](StageState& s) { s.set("knots", Vector(Vector::Ones(3))); }));
  EXPECT_TRUE(bad(isotonic, 2, [](StageState& s) { s.set("knots", Vector()); }));
  EXPECT_TRUE(bad(isotonic, 2, [](StageState& s) { s.set("knot_probability", Vector(Vector::LinSpaced(3, 1, 0))); }));
  EXPECT_TRUE(bad(isotonic, 2, [](StageState& s) { s.set("knot_probability", Vector(Vector::LinSpaced(3, 0, 2))); }));
  EXPECT_TRUE(bad(isotonic, 3, [](StageState& s) { s.set("knot_class", Vector(Vector::Zero(9))); }));
  EXPECT_TRUE(bad(isotonic, 3, [](StageState& s) { s.set("knot_class", Vector(Vector::LinSpaced(9, 0, 8))); }));
}

}  // namespace calibrate_test
}  // namespace ecotone::test
