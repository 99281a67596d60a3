#include <limits>

#include "ecotone/data/categories.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/report/json/json.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace evaluate_messages_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// With site1 held out the training rows have one class.
Dataset one_class_without_site1() {
  Dataset data = tiny(2, 20);
  for (const Index row : data.domain.rows_of(0)) data.y->index[static_cast<std::size_t>(row)] = 1;
  return data;
}

TEST(Evaluate, ErrorsNameThePipelineAndTheDomainAndKeepTheirCode) {
  const Dataset data = one_class_without_site1();
  const Error error = error_of([&] {
    evaluate(data, pipelines({"scale | logistic", "logistic"}), with(Protocol::leave_one_domain_out), on(2));
  });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_EQ(error.code(), "one_class");
  EXPECT_THAT(error.what(), ::testing::StartsWith("\"scale | logistic\" with site1 held out: logistic: "));
}

TEST(Evaluate, GoesOnWithoutPipelinesThatCannotBeFitted) {
  const Dataset data = one_class_without_site1();
  EvaluateOptions options = with(Protocol::leave_one_domain_out);
  options.keep_predictions = true;
  const auto run = [&](const std::vector<std::string>& texts, int threads) {
    return evaluate(data, pipelines(texts), options, on(threads));
  };
  const Evaluation both = run({"scale | logistic", "constant", "impute | constant"}, 2);
  EXPECT_EQ(both.failures(), 1U);
  EXPECT_EQ(both.reference, 1U);
  ASSERT_TRUE(both.pipelines[0].error);
  EXPECT_EQ(both.pipelines[0].error->code(), "one_class");
  EXPECT_THAT(both.pipelines[0].error->what(), HasSubstr("with site1 held out"));
  ASSERT_EQ(both.pipelines[0].domains.size(), 2U);
  EXPECT_EQ(both.pipelines[0].domains[0].rows, 20);
  EXPECT_EQ(get(both.pipelines[0].domains[0].metrics, "accuracy"), std::nullopt);
  EXPECT_EQ(get(both.pipelines[0].mean, "accuracy"), std::nullopt);
  EXPECT_TRUE(both.pipelines[1].difference.empty());
  // The others are as they are alone, and only they have predictions.
  const Evaluation alone = run({"constant"}, 1);
  EXPECT_EQ(both.pipelines[1].mean, alone.pipelines[0].mean);
  for (const HeldOutPrediction& prediction : both.predictions) EXPECT_NE(prediction.pipeline, 0);
  EXPECT_EQ(to_json(both)["pipelines"][0]["error"]["code"], "one_class");
  EXPECT_EQ(to_json(both)["reference"], 1);
  EXPECT_FALSE(to_json(both)["pipelines"][1].contains("error"));
}

TEST(Evaluate, RefusesWhatItCannotScore) {
  const Dataset data = tiny(2, 10);
  const auto run = [&](const Dataset& d, const std::vector<std::string>& texts) {
    return error_of([&] { evaluate(d, pipelines(texts), with(Protocol::leave_one_domain_out), on(1)); }).code();
  };
  EXPECT_EQ(run(data, {}), "no_pipeline");
  EXPECT_EQ(run(data, {"scale"}), "no_learner");
  EXPECT_EQ(run(tiny(1, 10), {"constant"}), "needs_two_domains");
  Dataset unlabelled = data;
  unlabelled.y.reset();
  EXPECT_EQ(run(unlabelled, {"constant"}), "no_labels");
  unlabelled.y = data.y;
  std::fill(unlabelled.y->index.begin(), unlabelled.y->index.end(), -1);
  EXPECT_EQ(run(unlabelled, {"constant"}), "no_labels");
}

