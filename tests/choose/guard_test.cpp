#include "ecotone/choose/guard.h"

#include <cmath>
#include <numeric>

#include "ecotone/base/files/tensor_file.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/registry.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace guard_test {

using ::testing::HasSubstr;

/// A weight stage that gives the labelled rows the weights of a function of the first column.
class ByFirstColumn : public Fitted {
 public:
  StageState save() const override { return {}; }
};

Method weight_method(double (*weight)(double)) {
  Method method;
  method.name = "weight.test";
  method.family = Family::weight;
  method.needs_target = true;
  method.fit = [weight](const TrainView& view, const OptionValues&, const Context& context, FitCache&) {
    TrainView next = view;
    const Matrix x = view.labelled_x().to_matrix();
    next.weight.resize(x.rows());
    for (Index i = 0; i < x.rows(); ++i) next.weight[i] = weight(x(i, 0));
    return pass_on(std::make_shared<ByFirstColumn>(), next, context);
  };
  return method;
}

/// "weight.test | logistic l2=0.001"
Pipeline weighted(const Method& method) {
  std::vector<Stage> stages = Pipeline::parse("logistic l2=0.001").stages();
  stages.insert(stages.begin(), Stage{&method, {}});
  return Pipeline(stages);
}

/// The source lies around -0.7, the target around 1.
TrainView shifted(bool (*rule)(double)) {
  Random random(3, "bent");
  const Index n = 900;
  Matrix x(2 * n, 1);
  TrainView view;
  view.y.classes = {"0", "1"};
  view.domain.names = {"source", "target"};
  view.role = {Role::source, Role::target};
  for (Index i = 0; i < 2 * n; ++i) {
    const bool target = i >= n;
    x(i, 0) = target ? 1 + 0.4 * random.normal() : -0.7 + 1.1 * random.normal();
    view.domain.index.push_back(target);
    if (!target) view.y.index.push_back(rule(x(i, 0) + 0.3 * random.normal()));
  }
  view.x = Features::dense(x, {"a"});
  return view;
}

/// No line follows this rule: most of the source wants one through x = -1, the target one through x = 1.
TrainView bent() {
  return shifted([](double x) { return std::abs(x) < 1; });
}
/// One line is right everywhere.
TrainView straight() {
  return shifted([](double x) { return x > 0.8; });
}

// Density of N(1, 0.4^2) over that of N(-0.7, 1.1^2), up to a factor.
double right_ratio(double x) { return std::exp(-(x - 1) * (x - 1) / 0.32 + (x + 0.7) * (x + 0.7) / 2.42); }
// Nearly all weight on a few rows far from the target.
double wrong_ratio(double x) { return std::exp(-4 * x); }

TEST(PlainCounterpart, HasNoWeightStages) {
  const Method method = weight_method(right_ratio);
  EXPECT_EQ(plain_counterpart(weighted(method), Task::classify).text(), "logistic l2=0.001");
  const Error nothing = error_of([] { plain_counterpart(Pipeline::parse("scale | logistic"), Task::classify); });
  EXPECT_EQ(nothing.code(), "nothing_to_guard");
  EXPECT_EQ(nothing.kind(), ErrorKind::option);
  EXPECT_EQ(error_of([&] { plain_counterpart(Pipeline({Stage{&method, {}}}), Task::classify); }).code(), "no_learner");
}

TEST(PlainCounterpart, KeepsTheOptionsThatTheLearnersShare) {
  Method adapt = Pipeline::parse("logistic").stages()[0].method[0];
  adapt.name = "adapt.some";
  adapt.family = Family::adapt;
  adapt.plain = PlainForm{.method = "logistic"};
  OptionValues options = Pipeline::parse("logistic l2=0.3 offset=false").stages()[0].options;
  options.set("lam", 1.0);
  EXPECT_EQ(plain_counterpart(Pipeline({Stage{&adapt, options}}), Task::classify).text(),
            "logistic l2=0.3 offset=false");
  adapt.plain.reset();
  EXPECT_EQ(error_of([&] {
              plain_counterpart(Pipeline({Stage{&adapt, options}}), Task::classify);
            }).code(),
            "nothing_to_guard");
}

TEST(PlainCounterpart, IsThereForEveryMethodThatAdapts) {
  for (const Method& each : methods()) {
    if (each.family != Family::adapt) continue;
    if (each.follows_learner()) {
      EXPECT_EQ(plain_counterpart(Pipeline::parse("scale | logistic l2=1 | " + each.name), Task::classify).text(),
                "scale | logistic l2=1");
      continue;
    }
    ASSERT_TRUE(each.plain) << each.name;
    EXPECT_EQ(method(each.plain->method).family, Family::learn) << each.name;
    const std::string plain = plain_counterpart(Pipeline::parse(each.name), Task::classify).text();
    EXPECT_EQ(plain.substr(0, plain.find(' ')), each.plain->method);
  }
}

