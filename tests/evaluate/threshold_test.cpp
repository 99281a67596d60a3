#include "ecotone/evaluate/threshold.h"

#include "ecotone/measure/confusion.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace threshold_test {

using ::testing::HasSubstr;

EvaluateOptions with_rule(const std::string& rule, Protocol protocol = Protocol::leave_one_domain_out) {
  EvaluateOptions options = with(protocol);
  options.threshold = rule;
  options.resamples = 0;
  options.folds = 3;
  return options;
}

TEST(ThresholdRule, ReadsItsForms) {
  EXPECT_EQ(ThresholdRule::parse("youden").kind, ThresholdRule::Kind::youden);
  EXPECT_EQ(ThresholdRule::parse("f1").kind, ThresholdRule::Kind::f1);
  EXPECT_EQ(ThresholdRule::parse("sensitivity=0.9").kind, ThresholdRule::Kind::sensitivity);
  EXPECT_EQ(ThresholdRule::parse("specificity=0.95").value, 0.95);
  EXPECT_EQ(ThresholdRule::parse("0.3").kind, ThresholdRule::Kind::fixed);
  for (const char* bad : {"", "best", "0", "1", "1.5", "-0.2", "nan", "0.3x", "sensitivity",
                          "sensitivity=", "sensitivity=1", "specificity=x", "youden=0.3"}) {
    const Error error = error_of([&] { ThresholdRule::parse(bad); });
    EXPECT_EQ(error.code(), "bad_option") << bad;
    EXPECT_EQ(error.kind(), ErrorKind::option);
  }
}

/// Sensitivity and specificity of the cross-fitted training rows at a threshold.
Confusion training_counts(const Dataset& data, const Pipeline& pipeline, Index held, double threshold,
                          const Context& c) {
  std::vector<Index> source;
  for (Index i = 0; i < data.rows(); ++i)
    if (data.domain.index[static_cast<std::size_t>(i)] != held) source.push_back(i);
  const TrainView view = train_view(data, source, {}, c);
  const CrossFit cross = cross_fit({pipeline, view, data.schema, view.weight}, "test", c);
  Confusion counts;
  for (std::size_t i = 0; i < cross.rows.size(); ++i)
    counts.add(view.y.index[static_cast<std::size_t>(cross.rows[i])] == 1,
               cross.probability(static_cast<Index>(i), 1) >= threshold, 1.0);
  return counts;
}

TEST(Threshold, EveryRuleHoldsOnTheCrossFittedTrainingRows) {
  const Dataset data = tiny(3, 60);
  const auto pipes = pipelines({"scale | logistic l2=0.1"});
  const auto chosen = [&](const std::string& rule) {
    const Evaluation result = evaluate(data, pipes, with_rule(rule), on(2));
    EXPECT_EQ(result.pipelines[0].thresholds.size(), 3U);
    EXPECT_EQ(result.pipelines[0].thresholds[0].held_out, "site0");
    return result.pipelines[0].thresholds[0].threshold.value();
  };
  const Context c = on(1).derived("evaluate", 0);
  const auto counts = [&](double t) { return training_counts(data, pipes[0], 0, t, c); };
  const Confusion sensitive = counts(chosen("sensitivity=0.9"));
  const Confusion specific = counts(chosen("specificity=0.9"));
  const Confusion youden = counts(chosen("youden"));
  const Confusion best_f1 = counts(chosen("f1"));
  EXPECT_GE(*sensitivity(sensitive), 0.9);
  EXPECT_GE(*specificity(specific), 0.9);
  for (int k = 1; k < 200; ++k) {
    const Confusion other = counts(k / 200.0);
    EXPECT_LE(*sensitivity(other) + *specificity(other), *sensitivity(youden) + *specificity(youden) + 1e-12);
    EXPECT_LE(*f1(other), *f1(best_f1) + 1e-12);
    if (*sensitivity(other) >= 0.9) {
      EXPECT_LE(*specificity(other), *specificity(sensitive) + 1e-12);
    }
    if (*specificity(other) >= 0.9) {
      EXPECT_LE(*sensitivity(other), *sensitivity(specific) + 1e-12);
    }
  }
}

