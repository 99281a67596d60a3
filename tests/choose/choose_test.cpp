#include "ecotone/choose/choose.h"

#include <cmath>

#include "ecotone/choose/plain.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/ranks.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace choose_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> candidates = {"scale | logistic l2=0.001", "scale | logistic l2=1", "constant"};

Choice chosen(const Dataset& data, std::vector<Scorer> scorers, const std::string& metric = "",
              const Context& context = on(2, 5)) {
  ChooseOptions options;
  options.scorers = std::move(scorers);
  options.metric = metric;
  return choose_candidates(data, pipelines(candidates), options, context);
}

TEST(ChooseCandidates, TruthIsThatOfTheAdaptProtocolAndRegretsFollowFromIt) {
  const Dataset data = tiny(4, 40);
  for (const char* name : {"accuracy", "log_loss", "auroc"}) {
    const bool higher = find_metric(name)->higher_is_better();
    const Choice choice = chosen(data, scorers_of(Task::classify), name);
    const Evaluation truth = evaluate(data, pipelines(candidates), with(Protocol::adapt), on(1, 5));
    EXPECT_EQ(choice.candidates, candidates);
    for (std::size_t t = 0; t < 4; ++t) {
      double best = higher ? -1 : 1e9;
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        EXPECT_EQ(choice.targets[t].score[c], get(truth.pipelines[c].domains[t].metrics, name));
        best = higher ? std::max(best, *choice.targets[t].score[c]) : std::min(best, *choice.targets[t].score[c]);
      }
      EXPECT_EQ(*choice.targets[t].score[*choice.targets[t].best], best);
      for (const ScorerChoice& scorer : choice.scorers) {
        ASSERT_EQ(scorer.error_code, "") << scorer.error;
        const TargetChoice& target = scorer.targets[t];
        EXPECT_EQ(target.score, choice.targets[t].score[target.chosen]);
        EXPECT_DOUBLE_EQ(*target.regret, std::abs(best - *target.score));
        EXPECT_DOUBLE_EQ(*target.gain, (higher ? 1 : -1) * (*target.score - *choice.targets[t].score[0]));
        std::vector<double> estimated, real;
        for (std::size_t c = 0; c < candidates.size(); ++c) {
          if (!target.estimates[c].estimate) continue;  // density refuses a candidate of one class
          estimated.push_back(*target.estimates[c].estimate);
          real.push_back((higher ? -1 : 1) * *choice.targets[t].score[c]);
        }
        EXPECT_EQ(target.rank_correlation, spearman(estimated, real));
      }
    }
    for (const ScorerChoice& scorer : choice.scorers) {
      double sum = 0;
      for (const TargetChoice& target : scorer.targets) sum += *target.regret;
      EXPECT_NEAR(*scorer.mean.regret, sum / 4, 1e-15);
      EXPECT_NEAR(*scorer.mean.regret + *scorer.mean.gain, *choice.reference.regret, 1e-12);
    }
    EXPECT_EQ(choice.best.regret, 0.0);
    EXPECT_EQ(choice.reference.gain, 0.0);
  }
}

TEST(ChooseCandidates, LabelsOfTheTargetDoNotReachTheChoice) {
  const Dataset data = tiny(4, 40);
  Dataset flipped = data;
  for (const Index row : data.domain.rows_of(2)) flipped.y->index[static_cast<std::size_t>(row)] ^= 1;
  const Choice before = chosen(data, scorers_of(Task::classify));
  const Choice after = chosen(flipped, scorers_of(Task::classify));
  int others = 0;
  for (std::size_t s = 0; s < before.scorers.size(); ++s) {
    for (std::size_t t = 0; t < 4; ++t) {
      const TargetChoice& a = before.scorers[s].targets[t];
      const TargetChoice& b = after.scorers[s].targets[t];
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (t == 2) {
          EXPECT_EQ(a.estimates[c].estimate, b.estimates[c].estimate);
          EXPECT_EQ(a.estimates[c].gain_error, b.estimates[c].gain_error);
        } else {
          others += a.estimates[c].estimate != b.estimates[c].estimate;
        }
      }
      if (t == 2) {
        EXPECT_EQ(a.chosen, b.chosen);
      }
    }
  }
  EXPECT_GT(others, 20);  // elsewhere those labels are training data
  EXPECT_NE(before.targets[2].score, after.targets[2].score);
}

TEST(ChooseCandidates, EqualBytesForAnyNumberOfThreads) {
  const Dataset data = tiny(4, 30);
  const std::string one = to_json(chosen(data, scorers_of(Task::classify), "", on(1, 5))).dump();
  for (const int threads : {2, 7})
    EXPECT_EQ(to_json(chosen(data, scorers_of(Task::classify), "", on(threads, 5))).dump(), one);
}

