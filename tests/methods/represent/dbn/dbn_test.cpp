#include "ecotone/methods/represent/dbn/dbn.h"

#include <cmath>
#include <functional>

#include "methods/support.h"

namespace ecotone::test {
namespace dbn_test {

/// Rows of four kinds: a quarter of the columns is on in each, one value in ten flipped; times `top`.
Matrix pictures(Index rows, Index cols, double top) {
  Random random(8, "pictures");
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = (j * 4 / cols == i % 4) != (random.uniform() < 0.1) ? top : 0;
  return x;
}

TrainView unlabelled(Matrix x) { return view_of(Features::dense(std::move(x)), no_labels()); }

Json stage_of(const Model& model) { return model.inspect()["stages"][0]; }

Matrix features(const Model& model, const Matrix& x) {
  return model.transform({Features::dense(x), std::nullopt}, context()).to_matrix();
}

TEST(Dbn, FeaturesAreTheMeanActivationsOfTheTopLayer) {
  const Matrix x = pictures(120, 8, 1);
  const Model model = fitted("dbn layers=5,3 epochs=3 batch=20", unlabelled(x));
  const Json stage = stage_of(model);
  Matrix v = x;
  for (const char* layer : {"1", "2"}) {
    const Json& weights = stage[std::string("weights") + layer];
    const Json& bias = stage[std::string("hidden_bias") + layer];
    Matrix h(v.rows(), static_cast<Index>(bias.size()));
    for (Index i = 0; i < h.rows(); ++i) {
      for (Index j = 0; j < h.cols(); ++j) {
        double t = bias[static_cast<std::size_t>(j)];
        for (Index k = 0; k < v.cols(); ++k)
          t += v(i, k) * weights[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)].get<double>();
        h(i, j) = 1 / (1 + std::exp(-t));
      }
    }
    v = h;
  }
  EXPECT_LT((features(model, x) - v).cwiseAbs().maxCoeff(), 1e-6);
  const Features named = model.transform({Features::dense(x), std::nullopt}, context());
  EXPECT_EQ(named.names(), (std::vector<std::string>{"h1", "h2", "h3"}));
}

TEST(Dbn, InspectShowsTheErrorOfEachLayerAndEpochAndItFalls) {
  const Model model = fitted("dbn layers=12,10 epochs=25 batch=20", unlabelled(pictures(400, 20, 1)));
  const Json errors = stage_of(model)["reconstruction"];
  ASSERT_EQ(errors.size(), 2);
  for (const Json& layer : errors) {
    ASSERT_EQ(layer.size(), 25);
    EXPECT_LT(layer[24].get<double>(), layer[0].get<double>());
  }
  EXPECT_LT(errors[0][24].get<double>(), 0.8 * errors[0][0].get<double>());
}

TEST(Dbn, PixelsAreDividedByTheLargest) {
  const Matrix unit = pictures(120, 8, 1);
  const Matrix bytes = 255 * unit;
  const char* text = "dbn layers=4 epochs=2";
  const Model of_unit = fitted(text, unlabelled(unit));
  const Model of_bytes = fitted(text, unlabelled(bytes));
  EXPECT_EQ(stage_of(of_bytes)["visible"], "binary");
  EXPECT_EQ(stage_of(of_bytes)["scale"][0], 255.0);
  EXPECT_TRUE(same_bytes(features(of_unit, unit), features(of_bytes, bytes)));

  // Whole numbers that stop below 255 may be counts: they are pixels only when the user says so.
  const Matrix shades = 16 * unit;
  EXPECT_EQ(stage_of(fitted(text, unlabelled(shades)))["visible"], "gaussian");
  const Model said = fitted("dbn layers=4 epochs=2 visible=binary", unlabelled(shades));
  EXPECT_EQ(stage_of(said)["scale"][0], 16.0);
  EXPECT_TRUE(same_bytes(features(said, shades), features(of_unit, unit)));
}

TEST(Dbn, ScaleNoneTakesValuesAsTheyAre) {
  const Matrix bytes = pictures(60, 4, 255);
  EXPECT_EQ(stage_of(fitted("dbn layers=2 epochs=1 scale=none", unlabelled(bytes / 255)))["scale"][0], 1.0);
  EXPECT_EQ(code_of([&] { fitted("dbn layers=2 epochs=1 visible=binary scale=none", unlabelled(bytes)); }),
            "outside_unit");
  const Json stage = stage_of(fitted("dbn layers=2 epochs=1 visible=gaussian scale=none", unlabelled(bytes / 255)));
  EXPECT_EQ(stage["visible"], "gaussian");
  EXPECT_EQ(stage["mean"][0], 0.0);
}

TEST(Dbn, GaussianUnitsStandardiseAndBeatTheMean) {
  Random random(6, "factors");
  Matrix x(500, 10);
  for (Index i = 0; i < x.rows(); ++i) {
    const double first = random.normal();
    const double second = random.normal();
    for (Index j = 0; j < 10; ++j) x(i, j) = 1000 + 50 * ((j < 5 ? first : second) + 0.3 * random.normal());
  }
  const Json stage = stage_of(fitted("dbn layers=30 epochs=60 batch=20", unlabelled(x)));
  EXPECT_EQ(stage["visible"], "gaussian");
  EXPECT_NEAR(stage["mean"][3].get<double>(), 1000, 10);
  EXPECT_NEAR(stage["scale"][3].get<double>(), 50 * std::sqrt(1.09), 5);
  // The mean of a standardised column leaves an error of 1.
  EXPECT_LT(stage["reconstruction"][0][59].get<double>(), 0.7);
  // One number for all values of `rate` would not do: that of binary units is not used here.
  const Json other = stage_of(fitted("dbn layers=30 epochs=60 batch=20 rate=0.5", unlabelled(x)));
  EXPECT_EQ(other["weights1"], stage["weights1"]);
}

TEST(Dbn, RowsOfTheTargetAreSeen) {
  TrainView view = overlapping(60, 3, 2, 2, 20);
  const Model before = fitted("dbn layers=3 epochs=1", view);
  Matrix x = view.x.to_matrix();
  x.bottomRows(20).array() += 5;
  view.x = Features::dense(std::move(x));
  const Model after = fitted("dbn layers=3 epochs=1", view);
  EXPECT_NE(stage_of(before)["mean"], stage_of(after)["mean"]);
  EXPECT_NE(stage_of(before)["weights1"], stage_of(after)["weights1"]);
}

TEST(Dbn, RefusesByName) {
  const TrainView view = unlabelled(pictures(20, 4, 1));
  const auto refusal = [&](const std::string& text) { return message_of([&] { fitted(text, view); }); };
  EXPECT_EQ(refusal("dbn layers=''"), "dbn: layers must be whole numbers as in 500,500,2000, got ''");
  EXPECT_EQ(refusal("dbn layers=3,2.5"), "dbn: layers must be whole numbers as in 500,500,2000, got '3,2.5'");
  EXPECT_TRUE(refusal("dbn layers=0").starts_with("dbn: layers must be in [1, "));
  EXPECT_EQ(refusal("dbn rate=0"), "dbn: rate must be > 0, got 0");
  EXPECT_EQ(refusal("dbn rate_gaussian=-1"), "dbn: rate_gaussian must be > 0, got -1");
  EXPECT_TRUE(refusal("dbn cd=0").starts_with("dbn: cd must be in [1, "));
  EXPECT_EQ(code_of([&] { fitted("dbn layers=2 epochs=30 visible=gaussian rate_gaussian=1e9", view); }), "diverged");
  // A million units above a million others would take terabytes.
  EXPECT_EQ(code_of([&] { fitted("dbn layers=1000000,1000000", view); }), "not_enough_memory");

  TrainView gap = view;
  Matrix x = view.x.to_matrix();
  x(3, 1) = nan;
  gap.x = Features::dense(std::move(x));
  EXPECT_EQ(message_of([&] { fitted("dbn layers=2", gap); }),
            "dbn: column 'x2' is not a number in row 4; add impute before it");
}

TEST(Dbn, AnErrorThatRisesIsAStatus) {
  Recorder recorder;
  const Context run = context().observed_by(&recorder);
  // Steps far beyond what the data bear, but finite.
  const Model model =
      fitted("dbn layers=2 epochs=3 visible=gaussian rate_gaussian=3", unlabelled(pictures(200, 8, 1)), run);
  EXPECT_FALSE(stage_of(model)["converged"].get<bool>());
  ASSERT_EQ(recorder.warnings.size(), 1);
  EXPECT_EQ(recorder.warnings[0].first, "not_converged");
}

/// Keeps what the bars are called.
class Bars : public Recorder {
 public:
  void progress(std::string_view what, Index, Index) override { names.emplace_back(what); }
  std::vector<std::string> names;
};

TEST(Dbn, TheBarShowsTheErrorOfTheLastEpoch) {
  Bars bars;
  const Context run = Context({.threads = 1, .seed = 1}).observed_by(&bars);
  const Model model = fitted("dbn layers=3,2 epochs=2", unlabelled(pictures(40, 4, 1)), run);
  const double error = stage_of(model)["reconstruction"][1][0];
  const std::string expected = fmt::format("dbn layer 2 of 2, epoch 2 of 2, error {:.4g}", error);
  EXPECT_EQ(bars.names.front(), "dbn layer 1 of 2, epoch 1 of 2");
  EXPECT_EQ(bars.names.back(), expected);
}

TEST(Dbn, MissingAndHugeValuesToPredictDoNotSpread) {
  const Matrix x = pictures(40, 4, 1);
  const Model model = fitted("dbn layers=3,2 epochs=1", unlabelled(x));
  Matrix fresh = x.topRows(3);
  fresh(0, 0) = nan;
  fresh(1, 1) = 1e300;
  const Matrix z = features(model, fresh);
  EXPECT_TRUE(z.row(0).array().isNaN().all());
  EXPECT_TRUE(z.bottomRows(2).allFinite());
}

StageInput four_columns() {
  StageInput input;
  input.cols = 4;
  return input;
}

/// The state of a small net after `change`, loaded.
std::string load_code(const std::function<void(StageState&)>& change) {
  const TrainView view = unlabelled(pictures(20, 4, 1));
  DbnOptions options;
  options.layers = {3, 2};
  options.epochs = 1;
  FitCache cache;
  StageState state = Dbn::fit(view, options, context(), cache).fitted->save();
  change(state);
  return code_of([&] { Dbn::load(state, options, four_columns()); });
}

TEST(Dbn, HostileStatesAreRefused) {
  EXPECT_EQ(load_code([](StageState&) {}), "none");
  const std::vector<std::function<void(StageState&)>> changes = {
      [](StageState& s) { s.set("weights2", Matrix(Matrix::Zero(2, 3))); },
      [](StageState& s) { s.set("weights1", Matrix(Matrix::Constant(4, 3, 0.1))); },  // not single precision
      [](StageState& s) { s.set("weights1", Matrix(Matrix::Constant(4, 3, 1e300))); },
      [](StageState& s) { s.set("weights1", Matrix(Matrix::Constant(4, 3, nan))); },
      [](StageState& s) { s.set("hidden_bias1", Vector(Vector::Zero(4))); },
      [](StageState& s) { s.set("visible_bias2", Vector(Vector::Zero(2))); },
      [](StageState& s) { s.set("scale", Vector(Vector::Zero(4))); },
      [](StageState& s) { s.set("mean", Vector(Vector::Zero(3))); },
      [](StageState& s) { s.set("reconstruction", Matrix(Matrix::Zero(2, 2))); },
      [](StageState& s) { s.info["visible"] = "ternary"; },
      [](StageState& s) { s.info["visible"] = 1; },
      [](StageState& s) { s.info.erase("visible"); }};
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(load_code(changes[i]), "bad_model") << i;

  DbnOptions empty;
  empty.layers.clear();
  EXPECT_EQ(code_of([&] { Dbn::load({}, empty, four_columns()); }), "bad_model");
}

}  // namespace dbn_test
}  // namespace ecotone::test