/// adapt.jdot counts squared errors whole, least_squares counts them half.
TEST(PlainCounterpart, OfTransportOfLabelsDependsOnTheTask) {
  const Pipeline pipeline = Pipeline::parse("scale | adapt.jdot l2=0.25 rounds=3");
  EXPECT_EQ(plain_counterpart(pipeline, Task::classify).text(), "scale | logistic l2=0.25");
  EXPECT_EQ(plain_counterpart(pipeline, Task::regress).text(), "scale | least_squares l2=0.125");
}

/// Where every target row is a source row, transport gives every row its own label, and both models are the same.
TEST(PlainCounterpart, OfTransportOfLabelsIsTheSameModelWithoutShift) {
  for (const Task task : {Task::classify, Task::regress}) {
    TrainView view = straight();
    const Index n = view.labelled();
    Matrix x = view.x.to_matrix();
    x.bottomRows(n) = x.topRows(n);
    view.x = Features::dense(x, {"a"});
    if (task == Task::regress) {
      Vector value(n);
      for (Index i = 0; i < n; ++i) value[i] = 2 * x(i, 0) + std::sin(9 * x(i, 0));
      view.y = {};
      view.y.task = Task::regress;
      view.y.value = value;
    }
    const Pipeline pipeline = Pipeline::parse("adapt.jdot alpha=1000000 l2=0.2");
    const Json adapted = Model::fit(pipeline, view, Schema{}, on(2)).inspect().at("stages")[0];
    const Json plain = Model::fit(plain_counterpart(pipeline, task), view, Schema{}, on(2)).inspect().at("stages")[0];
    EXPECT_NEAR(adapted.at("weights").front().get<double>(), plain.at("weights").front().get<double>(), 1e-6);
  }
}

TEST(PlainCounterpart, HasNoStagesThatMatchDomains) {
  for (const char* stage : {"align", "coral", "linot move_mean=false", "barycentre", "subspace components=2", "tca",
                            "transport solver=exact", "rank", "rank output=uniform", "weight.kmm"})
    EXPECT_EQ(
        plain_counterpart(Pipeline::parse(fmt::format("scale | {} | logistic l2=1", stage)), Task::classify).text(),
        "scale | logistic l2=1")
        << stage;
  for (const char* stage : {"rank by=all", "weight.balance", "kpca"})
    EXPECT_EQ(error_of([&] {
                plain_counterpart(Pipeline::parse(fmt::format("{} | logistic", stage)), Task::classify);
              }).code(),
              "nothing_to_guard")
        << stage;
}

TEST(PlainCounterpart, OfScalingByDomainIsScaling) {
  const auto plain_of = [](const std::string& text) {
    return plain_counterpart(Pipeline::parse(text + " | logistic l2=1"), Task::classify).text();
  };
  EXPECT_EQ(plain_of("scale by=domain shrink_sd=3 new=pooled"), "scale | logistic l2=1");
  EXPECT_EQ(error_of([&] { plain_of("scale"); }).code(), "nothing_to_guard");
}

TEST(PlainCounterpart, FormsNameOptionsAndMethodsThatThereAre) {
  for (const Method& each : methods()) {
    if (!each.plain) continue;
    if (!each.plain->method.empty()) {
      EXPECT_NO_THROW(method(each.plain->method)) << each.name;
    }
    EXPECT_NO_THROW(Pipeline::parse(each.name + " " + each.plain->only_with)) << each.name;
  }
}

TEST(Guard, TakesAnAdaptationThatGains) {
  const Method method = weight_method(right_ratio);
  const Guarded guarded = guarded_fit(weighted(method), bent(), Schema{}, {}, on(2));
  EXPECT_TRUE(guarded.note.adapted);
  EXPECT_GT(*guarded.note.gain, *guarded.note.standard_error);
  EXPECT_NEAR(*guarded.note.gain, *guarded.note.estimate_plain - *guarded.note.estimate_adapted, 1e-12);
  EXPECT_EQ(guarded.model.pipeline().text(), "weight.test | logistic l2=0.001");
  EXPECT_EQ(guarded.model.notes().at("guard").at("chosen"), "adapted");
  EXPECT_EQ(guarded.note.decided_by, "gain");
  EXPECT_TRUE(guarded.note.overlap->enough());
  EXPECT_THAT(guarded.note.sentence(), HasSubstr("adapted, estimated log loss 0."));
}