TEST(Evaluate, WarningsComeOnceAndProgressCountsFits) {
  Dataset data = tiny(3, 20);
  Matrix x = data.x.to_matrix();
  x.col(1).setConstant(std::numeric_limits<double>::quiet_NaN());  // impute warns of a column without values
  data.x = Features::dense(x, {"a", "b"});
  Recorder recorder;
  EvaluateOptions options = with(Protocol::leave_one_domain_out);
  options.next_domain = NextDomainBy::none;
  evaluate(data, pipelines({"impute | logistic l2=1", "impute | constant"}), options,
           Context({.threads = 2, .observer = &recorder}));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_THAT(recorder.warnings[0], HasSubstr("'b'"));
  EXPECT_THAT(recorder.warnings[0], ::testing::EndsWith("(6 of 6 fits)"));
  EXPECT_EQ(recorder.finished, 6);
  EXPECT_TRUE(recorder.others.empty());
}

TEST(Messages, FitsArePartOfThoseWithTheStage) {
  std::vector<std::unique_ptr<Messages>> fits;
  for (int i = 0; i < 3; ++i) {
    fits.push_back(std::make_unique<Messages>(std::vector<std::string>{"scale", "ridge"}));
    fits.push_back(std::make_unique<Messages>(std::vector<std::string>{"scale", "constant"}));
  }
  for (const std::size_t i : {0U, 2U}) {
    fits[i]->warning("empty_model", "ridge: all weights are 0");
    fits[i]->warning("odd", "moments: odd");
  }
  Recorder recorder;
  pass_on(fits, Context({.threads = 1, .observer = &recorder}));
  EXPECT_THAT(recorder.warnings,
              ElementsAre("empty_model: ridge: all weights are 0 (2 of 3 fits)", "odd: moments: odd (2 of 6 fits)"));
}

TEST(Messages, WarningsOfOneCodeAndStageAreToldOnce) {
  std::vector<std::unique_ptr<Messages>> fits;
  for (int i = 0; i < 3; ++i) fits.push_back(std::make_unique<Messages>());
  for (int i = 0; i < 3; ++i) fits[static_cast<std::size_t>(i)]->warning("low", fmt::format("weight.knn: {} rows", i));
  fits[0]->warning("low", "weight.logistic: 9 rows");
  fits[0]->warning("low", "weight.logistic: 9 rows");
  fits[1]->warning("high", "weight.knn: 1 rows");
  fits[1]->note("a: note 1");
  fits[2]->note("a: note 2");
  Recorder recorder;
  pass_on(fits, Context({.threads = 1, .observer = &recorder}), "folds");
  EXPECT_THAT(recorder.warnings, ElementsAre("low: weight.knn: 0 rows (3 of 3 folds, details differ)",
                                             "low: weight.logistic: 9 rows", "high: weight.knn: 1 rows"));
  EXPECT_THAT(recorder.notes, ElementsAre("a: note 1", "a: note 2"));
}

TEST(Evaluate, WarnsOfRanksBelowChanceOnDomainsHeldOut) {
  Dataset data = tiny(2, 40);
  Matrix x = data.x.to_matrix();
  for (const Index row : data.domain.rows_of(1))
    x.row(row) *= -1;  // what is high in one class is low in the other site
  data.x = Features::dense(x, {"a", "b"});
  const auto pipes = pipelines({"constant", "logistic l2=1", "scale | logistic l2=1"});
  Recorder recorder;
  const Context context({.threads = 2, .observer = &recorder});
  const Evaluation found = evaluate(data, pipes, with(Protocol::leave_one_domain_out), context);
  EXPECT_LT(*get(found.pipelines[1].mean, "auroc"), 0.4);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_THAT(recorder.warnings[0],
              ::testing::StartsWith("below_chance: evaluate: \"logistic l2=1\" has a mean AUROC"));
  EXPECT_THAT(recorder.warnings[0], ::testing::EndsWith("(2 of 3 pipelines, details differ)"));
  // k-fold holds no domain out.
  recorder.warnings.clear();
  evaluate(data, pipes, with(Protocol::k_fold), context);
  EXPECT_THAT(recorder.warnings, ElementsAre());
}