TEST(ChooseCandidates, AScorerThatCannotBeUsedIsLeftOutAmongSeveralAndThrownAlone) {
  const Dataset data = tiny(2, 30);
  const Choice choice = chosen(data, {Scorer::transfer, Scorer::importance});
  EXPECT_EQ(choice.scorers[0].error_code, "needs_two_domains");
  EXPECT_THAT(choice.scorers[0].error, HasSubstr("with site0 as the target: transfer: "));
  EXPECT_TRUE(choice.scorers[0].targets.empty());
  EXPECT_FALSE(choice.scorers[0].mean.regret);
  EXPECT_EQ(choice.scorers[1].targets.size(), 2U);
  EXPECT_THAT(choice_table(choice), HasSubstr("transfer could not be used with site0 as the target"));
  EXPECT_EQ(error_of([&] { chosen(data, {Scorer::transfer}); }).code(), "needs_two_domains");
}

TEST(ChooseCandidates, RegressionByRmse) {
  const Dataset data = tiny_regression(4, 30);
  ChooseOptions options;
  options.scorers = scorers_of(Task::regress);
  const Choice choice = choose_candidates(data, pipelines({"constant", "least_squares l2=1"}), options, on(2));
  EXPECT_EQ(choice.metric, "rmse");
  for (const TargetTruth& target : choice.targets)
    EXPECT_LE(*target.score[*target.best], std::min(*target.score[0], *target.score[1]));
  for (const ScorerChoice& scorer : choice.scorers) EXPECT_GE(*scorer.mean.regret, 0.0);
  EXPECT_EQ(error_of([&] {
              options.metric = "auroc";
              choose_candidates(data, pipelines({"constant"}), options, on(2));
            }).code(),
            "unknown_metric");
}

TEST(ChooseCandidates, ATargetWithoutLabelsIsChosenForAndNotJudged) {
  Dataset data = tiny(4, 30);
  for (const Index row : data.domain.rows_of(1)) data.y->index[static_cast<std::size_t>(row)] = -1;
  const Choice choice = chosen(data, {Scorer::importance});
  const TargetChoice& target = choice.scorers[0].targets[1];
  EXPECT_TRUE(target.estimates[0].estimate);
  EXPECT_FALSE(target.score || target.regret || target.gain || target.rank_correlation);
  EXPECT_TRUE(choice.scorers[0].mean.regret);
  EXPECT_TRUE(to_json(choice).at("targets").at(1).at("best").is_null());
  EXPECT_THAT(choice_table(choice), HasSubstr("site1"));
}

TEST(ChoiceTable, NamesCandidatesAndRules) {
  const Choice choice = chosen(tiny(4, 30), {Scorer::automatic});
  const std::string table = choice_table(choice);
  EXPECT_THAT(table, HasSubstr("A  scale | logistic l2=0.001   (no adaptation)\n"));
  EXPECT_THAT(
      table,
      HasSubstr("its score: score of the best candidate; none: score without adaptation, whose mean regret is "));
  EXPECT_THAT(choice_table(chosen(tiny(4, 30), scorers_of(Task::classify))), HasSubstr("\nbest possible  "));
}

TEST(PlainFirst, PutsTheCounterpartOfAnAdaptedPipelineInFront) {
  const auto texts = [](const std::vector<std::string>& given, Recorder& recorder) {
    std::vector<std::string> result;
    for (const Pipeline& each :
         plain_first(pipelines(given), Task::classify, Context({.threads = 1, .observer = &recorder})))
      result.push_back(each.text());
    return result;
  };
  Recorder added;
  EXPECT_THAT(texts({"scale | weight.knn | logistic", "constant"}, added),
              ElementsAre("scale | logistic", "scale | weight.knn | logistic", "constant"));
  EXPECT_THAT(added.notes, ElementsAre(HasSubstr("its plain counterpart is added")));
  Recorder aligned;
  EXPECT_THAT(texts({"scale | align | logistic"}, aligned),
              ElementsAre("scale | logistic", "scale | align | logistic"));
  EXPECT_THAT(aligned.notes, ElementsAre(HasSubstr("its plain counterpart is added")));
  Recorder moved;
  EXPECT_THAT(texts({"weight.knn | logistic l2=0.1", "constant", "logistic l2=0.1"}, moved),
              ElementsAre("logistic l2=0.1", "weight.knn | logistic l2=0.1", "constant"));
  EXPECT_THAT(moved.notes, ElementsAre(HasSubstr("is placed before it")));
  Recorder silent;
  EXPECT_THAT(texts({"constant", "weight.knn | logistic"}, silent), ElementsAre("constant", "weight.knn | logistic"));
  EXPECT_TRUE(silent.notes.empty());
}

}  // namespace choose_test
}  // namespace ecotone::test
