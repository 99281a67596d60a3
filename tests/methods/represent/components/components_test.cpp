#include "ecotone/methods/represent/components/components.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "methods/support.h"
#include "solve/components/golden.h"

namespace ecotone::test {
namespace components_test {

TrainView golden_view(const ComponentsGolden& golden) {
  Labels y;
  if (golden.json.at("output_kernel").at("kind") == "delta") {
    const auto index = golden_index(golden.json.at("y"));
    y = class_labels({}, index);
    for (std::int32_t c = 0; c <= *std::max_element(index.begin(), index.end()); ++c)
      y.classes.push_back(fmt::format("c{}", c));
  } else {
    y = {Task::regress, {}, {}, golden_matrix(golden.json.at("y")).col(0)};
  }
  TrainView view = view_of(Features::dense(golden.x), y);
  view.domain.index = golden.group;
  view.domain.names = dealt_domains(0, golden.groups).names;
  view.role.assign(static_cast<std::size_t>(golden.groups), Role::source);
  return view;
}

/// The stage that a golden method is.
std::string golden_stage(const ComponentsGolden& golden, const std::string& method) {
  const Json& kernel = golden.json.at("kernel");
  std::string text = fmt::format("{} scaling=reference", method.substr(0, method.find('_')));
  for (const auto& [key, value] : kernel.items())
    text += fmt::format(" {}={}", key == "kind" ? "kernel" : key, option_text(value));
  text += fmt::format(" lam={} components={}", golden.json.at("lambda").get<double>(), golden.json.at("m").get<int>());
  const ComponentOptions options = golden.options(method, ComponentScaling::reference);
  if (options.weight > 0) text += fmt::format(" weight={}", options.weight);
  if (!options.supervised) return text;
  text += fmt::format(" epsilon={} form={}", golden.json.at("epsilon").get<double>(),
                      options.form == ComponentForm::paper ? "paper" : "symmetric");
  const Json& output = golden.json.at("output_kernel");
  if (output.at("kind") == "rbf") text += fmt::format(" output_sigma={}", output.at("sigma").get<double>());
  return text;
}

Matrix projected(const Model& model, const Matrix& x) {
  return model.transform({Features::dense(x), std::nullopt}, context()).to_matrix();
}

Json stage_of(const Model& model) { return model.inspect()["stages"][0]; }

class ComponentStages : public testing::TestWithParam<std::string> {};

TEST_P(ComponentStages, ProjectNewRowsAsTheGoldenCases) {
  const ComponentsGolden golden(GetParam());
  const TrainView view = golden_view(golden);
  for (const std::string& method : golden_component_methods()) {
    const ComponentOptions options = golden.options(method, ComponentScaling::reference);
    const std::string text = golden_stage(golden, method);
    const Json& expected = golden.expected(method);
    // A label column is one number or class: outputs of several columns are tested with the engine alone.
    if (options.supervised && golden_matrix(golden.json.at("y")).cols() > 1) continue;
    const Model model = reloaded(fitted(text, view));
    const Json stage = stage_of(model);
    ASSERT_EQ(stage["components"], expected["components"]) << text;
    EXPECT_EQ(stage["complex_pair"], expected["complex_pair"]);
    EXPECT_NEAR(stage["tr_KQ"].get<double>(), golden.json["expected"]["tr_KQ"].get<double>(), 1e-10);
    expect_columns(projected(model, golden.x_test), golden_projections(golden, method, "test", options.scaling),
                   golden.tolerance, text);
    const Model batch = fitted(text + " centre=batch", view);
    EXPECT_TRUE(batch.needs_domain_sample());
    expect_columns(projected(batch, golden.x_test),
                   golden_projections(golden, method, "test_batch_centred", options.scaling), golden.tolerance,
                   text + " batch");
    const Vector gamma = golden_vector(stage["gamma"]);
    if (gamma.size() > 0) {
      EXPECT_LT((gamma - golden_vector(expected["gamma"])).cwiseAbs().maxCoeff(), golden.tolerance * gamma[0]) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ComponentStages, testing::ValuesIn(golden_component_cases()),
                         [](const auto& golden) { return golden.param; });

/// The codes of a fit's warnings.
std::vector<std::string> warnings_of(const std::string& pipeline, const TrainView& view) {
  Recorder recorder;
  fitted(pipeline, view, context().observed_by(&recorder));
  std::vector<std::string> codes;
  for (const auto& warning : recorder.warnings) codes.push_back(warning.first);
  return codes;
}

using Codes = std::vector<std::string>;

TEST(Components, SayWhatAUserShouldKnow) {
  const TrainView view = overlapping(90, 3, 3, 3);
  EXPECT_EQ(warnings_of("dica weight=1", view), Codes{"weak_invariance"});
  EXPECT_EQ(warnings_of("dica weight=1e4", view), Codes{});
  EXPECT_EQ(warnings_of("coir", view), Codes{});
  EXPECT_EQ(warnings_of("coir components=3", view), Codes{"fewer_components"});
  EXPECT_EQ(warnings_of("kpca sigma=1e-4", view), Codes{"sigma_too_small"});
  EXPECT_EQ(warnings_of("kpca kernel=linear components=5", view), Codes{"fewer_components"});
  EXPECT_EQ(warnings_of("udica weight=1e4", overlapping(40, 3, 2, 1)), Codes{"one_domain"});
  const ComponentsGolden golden("poly_rank_limit");
  EXPECT_EQ(warnings_of(golden_stage(golden, "dica"), golden_view(golden)), Codes{"no_components"});
}

TEST(Components, ModelsThatDoNotRecordTheWeightAreRead) {
  const Pipeline pipeline = Pipeline::parse("dica weight=2");
  const Method& method = *pipeline.stages().front().method;
  const OptionValues& options = pipeline.stages().front().options;
  FitCache cache;
  StageState state = method.fit(overlapping(60, 3, 2, 3), options, context(), cache).fitted->save();
  EXPECT_EQ(state.info.at("weight"), 2.0);
  state.info.erase("weight");
  StageInput input;
  input.cols = 3;
  EXPECT_EQ(method.load(state, options, input)->save().info, state.info);
}

TEST(Components, TheAutomaticWeightIsOneOverTheDistributionalVariance) {
  const TrainView view = overlapping(90, 3, 3, 3);
  for (const std::string stage : {"dica", "udica", "dica route=low_rank rank=90", "udica lam=0"}) {
    EXPECT_EQ(warnings_of(stage, view), Codes{}) << stage;
    const Json found = stage_of(fitted(stage, view));
    EXPECT_EQ(found["options"]["weight"], "auto");
    EXPECT_DOUBLE_EQ(found["weight"].get<double>() * found["tr_KQ"].get<double>(), 1.0) << stage;
    const Json given = stage_of(fitted(fmt::format("{} weight={}", stage, found["weight"].get<double>()), view));
    for (std::size_t k = 0; k < found["gamma"].size(); ++k)
      EXPECT_NEAR(found["gamma"][k].get<double>(), given["gamma"][k].get<double>(), 1e-12) << stage;
  }
  // Nothing to be invariant to: the result of coir.
  EXPECT_EQ(stage_of(fitted("udica", overlapping(40, 3, 2, 1)))["weight"], 0.0);
}

TEST(Components, ClearAnswersToBadInput) {
  const TrainView view = overlapping(30, 3, 2, 2);
  EXPECT_EQ(code_of([&] { fitted("dica lam=0 route=cholesky", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("dica lam=0 form=paper", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("udica route=matvec", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("dica output_kernel=rbf", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { Pipeline::parse("kpca weight=1"); }), "unknown_option");
  EXPECT_EQ(code_of([&] { Pipeline::parse("coir weight=1"); }), "unknown_option");
  EXPECT_EQ(code_of([&] { Pipeline::parse("udica output_kernel=rbf"); }), "unknown_option");
  TrainView numbers = view;
  numbers.y = {Task::regress, {}, {}, Vector::LinSpaced(30, 0, 1)};
  numbers.y.value[4] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code_of([&] { fitted("dica", numbers); }), "non_finite");
  const std::string message = message_of([&] { fitted("dica lam=0 route=cholesky", view); });
  EXPECT_TRUE(message.starts_with("dica: the Cholesky route needs lam > 0")) << message;
}

TEST(Components, HandleHardRowsWithTheirDefaults) {
  const Matrix plain = overlapping(60, 3, 2, 3).x.to_matrix();
  Matrix constant = plain, repeated = plain, equal = plain;
  constant.col(1).setConstant(0.1);
  for (Index i = 0; i < 60; ++i) repeated.row(i) = plain.row(i % 20);
  equal.rowwise() = plain.row(0).eval();
  for (const char* name : {"kpca", "udica", "coir", "dica", "dica lam=0", "dica form=paper"}) {
    for (const Matrix& x : {plain, constant, repeated, equal}) {
      TrainView view = overlapping(60, 3, 2, 3);
      view.x = Features::dense(x);
      view.domain.names.push_back("single");
      view.role.push_back(Role::source);
      view.domain.index[7] = 3;
      const Model model = fitted(name, view);
      const Matrix z = projected(model, plain);
      EXPECT_TRUE(z.allFinite()) << name;
      EXPECT_EQ(z.cols(), stage_of(model)["components"].get<Index>()) << name;
      EXPECT_EQ(z.cols() == 0, (x.rowwise() - x.row(0)).isZero(0)) << name;
    }
  }
}

TEST(Components, MoreComponentsThanRowsAreSaidNotPadded) {
  const TrainView view = overlapping(6, 2, 2, 2);
  const Model model = fitted("kpca components=50", view);
  EXPECT_LE(stage_of(model)["components"].get<Index>(), 5);
  EXPECT_EQ(projected(model, view.x.to_matrix()).cols(), stage_of(model)["components"].get<Index>());
}

TEST(Components, NumbersMayBeOutputsOfEveryKernel) {
  TrainView view = overlapping(80, 3, 2, 2);
  Vector y(80);
  const Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 80; ++i) y[i] = std::round(2 * x(i, 0)) / 2;
  view.y = {Task::regress, {}, {}, y};
  const Json rbf = stage_of(fitted("dica weight=100", view));
  EXPECT_EQ(rbf["output_kernel"], "rbf");
  EXPECT_GT(rbf["output_sigma"].get<double>(), 0);
  EXPECT_EQ(stage_of(fitted("dica output_kernel=linear", view))["components"], 1);
  EXPECT_EQ(stage_of(fitted("dica output_kernel=delta", view))["components"], 2);
}

TEST(Components, UnsupervisedOnesLearnFromAllRowsSupervisedOnesFromLabelledOnes) {
  const TrainView view = overlapping(60, 3, 2, 3, 20);
  for (const char* name : {"kpca", "udica"}) {
    const Json stage = stage_of(fitted(name, view));
    EXPECT_EQ(stage["rows"], 80);
    EXPECT_EQ(stage["domains"], 4);
  }
  for (const char* name : {"coir", "dica"}) {
    const Json stage = stage_of(fitted(name, view));
    EXPECT_EQ(stage["rows"], 60);
    EXPECT_EQ(stage["domains"], 3);
  }
}

TEST(Components, SigmaIsTheMedianDistanceUnlessGiven) {
  const TrainView view = overlapping(60, 3, 2, 3);
  const Json median = stage_of(fitted("kpca", view));
  EXPECT_EQ(median["sigma_rows"], 60);
  const Json given = stage_of(fitted("kpca sigma=2.5", view));
  EXPECT_EQ(given["sigma"], 2.5);
  EXPECT_EQ(given["sigma_rows"], 0);
}

TEST(Components, EveryRouteGivesEqualBytesForAnyNumberOfThreads) {
  const TrainView view = overlapping(1100, 3, 3, 3);
  for (const char* text : {"kpca components=3", "udica weight=50", "coir form=paper", "dica weight=50",
                           "dica weight=50 lam=0 kernel=laplacian"}) {
    const std::string one = fitted(text, view, context(1)).bytes();
    for (const int threads : {2, 7}) EXPECT_TRUE(fitted(text, view, context(threads)).bytes() == one) << text;
  }
}

/// What a fit said.
struct Said {
  std::vector<std::pair<std::string, std::string>> warnings;
  std::string notes;
};

class Listener : public Recorder {
 public:
  void note(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    notes += fmt::format("{}\n", text);
  }
  std::string notes;

 private:
  std::mutex mutex_;
};

Said recorded(const std::string& pipeline, const TrainView& view) {
  Listener listener;
  fitted(pipeline, view, context().observed_by(&listener));
  return {{listener.warnings.begin(), listener.warnings.end()}, listener.notes};
}

bool noted(const Said& said, const std::string& part) { return said.notes.find(part) != std::string::npos; }

TEST(Components, OneRowIsTooFewOnEveryRoute) {
  const TrainView view = overlapping(1, 3, 1, 1);
  for (const char* route : {"auto", "matvec", "low_rank"})
    EXPECT_EQ(code_of([&] { fitted(fmt::format("kpca route={}", route), view); }), "too_few_rows") << route;
}

TEST(Components, EqualRowsHaveNoneOnEveryRouteAndKernel) {
  TrainView view = overlapping(40, 3, 2, 2);
  Matrix x = view.x.to_matrix();
  x.rowwise() = x.row(0).eval();
  view.x = Features::dense(x);
  for (const char* kernel : {"rbf", "laplacian", "linear", "poly"}) {
    for (const char* route : {"auto", "low_rank"}) {
      const std::string text = fmt::format("dica kernel={} route={}", kernel, route);
      const Model model = reloaded(fitted(text, view));
      EXPECT_EQ(stage_of(model)["components"], 0) << text;
      EXPECT_EQ(projected(model, Matrix::Ones(3, 3)).cols(), 0) << text;
      const Said recorder = recorded(text, view);
      ASSERT_EQ(recorder.warnings.size(), 1U) << text;
      EXPECT_EQ(recorder.warnings[0].first, "no_components");
      EXPECT_TRUE(recorder.warnings[0].second.ends_with("all rows are equal")) << recorder.warnings[0].second;
    }
  }
}

TEST(Components, NumbersThatAreNearlyAllDifferentAreNoClasses) {
  TrainView view = overlapping(120, 3, 2, 2);
  view.y = {Task::regress, {}, {}, Vector::LinSpaced(120, 0, 1)};
  const std::string message = message_of([&] { fitted("dica output_kernel=delta", view); });
  EXPECT_NE(message.find("120 classes"), std::string::npos) << message;
  EXPECT_NE(message.find("output_kernel=rbf"), std::string::npos) << message;
  view.y.value = (view.y.value * 50).array().floor().matrix();
  EXPECT_EQ(code_of([&] { fitted("dica output_kernel=delta", view); }), "none");
}

TEST(Components, ASmallSigmaIsSaidByTheShareOfRowsThatAreNearAnother) {
  // 20 places far apart with 10 rows each: every row is near another.
  TrainView view = overlapping(200, 3, 2, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 200; ++i) x.row(i) = 0.01 * x.row(i).array() + 100.0 * static_cast<double>(i % 20);
  TrainView places = view;
  places.x = Features::dense(x);
  // One pair of equal rows among rows that are far from each other.
  Matrix single = view.x.to_matrix();
  single.row(1) = single.row(0);
  TrainView pair = view;
  pair.x = Features::dense(single);
  for (const char* route : {"matvec", "low_rank"}) {
    EXPECT_EQ(warnings_of(fmt::format("kpca sigma=0.2 route={}", route), places), Codes{}) << route;
    const Codes codes = warnings_of(fmt::format("kpca sigma=1e-4 route={}", route), pair);
    EXPECT_EQ(std::count(codes.begin(), codes.end(), "sigma_too_small"), 1) << route;
  }
}

TEST(Components, DomainsWithEqualMeansNeedNoWeight) {
  TrainView view = overlapping(40, 3, 2, 2);
  const Matrix x = view.x.to_matrix();
  Matrix twice(80, 3);
  twice << x, x;
  TrainView both = overlapping(80, 3, 2, 2);
  both.x = Features::dense(twice);
  for (std::size_t i = 0; i < 80; ++i) both.domain.index[i] = i < 40 ? 0 : 1;
  for (const char* kernel : {"rbf", "linear"}) {
    const Said recorder = recorded(fmt::format("udica kernel={}", kernel), both);
    ASSERT_EQ(recorder.warnings.size(), 1U) << kernel;
    EXPECT_EQ(recorder.warnings[0].first, "weak_invariance");
    EXPECT_NE(recorder.warnings[0].second.find("do not differ"), std::string::npos) << recorder.warnings[0].second;
  }
}

TEST(Components, SayWhyThereAreFewer) {
  const TrainView two = overlapping(60, 3, 2, 2);
  const Said plain = recorded("coir", two);
  EXPECT_TRUE(plain.warnings.empty());
  EXPECT_TRUE(noted(plain, "there is only 1 component, not 2: labels of 2 classes explain at most 1"));
  const Said asked = recorded("coir components=3", two);
  ASSERT_EQ(asked.warnings.size(), 1U);
  TrainView numbers = two;
  numbers.y = {Task::regress, {}, {}, Vector::Constant(60, 3.5)};
  const Said constant = recorded("coir", numbers);
  ASSERT_EQ(constant.warnings.size(), 1U);
  EXPECT_TRUE(constant.warnings[0].second.ends_with("the labels are all equal and explain nothing"))
      << constant.warnings[0].second;
  const Said linear = recorded("kpca kernel=linear components=5", two);
  ASSERT_EQ(linear.warnings.size(), 1U);
  EXPECT_TRUE(linear.warnings[0].second.ends_with("below 1e-10 of the largest")) << linear.warnings[0].second;
}

TEST(Components, ValuesTooLargeAreTheDatasFault) {
  TrainView view = overlapping(40, 3, 2, 2);
  view.x = Features::dense(1e160 * view.x.to_matrix());
  for (const char* text : {"kpca", "dica route=low_rank"}) {
    EXPECT_EQ(code_of([&] { fitted(text, view); }), "non_finite") << text;
    const std::string message = message_of([&] { fitted(text, view); });
    EXPECT_NE(message.find("overflow; add scale"), std::string::npos) << message;
  }
}

TEST(Components, EveryRouteNamesTheRowThatIsNotFinite) {
  TrainView view = overlapping(40, 3, 2, 2);
  Matrix x = view.x.to_matrix();
  x(17, 1) = std::numeric_limits<double>::quiet_NaN();
  view.x = Features::dense(x);
  const std::string exact = message_of([&] { fitted("dica", view); });
  EXPECT_NE(exact.find("in row 18; add impute"), std::string::npos) << exact;
  EXPECT_EQ(message_of([&] { fitted("dica route=low_rank", view); }), exact);
  EXPECT_EQ(message_of([&] { fitted("dica route=low_rank sigma=1", view); }), exact);
  EXPECT_EQ(message_of([&] { fitted("dica route=low_rank kernel=linear", view); }), exact);
}

TEST(Components, ErrorsOfTheLowRankMapAreThoseOfTheStage) {
  const TrainView view = overlapping(40, 3, 2, 2);
  const std::string message = message_of([&] { fitted("kpca route=low_rank map=fourier kernel=linear", view); });
  EXPECT_TRUE(message.starts_with("kpca: ")) << message;
}

TEST(Components, OptionsThatAreNotReadAreNoted) {
  const TrainView view = overlapping(60, 3, 3, 3);
  EXPECT_TRUE(noted(recorded("kpca rank=20 degree=2", view), "degree, rank change nothing"));
  EXPECT_TRUE(noted(recorded("kpca kernel=linear sigma=2", view), "sigma changes nothing"));
  EXPECT_FALSE(noted(recorded("kpca kernel=poly degree=2 route=low_rank rank=20", view), "nothing"));
}

TEST(Components, TheRowsOfAFitAreCentredAtTheTrainingMean) {
  const TrainView view = overlapping(60, 3, 2, 3, 20);
  const Pipeline pipeline = Pipeline::parse("dica centre=batch");
  FitCache cache;
  const Stage& stage = pipeline.stages().front();
  const StageResult result = stage.method->fit(view, stage.options, context(), cache);
  const Matrix z = result.next.x.to_matrix();
  ASSERT_EQ(z.rows(), 80);
  // The mean of the labelled rows is 0; that of a batch with target rows would not be.
  EXPECT_LT(z.topRows(60).colwise().mean().cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_GT(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Components, ModelFilesAreChecked) {
  const Model model = fitted("dica", overlapping(40, 3, 2, 2));
  const StageInput input{.cols = 3, .task = Task::classify, .classes = {"c0", "c1"}};
  StageState state;
  const Json stage = stage_of(model);
  const auto load = [&](const StageState& from) { Components::load(from, ComponentStageOptions{}, input); };
  EXPECT_EQ(code_of([&] { load(state); }), "bad_model");
  for (const char* key : {"route", "rows", "domains", "sigma", "sigma_rows", "components", "complex_pair", "tr_KQ",
                          "gamma_most_negative", "distributional_variance", "tr_BKB"})
    state.info[key] = stage[key];
  for (const char* key : {"gamma", "gamma_imag", "bias"}) state.set(key, golden_vector(stage[key]));
  for (const char* key : {"landmarks", "coefficients"}) state.set(key, golden_matrix(stage[key]));
  EXPECT_EQ(code_of([&] { load(state); }), "none");
  StageState bad = state;
  bad.info["sigma"] = 0;
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
  bad = state;
  bad.info["complex_pair"] = 1;
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
  bad = state;
  bad.set("landmarks", Matrix(Matrix::Ones(39, 3)));
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
  bad = state;
  bad.set("bias", Vector(Vector::Ones(2)));
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
}

}  // namespace components_test
}  // namespace ecotone::test