TEST(Guard, DeclinesOneThatHarms) {
  const Method method = weight_method(wrong_ratio);
  const Guarded guarded = guarded_fit(weighted(method), straight(), Schema{}, {}, on(2));
  EXPECT_FALSE(guarded.note.adapted);
  EXPECT_LT(*guarded.note.gain, *guarded.note.standard_error);
  EXPECT_EQ(guarded.note.decided_by, "within_error");
  EXPECT_EQ(guarded.model.pipeline().text(), "logistic l2=0.001");
  // The plain model itself, with a note beside it.
  const Model plain = Model::fit(Pipeline::parse("logistic l2=0.001"), straight(), Schema{}, on(2));
  EXPECT_EQ(plain.with_note("guard", guarded.note.to_json()).bytes(), guarded.model.bytes());
}

TEST(Guard, DeclinesOneThatCannotBeScored) {
  const Method method = weight_method([](double) { return 0.0; });
  const Guarded guarded = guarded_fit(weighted(method), straight(), Schema{}, {}, on(2));
  EXPECT_FALSE(guarded.note.adapted);
  EXPECT_FALSE(guarded.note.estimate_adapted);
  EXPECT_THAT(guarded.note.sentence(), HasSubstr("plain, because the adapted pipeline could not be scored ("));
}

TEST(Guard, DeclinesATargetOfTooFewRows) {
  const Method method = weight_method(right_ratio);
  const TrainView whole = bent();
  std::vector<Index> labelled(static_cast<std::size_t>(whole.labelled()));
  std::iota(labelled.begin(), labelled.end(), Index{0});
  const TrainView view = view_of_rows(whole, labelled, std::vector<Index>{whole.labelled()});
  const Guarded guarded = guarded_fit(weighted(method), view, Schema{}, {}, on(1));
  EXPECT_FALSE(guarded.note.adapted);
  EXPECT_THAT(guarded.note.sentence(), HasSubstr("plain, because the target has 1 row, and 1 column needs at least 2"));
}

/// The target of the generator target_shift, out of the sources' reach.
TrainView out_of_reach(int sources, std::uint64_t seed) {
  const Dataset data = generate(
      "target_shift", {{"shift", "concept"}, {"overlap", "false"}, {"sources", std::to_string(sources)}, {"test", "0"}},
      on(1, seed));
  std::vector<Index> rows(static_cast<std::size_t>(data.rows() - 300));
  std::iota(rows.begin(), rows.end(), Index{0});
  return train_view(data, rows, data.domain.rows_of(sources), on(1));
}

TEST(Guard, DeclinesWhereNothingOverlaps) {
  const Pipeline pipeline = Pipeline::parse("scale | weight.logistic | logistic l2=0.005");
  int tempted = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const TrainView view = out_of_reach(1, seed);
    const Scores scores = score_candidates(view, Schema{}, {plain_counterpart(pipeline, Task::classify), pipeline},
                                           Scorer::importance, {}, on(2, seed));
    tempted += *scores.candidates[1].gain > errors_to_exceed(scores) * *scores.candidates[1].gain_error;
    const GuardNote note = guarded_fit(pipeline, view, Schema{}, {}, on(2, seed)).note;
    EXPECT_FALSE(note.adapted);
    EXPECT_EQ(note.decided_by, "no_overlap");
    EXPECT_GT(*note.overlap->auroc, 0.99);
    EXPECT_LT(note.overlap->ess_raw, 3);
    EXPECT_FALSE(note.estimate_adapted);  // nothing was fitted to find out
    EXPECT_THAT(note.sentence(), HasSubstr("plain, because source and target do not overlap (AUROC "));
    EXPECT_EQ(GuardNote::from_json(note.to_json(), "note").to_json(), note.to_json());
  }
  EXPECT_GT(tempted, 0);  // weighted rows alone would have said yes
}

TEST(Guard, DeclinesATargetFartherThanAnySource) {
  const Pipeline pipeline = Pipeline::parse("scale | weight.logistic | logistic l2=0.005");
  const GuardNote note = guarded_fit(pipeline, out_of_reach(6, 1), Schema{}, {}, on(2)).note;
  EXPECT_FALSE(note.adapted);
  EXPECT_EQ(note.scorer, Scorer::transfer);
  EXPECT_EQ(note.decided_by, "beyond_sources");
  EXPECT_THAT(note.sentence(), HasSubstr("only 0 of 6 source domains are as far from the others"));
}

TEST(Guard, CountsSourceDomainsThatAreAsFarFromEachOther) {
  // Every domain lies in a corner of its own, so each shows what happens in a new corner.
  Dataset data = tiny(5, 40);
  Matrix x(data.rows(), 7);
  x << data.x.to_matrix(), Matrix::Zero(data.rows(), 5);
  for (Index i = 0; i < data.rows(); ++i) x(i, 2 + data.domain.index[static_cast<std::size_t>(i)]) = 20 + x(i, 0);
  data.x = Features::dense(x);
  set_targets(data, {data.domain.names.back()});
  const TrainView view = train_view(data, on(1));
  const Scores scores = score_candidates(
      view, Schema{}, {Pipeline::parse("constant"), Pipeline::parse("logistic l2=1")}, Scorer::automatic, {}, on(2));
  EXPECT_FALSE(scores.overlap->enough());
  EXPECT_EQ(scores.apart, 4);
  EXPECT_TRUE(scores.candidates[1].gain);
  EXPECT_FALSE(scores.candidates[1].importance_gain);  // weights rows
}