TEST(Threshold, MetricsAreThoseOfTheHeldOutRowsAtIt) {
  const Dataset data = tiny(3, 50);
  EvaluateOptions options = with_rule("0.35");
  options.keep_predictions = true;
  const Evaluation result = evaluate(data, pipelines({"scale | logistic l2=0.1"}), options, on(2));
  EXPECT_EQ(result.threshold, "0.35");
  for (std::size_t d = 0; d < 3; ++d) {
    Confusion counts;
    for (const Index row : data.domain.rows_of(static_cast<Index>(d)))
      counts.add(data.y->index[static_cast<std::size_t>(row)] == 1,
                 *result.predictions[static_cast<std::size_t>(row)].probability[1] >= 0.35, 1.0);
    const Metrics& metrics = result.pipelines[0].domains[d].metrics;
    EXPECT_EQ(get(metrics, "sensitivity"), sensitivity(counts));
    EXPECT_EQ(get(metrics, "specificity"), specificity(counts));
    EXPECT_EQ(get(metrics, "ppv"), ppv(counts));
    EXPECT_EQ(get(metrics, "npv"), npv(counts));
    EXPECT_EQ(get(metrics, "f1"), f1(counts));
  }
  const Json json = to_json(result);
  EXPECT_EQ(json.at("threshold"), "0.35");
  EXPECT_EQ(json.at("pipelines").at(0).at("thresholds").at(1), Json({{"held_out", "site1"}, {"threshold", 0.35}}));
  EXPECT_EQ(json.at("metrics").back(), "f1");
}

TEST(Threshold, HeldOutRowsDoNotReachIt) {
  Dataset data = tiny(3, 40);
  for (const Protocol protocol : {Protocol::leave_one_domain_out, Protocol::adapt}) {
    const auto pipes = pipelines({"scale | logistic l2=0.1"});
    const Evaluation before = evaluate(data, pipes, with_rule("youden", protocol), on(2));
    Dataset changed = data;
    for (const Index row : data.domain.rows_of(1)) {
      auto& label = changed.y->index[static_cast<std::size_t>(row)];
      label = 1 - label;
    }
    const Evaluation after = evaluate(changed, pipes, with_rule("youden", protocol), on(2));
    EXPECT_EQ(before.pipelines[0].thresholds[1].threshold, after.pipelines[0].thresholds[1].threshold);
    EXPECT_NE(before.pipelines[0].thresholds[0].threshold, after.pipelines[0].thresholds[0].threshold);
    EXPECT_NE(get(before.pipelines[0].domains[1].metrics, "sensitivity"),
              get(after.pipelines[0].domains[1].metrics, "sensitivity"));
  }
}

TEST(Threshold, EveryFoldHasItsOwn) {
  const Evaluation result =
      evaluate(tiny(2, 45), pipelines({"scale | logistic l2=0.1"}), with_rule("youden", Protocol::k_fold), on(2));
  ASSERT_EQ(result.pipelines[0].thresholds.size(), 3U);
  EXPECT_EQ(result.pipelines[0].thresholds[2].held_out, "fold 3");
  EXPECT_TRUE(get(result.pipelines[0].domains[0].metrics, "sensitivity"));
}

TEST(Threshold, UndefinedWhereTrainingCannotSettleIt) {
  // Of the first split's two training domains each has one class; of the second's, one has both.
  Dataset data = tiny(3, 20);
  for (const Index row : data.domain.rows_of(1)) data.y->index[static_cast<std::size_t>(row)] = 0;
  for (const Index row : data.domain.rows_of(2)) data.y->index[static_cast<std::size_t>(row)] = 1;
  Recorder recorder;
  const Evaluation result =
      evaluate(data, pipelines({"logistic l2=1"}), with_rule("f1"), Context({.threads = 2, .observer = &recorder}));
  ASSERT_FALSE(result.pipelines[0].error);
  EXPECT_FALSE(result.pipelines[0].thresholds[0].threshold);
  EXPECT_FALSE(get(result.pipelines[0].domains[0].metrics, "sensitivity"));
  EXPECT_TRUE(get(result.pipelines[0].domains[0].metrics, "accuracy"));
  EXPECT_TRUE(result.pipelines[0].thresholds[1].threshold);
  EXPECT_THAT(recorder.warnings, ::testing::Contains(HasSubstr("no_threshold")));
}

TEST(Threshold, NeedsTwoClasses) {
  for (const Dataset& data : {tiny(2, 20, 3), tiny_regression(2, 20)}) {
    const Error error = error_of([&] { evaluate(data, pipelines({"constant"}), with_rule("youden"), on(1)); });
    EXPECT_EQ(error.kind(), ErrorKind::option);
    EXPECT_EQ(error.code(), "needs_two_classes");
    EXPECT_THAT(error.what(), HasSubstr("two classes"));
  }
}

TEST(Threshold, EqualBytesForAnyNumberOfThreads) {
  const Dataset data = tiny(3, 30);
  const auto pipes = pipelines({"scale | logistic", "constant"});
  const Json one = to_json(evaluate(data, pipes, with_rule("f1"), on(1, 2)));
  EXPECT_EQ(to_json(evaluate(data, pipes, with_rule("f1"), on(7, 2))), one);
}

}  // namespace threshold_test
}  // namespace ecotone::test