TEST(Messages, BelowChanceBeginsAtTwoFifths) {
  Recorder recorder;
  const Context context({.threads = 1, .observer = &recorder});
  for (const auto& value : {std::optional<double>(), std::optional(0.4), std::optional(1.0)})
    warn_below_chance("select", "the path", value, context);
  EXPECT_THAT(recorder.warnings, ElementsAre());
  warn_below_chance("select", "the path", 0.3999, context);
  EXPECT_THAT(recorder.warnings, ElementsAre(HasSubstr("below_chance: select: the path has a mean AUROC of 0.400")));
}

/// Domains A and B have categories p and q in a text column, C only `new` (rows 5, 6, ...).
Dataset with_text_column() {
  Dataset data = tiny(3, 20);
  data.domain.names = {"A", "B", "C"};
  Matrix x = Matrix::Zero(60, 4);
  x.col(0) = data.x.to_matrix().col(0);
  for (Index i = 0; i < 60; ++i) x(i, data.domain.index[static_cast<std::size_t>(i)] == 2 ? 1 : 2 + i / 3 % 2) = 1;
  data.schema.columns = {{"a", ColumnKind::numeric, {}}, {"t", ColumnKind::categorical, {"new", "p", "q"}}};
  data.x = Features::dense(x, data.schema.feature_names());
  return data;
}

TEST(Evaluate, UnseenCategoriesAreCountedOnceOverTheHeldOutRows) {
  const Dataset data = with_text_column();
  const auto pipes = pipelines({"constant", "scale | logistic l2=1"});
  Recorder recorder;
  evaluate(data, pipes, with(Protocol::leave_one_domain_out), Context({.threads = 2, .observer = &recorder}));
  EXPECT_THAT(
      recorder.warnings,
      ElementsAre("unseen_category: column 't': 20 held-out rows have a category that the model does not know"));
  // Codes are counted like levels.
  Recorder coded;
  evaluate(to_codes(data, Context()), pipelines({"constant"}), with(Protocol::leave_one_domain_out),
           Context({.threads = 2, .observer = &coded}));
  EXPECT_EQ(coded.warnings, recorder.warnings);
  // Rows of the target are in the training view, and so are its categories; k-fold has all of them in every fold.
  Recorder silent;
  const Context context({.threads = 2, .observer = &silent});
  evaluate(data, pipes, with(Protocol::adapt), context);
  evaluate(data, pipes, with(Protocol::k_fold), context);
  EXPECT_THAT(silent.warnings, ElementsAre());
}

TEST(Evaluate, SaysThatRolesAreNotLookedAt) {
  Dataset data = tiny(3, 20);
  data.role[1] = Role::target;
  Recorder recorder;
  evaluate(data, pipelines({"constant"}), with(Protocol::leave_one_domain_out),
           Context({.threads = 1, .observer = &recorder}));
  ASSERT_EQ(recorder.notes.size(), 1U);
  EXPECT_THAT(recorder.notes[0], HasSubstr("site1"));
  EXPECT_THAT(recorder.notes[0], HasSubstr("leave-one-domain-out"));
}

TEST(Evaluate, ErrorsCountRowsInTheFile) {
  Dataset data = tiny(2, 20);
  Matrix x = data.x.to_matrix();
  x(31, 1) = std::numeric_limits<double>::quiet_NaN();  // of site1
  data.x = Features::dense(x, {"a", "b"});
  const auto message = [&] {
    return std::string(
        error_of([&] { evaluate(data, pipelines({"logistic"}), with(Protocol::leave_one_domain_out), on(1)); }).what());
  };
  EXPECT_THAT(message(), HasSubstr("'b' is not a number in row 32;"));
  // Every row stands for the one 100 rows further on in a file.
  for (Index i = 0; i < data.rows(); ++i) data.origin.push_back(i + 100);
  EXPECT_THAT(message(), HasSubstr("'b' is not a number in row 132;"));
}

TEST(Evaluate, CancelStops) {
  CancelFlag cancel;
  cancel.request();
  const Dataset data = tiny(2, 10);
  const Error error = error_of([&] {
    evaluate(data, pipelines({"constant"}), with(Protocol::leave_one_domain_out),
             Context({.threads = 2, .cancel = &cancel}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::cancelled);
}

}  // namespace evaluate_messages_test
}  // namespace ecotone::test