TEST(Guard, NeedsATarget) {
  const Method method = weight_method(right_ratio);
  const TrainView view = train_view(tiny(4, 20), on(1));
  EXPECT_EQ(error_of([&] { guarded_fit(weighted(method), view, Schema{}, {}, on(1)); }).code(), "no_target");
}

TEST(Guard, EqualBytesForAnyNumberOfThreads) {
  const Method method = weight_method(wrong_ratio);
  const std::string one = guarded_fit(weighted(method), bent(), Schema{}, {}, on(1)).model.bytes();
  for (const int threads : {2, 7})
    EXPECT_EQ(guarded_fit(weighted(method), bent(), Schema{}, {}, on(threads)).model.bytes(), one);
}

Model with_notes_text(const Model& model, const std::string& text) {
  const TensorFile file = TensorFile::parse(model.bytes(), "model");
  TensorWriter writer;
  for (const auto& [key, value] : file.metadata()) writer.set_meta(key, key == "notes" ? text : value);
  for (const std::string& name : file.names()) {
    const auto shape = file.tensor(name).shape;
    writer.add(name, file.doubles(name, shape), shape);
  }
  return Model::from_tensors(TensorFile::parse(writer.bytes(), "hostile"));
}

Model noted() {
  GuardNote note;
  note.adapted = false;
  note.estimate_plain = 0.25;
  note.estimate_adapted = 0.24;
  note.gain = 0.01;
  note.standard_error = 0.02;
  note.adapted_pipeline = "weight.logistic | logistic";
  note.plain_pipeline = "logistic";
  return Model::fit(Pipeline::parse("logistic l2=0.1"), train_view(tiny(2, 20), on(1)), Schema{}, on(1))
      .with_note("guard", note.to_json());
}

TEST(GuardNote, SurvivesTheFile) {
  const Model model = noted();
  const Model again = Model::from_tensors(TensorFile::parse(model.bytes(), "model"));
  EXPECT_EQ(again.bytes(), model.bytes());
  const std::optional<GuardNote> note = guard_note(again, "model");
  ASSERT_TRUE(note);
  EXPECT_EQ(note->to_json(), model.notes().at("guard"));
  EXPECT_EQ(note->sentence(),
            "plain, estimated error 0.25 against 0.24 adapted (by importance: gain 0.01, standard error 0.02)");
  EXPECT_EQ(again.inspect().at("guard"), note->to_json());
  const Model plain = Model::fit(Pipeline::parse("constant"), train_view(tiny(2, 20), on(1)), Schema{}, on(1));
  EXPECT_FALSE(guard_note(plain, "model"));
  EXPECT_FALSE(TensorFile::parse(plain.bytes(), "model").metadata().contains("notes"));
}

TEST(GuardNote, HostileNotesAreRefused) {
  const Model model = noted();
  for (const char* text : {"", "7", "[]", "{\"guard\": 3}", "{\"stages\": {}}", "{\"Guard\": {}}", "{\"\": {}}",
                           "{\"guard\": {\"gain\": 1e999}}", "{\"guard\": {\"a\": [[[[[[[[[1]]]]]]]]]}}"}) {
    const Error error = error_of([&] { with_notes_text(model, text); });
    EXPECT_EQ(error.code(), "bad_model") << text;
    EXPECT_EQ(error.kind(), ErrorKind::file) << text;
  }
  // Well-formed, but no decision: the model works, and asking for the decision is refused.
  const Json good = model.notes().at("guard");
  for (const char* key : {"chosen", "scorer", "loss", "estimate_plain", "gain", "adapted"}) {
    for (const Json& value : {Json(7.5), Json("x"), Json(Json::array()), Json(true)}) {
      Json bad = good;
      bad[key] = value;
      const bool valid = (value.is_number() && (bad.at(key) == 7.5) && good.at(key).is_number()) ||
                         (value.is_string() && std::string_view(key) == "adapted");
      const Model loaded = with_notes_text(model, Json{{"guard", bad}}.dump());
      if (valid) continue;
      EXPECT_EQ(error_of([&] { guard_note(loaded, "hostile"); }).code(), "bad_model") << key << value;
    }
    Json lacking = good;
    lacking.erase(key);
    const Model loaded = with_notes_text(model, Json{{"guard", lacking}}.dump());
    EXPECT_EQ(error_of([&] { guard_note(loaded, "hostile"); }).code(), "bad_model") << key;
  }
}

}  // namespace guard_test
}  // namespace ecotone::test
