#include "ecotone/choose/scorer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "ecotone/choose/score_kinds.h"
#include "ecotone/choose/veto.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/methods/grid.h"
#include "ecotone/methods/model.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace scorer_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The view in which the last domain is the target.
TrainView last_as_target(Dataset data) {
  set_targets(data, {data.domain.names.back()});
  return train_view(data, on(1));
}

Scores scored(const TrainView& view, const std::vector<std::string>& texts, Scorer scorer, ScorerOptions options = {},
              const Context& context = on(2, 3)) {
  return score_candidates(view, Schema{}, pipelines(texts), scorer, options, context);
}

/// All that scores hold, as one text.
std::string text_of(const Scores& scores) {
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "none"; };
  std::string text =
      fmt::format("{} {} {}", scorer_name(scores.asked), scorer_name(scores.used), loss_name(scores.loss));
  for (const CandidateScore& one : scores.candidates)
    text +=
        fmt::format("\n{}: {} {} {} {} {} {} {}", one.pipeline, number(one.estimate), number(one.standard_error),
                    number(one.gain), number(one.gain_error), number(one.importance_gain), one.error_code, one.error);
  return text;
}

/// Cross-validated losses of all labelled rows, by hand, in the folds and with the seeds of the scorers.
Vector losses_by_hand(const TrainView& view, const std::string& text, RowLoss loss, const Context& context) {
  Vector losses(view.labelled());
  std::size_t f = 0;
  for (const InnerFold& fold : row_folds(view, 5, context.derived("score-folds", 0))) {
    const Context of_fold = context.derived("score-fold", f++);
    const Model model = Model::fit(Pipeline::parse(text), view_of_rows(view, fold.train), Schema{}, of_fold);
    const Prediction p = model.predict({view.x.take(fold.held), view.domain.take(fold.held)}, of_fold);
    losses(fold.held) = row_losses(view.y.take(fold.held), p, model.classes(), loss);
  }
  return losses;
}

/// EnsV needs three that vote, and copies vote once.
TEST(Scorer, DisagreementIsThatOfThreeVoters) {
  const TrainView view = last_as_target(tiny(4, 40));
  const auto losses = [&](const std::vector<std::string>& texts) {
    CandidateFits fits(view, Schema{}, pipelines(texts), {}, on(1));
    std::vector<CandidateScore> scores(texts.size());
    add_disagreement(scores, fits);
    std::vector<std::optional<double>> found;
    for (const CandidateScore& score : scores) found.push_back(score.agreement_loss);
    return found;
  };
  const auto three = losses({"logistic l2=0.01", "constant", "logistic l2=0.02"});
  EXPECT_FALSE(three[0]);
  EXPECT_GT(three[1].value(), 0.2);
  EXPECT_LT(std::abs(three[2].value()), 0.1);
  EXPECT_FALSE(losses({"logistic l2=0.01", "constant"})[1]);
  EXPECT_FALSE(losses({"logistic l2=0.01", "constant", "logistic l2=0.01"})[1]);
}

/// Folds of whole domains and, where there are too few, of rows.
TEST(Scorer, FoldsKeepGroupsOnOneSide) {
  for (const Index domains : {2, 5}) {
    Dataset data = tiny(domains, 30);
    for (Index i = 0; i < data.rows(); ++i)
      data.group.push_back(i % 2 == 0 ? static_cast<std::int32_t>(i / 6) : -1);  // of several domains
    const TrainView view = last_as_target(data);
    CandidateFits fits(view, Schema{}, pipelines({"constant"}), {}, on(1));
    Index dropped = 0;
    for (const InnerFold& fold : fits.folds()) {
      std::set<std::int32_t> held;
      for (const Index row : fold.held) held.insert(view.group[static_cast<std::size_t>(row)]);
      held.erase(-1);
      EXPECT_FALSE(held.empty());
      for (const Index row : fold.train) EXPECT_FALSE(held.contains(view.group[static_cast<std::size_t>(row)]));
      dropped += view.labelled() - std::ssize(fold.train) - std::ssize(fold.held);
    }
    EXPECT_EQ(dropped > 0, domains == 5);
  }
}

TEST(Scorer, NamesAreFoundAndUnknownOnesGetASuggestion) {
  for (const ScorerInfo& info : scorer_infos()) {
    EXPECT_EQ(scorer_by_name(info.name), info.scorer);
    EXPECT_EQ(scorer_name(info.scorer), info.name);
  }
  EXPECT_THAT(error_of([] { scorer_by_name("circulr"); }).what(), HasSubstr("did you mean 'circular'?"));
  const Error near = error_of([] { scorer_by_name("entropi"); });
  EXPECT_EQ(near.code(), "unknown_scorer");
  EXPECT_THAT(near.what(), HasSubstr("did you mean 'entropy'?"));
  EXPECT_THAT(error_of([] { scorer_by_name("zzzz"); }).what(), HasSubstr("transfer, importance"));
  EXPECT_EQ(scorers_of(Task::classify).size(), scorer_infos().size());
  EXPECT_THAT(scorers_of(Task::regress), ElementsAre(Scorer::automatic, Scorer::transfer, Scorer::importance,
                                                     Scorer::control_variate, Scorer::reverse, Scorer::circular));
}

TEST(RowLoss, IsThatOfTheMetrics) {
  const Labels truth{Task::classify, {"a", "b", "z"}, {0, 1, 2}, {}};
  Prediction p;
  p.index = {0, 0, 1};
  p.probability.resize(3, 2);
  p.probability << 0.9, 0.1, 0.6, 0.4, 0.2, 0.8;
  const std::vector<std::string> classes = {"a", "b"};
  const Vector error = row_losses(truth, p, classes, RowLoss::error);
  EXPECT_EQ(error, Vector(Eigen::Vector3d(0, 1, 1)));
  const Vector log = row_losses(truth, p, classes, RowLoss::log_loss);
  EXPECT_DOUBLE_EQ(log[1], -std::log(0.4));
  EXPECT_DOUBLE_EQ(log[2], largest_loss(RowLoss::log_loss));  // a class that the model never saw
  const Vector brier = row_losses(truth, p, classes, RowLoss::brier);
  EXPECT_NEAR(brier[0], 0.1 * 0.1, 1e-15);
  EXPECT_NEAR(brier[2], (0.2 * 0.2 + 0.8 * 0.8 + 1) / 2, 1e-15);  // a class that the model never saw
  EXPECT_EQ(error_of([] { resolved(RowLoss::squared, Task::classify); }).code(), "bad_option");
  EXPECT_EQ(error_of([] { resolved(RowLoss::brier, Task::regress); }).code(), "bad_option");
  EXPECT_EQ(loss_by_name("brier"), RowLoss::brier);
}

TEST(MeanError, WeightedAndPlain) {
  const Vector values = Eigen::Vector3d(1, 2, 6);
  const MeanError plain = mean_error(values, Vector());
  EXPECT_DOUBLE_EQ(plain.mean, 3);
  EXPECT_DOUBLE_EQ(*plain.standard_error, std::sqrt(14.0 / 2 / 3));
  const Vector weights = Eigen::Vector3d(2, 1, 1);
  const MeanError weighted = mean_error(values, weights);
  EXPECT_DOUBLE_EQ(weighted.mean, 2.5);
  EXPECT_DOUBLE_EQ(*weighted.standard_error, std::sqrt(4 * 2.25 + 0.25 + 12.25) / 4);
  EXPECT_FALSE(mean_error(Vector::Ones(1), Vector()).standard_error);
}

TEST(ScoreImportance, WithoutShiftIsTheCrossValidatedRisk) {
  // Both domains have one law, so weights are near 1 and the target's own error is what both estimate.
  Dataset data = tiny(1, 1200);
  data.domain.names = {"here", "there"};
  data.role = {Role::source, Role::source};
  for (Index i = 0; i < data.rows(); ++i) data.domain.index[static_cast<std::size_t>(i)] = i % 3 == 2;
  const TrainView view = last_as_target(data);
  for (const RowLoss loss : {RowLoss::error, RowLoss::log_loss, RowLoss::brier}) {
    const Scores scores = scored(view, {"logistic l2=0.001"}, Scorer::importance, {.loss = loss});
    const Vector by_hand = losses_by_hand(view, "logistic l2=0.001", loss, on(1, 3));
    EXPECT_NEAR(*scores.candidates[0].estimate, by_hand.mean(), 0.01);
    EXPECT_NEAR(*scores.candidates[0].standard_error, *mean_error(by_hand, Vector()).standard_error, 0.002);
    EXPECT_EQ(scores.candidates[0].gain, 0.0);
  }
}

TEST(ScoreImportance, WithAShiftCountsTheRowsThatLieWhereTheTargetIs) {
  // Left of 0 the class is clear, right of it it is a coin; the target lies right.
  Matrix x(900, 1);
  Dataset data = tiny(1, 900);
  Random random(4, "shift");
  data.domain.names = {"left", "right"};
  data.role = {Role::source, Role::source};
  for (Index i = 0; i < x.rows(); ++i) {
    const bool target = i % 3 == 2;
    x(i, 0) = random.normal() + (target ? 1.5 : 0);
    data.domain.index[static_cast<std::size_t>(i)] = target;
    data.y->index[static_cast<std::size_t>(i)] = x(i, 0) > 0 ? static_cast<std::int32_t>(random.below(2)) : 1;
  }
  data.x = Features::dense(x, {"a"});
  const TrainView view = last_as_target(data);
  const double unweighted = losses_by_hand(view, "logistic l2=0.001", RowLoss::error, on(1, 3)).mean();
  const double estimate =
      *scored(view, {"logistic l2=0.001"}, Scorer::importance, {.loss = RowLoss::error}).candidates[0].estimate;
  EXPECT_LT(unweighted, 0.3);
  EXPECT_GT(estimate, unweighted + 0.1);
}

TEST(ScoreImportance, GivenRowWeightsMultiply) {
  TrainView view = last_as_target(tiny(3, 60));
  const auto before = *scored(view, {"constant"}, Scorer::importance).candidates[0].estimate;
  view.weight = Vector::Constant(view.labelled(), 7.0);
  EXPECT_DOUBLE_EQ(*scored(view, {"constant"}, Scorer::importance).candidates[0].estimate, before);
  for (Index i = 0; i < view.labelled(); ++i) view.weight[i] = view.y.index[static_cast<std::size_t>(i)] == 0 ? 1 : 0;
  // Only rows of one class count, and so the constant says that class.
  EXPECT_NEAR(*scored(view, {"constant"}, Scorer::importance).candidates[0].estimate, 0.0, 2e-15);
  view.weight.setZero();
  EXPECT_EQ(error_of([&] { scored(view, {"constant"}, Scorer::importance); }).code(), "zero_weights");
}

TEST(ScoreControlVariate, ConstantRatioGivesTheMean) {
  const Vector loss = Eigen::Vector4d(0, 1, 1, 0.5);
  EXPECT_EQ(control_variate_terms(Vector::Ones(4), loss), loss);
  EXPECT_DOUBLE_EQ(control_variate_terms(Vector::Constant(4, 2.0), loss).mean(), 2 * loss.mean());
}

TEST(ScoreControlVariate, MatchesTheFormula) {
  const Vector a = Eigen::Vector4d(0.5, 2, 1, 1.5);
  const Vector loss = Eigen::Vector4d(0, 1, 0.25, 0.5);
  const Vector al = a.cwiseProduct(loss);
  double covariance = 0;
  double variance = 0;
  for (Index i = 0; i < 4; ++i) {
    covariance += (al[i] - al.mean()) * (a[i] - a.mean());
    variance += (a[i] - a.mean()) * (a[i] - a.mean());
  }
  const double eta = -covariance / variance;
  EXPECT_NEAR(control_variate_terms(a, loss).mean(), al.mean() + eta * a.mean() - eta, 1e-15);
  // A constant loss is found without any noise of the weights.
  EXPECT_NEAR(control_variate_terms(a, Vector::Constant(4, 0.3)).mean(), 0.3, 1e-15);
}

TEST(ScoreEntropy, MatchesALoop) {
  const TrainView view = last_as_target(tiny(3, 50, 3));
  const Context context = on(2, 3);
  const Scores scores = scored(view, {"constant", "softmax l2=0.01"}, Scorer::entropy);
  std::vector<Index> target;
  for (Index i = view.labelled(); i < view.x.rows(); ++i) target.push_back(i);
  for (const auto& score : scores.candidates) {
    const Model model = Model::fit(Pipeline::parse(score.pipeline), view, Schema{}, context.derived("score-full", 0));
    const Matrix p = model.predict({view.x.take(target), view.domain.take(target)}, context).probability;
    double sum = 0;
    for (Index i = 0; i < p.rows(); ++i)
      for (Index k = 0; k < p.cols(); ++k) sum -= p(i, k) * std::log(p(i, k));
    EXPECT_NEAR(*score.estimate, sum / static_cast<double>(p.rows()), 1e-14);
  }
  EXPECT_GT(*scores.candidates[1].gain, 0);  // a constant is never sure
}

TEST(ScoreDensity, MatchesALoop) {
  Random random(8, "density");
  Matrix p(37, 3);
  for (Index i = 0; i < p.rows(); ++i) {
    for (Index k = 0; k < 3; ++k) p(i, k) = random.uniform(0.01, 1);
    p.row(i) /= p.row(i).sum();
  }
  double total = 0;
  for (Index i = 0; i < p.rows(); ++i) {
    double z = 0;
    std::vector<double> e;
    for (Index j = 0; j < p.rows(); ++j) {
      const double s = p.row(i).dot(p.row(j)) / (p.row(i).norm() * p.row(j).norm());
      e.push_back(i == j ? 0 : std::exp(s / 0.05));
      z += e.back();
    }
    for (const double each : e) total -= each > 0 ? each / z * std::log(each / z) : 0;
  }
  EXPECT_NEAR(negative_density(p, on(2)), -total / 37, 1e-12);
  // Rows that all say the same have the most neighbours: ln (n - 1).
  EXPECT_NEAR(negative_density(Matrix::Constant(10, 2, 0.5), on(1)), -std::log(9.0), 1e-12);
  EXPECT_EQ(negative_density(Matrix::Constant(1, 2, 0.5), on(1)), 0.0);
}

TEST(ScoreTransfer, MatchesAHandComputation) {
  const TrainView view = last_as_target(tiny(4, 25));
  const std::vector<std::string> texts = {"constant", "scale | logistic l2=0.01"};
  const Scores scores = scored(view, texts, Scorer::transfer, {.loss = RowLoss::log_loss});
  Matrix lost(2, 3), wrong(2, 3);
  for (std::int32_t d = 0; d < 3; ++d) {
    std::vector<Index> train, held;
    for (Index i = 0; i < view.labelled(); ++i)
      (view.domain.index[static_cast<std::size_t>(i)] == d ? held : train).push_back(i);
    const TrainView part = view_of_rows(view, train, held);
    EXPECT_EQ(part.x.rows(), view.labelled());  // the real target is not in it
    EXPECT_TRUE(part.has_target());
    for (Index c = 0; c < 2; ++c) {
      const Model model = Model::fit(Pipeline::parse(texts[static_cast<std::size_t>(c)]), part, Schema{}, on(1));
      const Prediction p = model.predict({view.x.take(held), view.domain.take(held)}, on(1));
      lost(c, d) = row_losses(view.y.take(held), p, model.classes(), RowLoss::log_loss).mean();
      wrong(c, d) = row_losses(view.y.take(held), p, model.classes(), RowLoss::error).mean();
    }
  }
  for (Index c = 0; c < 2; ++c) {
    const auto& score = scores.candidates[static_cast<std::size_t>(c)];
    const MeanError own = mean_error(lost.row(c).transpose(), Vector());
    const MeanError gain = mean_error((lost.row(0) - lost.row(c)).transpose(), Vector());
    EXPECT_NEAR(*score.estimate, own.mean, 1e-12);
    EXPECT_NEAR(*score.standard_error, *own.standard_error, 1e-12);
    EXPECT_NEAR(*score.gain, gain.mean, 1e-12);
    EXPECT_NEAR(*score.gain_error, *gain.standard_error, 1e-12);
  }
  const Vector points = 100 * (wrong.row(0) - wrong.row(1)).transpose();
  const auto& gains = scores.candidates[1].by_domain;
  ASSERT_TRUE(gains);
  EXPECT_FALSE(scores.candidates[0].by_domain);
  Index worst = 0;
  EXPECT_NEAR(gains->worst, points.minCoeff(&worst), 1e-10);
  EXPECT_NEAR(gains->mean, points.mean(), 1e-10);
  EXPECT_EQ(gains->worst_domain, view.domain.names[static_cast<std::size_t>(worst)]);
  EXPECT_EQ(gains->worse, (points.array() < -0.5).count());
  EXPECT_EQ(gains->domains, 3);
}

TEST(ScoreTransfer, PointsOfNumbersArePerCentOfTheReferencesError) {
  const TrainView view = last_as_target(tiny_regression(4, 30));
  const Scores scores = scored(view, {"constant", "scale | ridge"}, Scorer::transfer);
  double mean = 0;
  for (std::int32_t d = 0; d < 3; ++d) {
    std::vector<Index> train, held;
    for (Index i = 0; i < view.labelled(); ++i)
      (view.domain.index[static_cast<std::size_t>(i)] == d ? held : train).push_back(i);
    const auto error = [&](const char* text) {
      const Model model = Model::fit(Pipeline::parse(text), view_of_rows(view, train, held), Schema{}, on(1));
      const Vector found = model.predict({view.x.take(held), view.domain.take(held)}, on(1)).value;
      return std::sqrt((found - view.y.value(held)).squaredNorm() / static_cast<double>(held.size()));
    };
    mean += 100 * (1 - error("scale | ridge") / error("constant")) / 3;
  }
  EXPECT_NEAR(scores.candidates[1].by_domain.value().mean, mean, 1e-9);
}

TEST(ScoreTransfer, NeedsTwoSourceDomains) {
  const TrainView view = last_as_target(tiny(2, 30));
  const Error error = error_of([&] { scored(view, {"constant"}, Scorer::transfer); });
  EXPECT_EQ(error.code(), "needs_two_domains");
  EXPECT_THAT(error.what(), HasSubstr("three to be useful), got 1"));
}

TEST(ScoreTransfer, LeavesOutDomainsWithoutWhichOneClassRemains) {
  Dataset data = tiny(5, 20);
  for (Index i = 0; i < data.rows(); ++i)
    if (data.domain.index[static_cast<std::size_t>(i)] != 0) data.y->index[static_cast<std::size_t>(i)] = 0;
  data.y->index[0] = 0;
  data.y->index[5] = 1;
  Recorder recorder;
  const TrainView view = last_as_target(data);
  const Scores scores =
      scored(view, {"logistic l2=0.1"}, Scorer::transfer, {}, Context({.threads = 2, .observer = &recorder}));
  EXPECT_TRUE(scores.candidates[0].estimate);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_THAT(recorder.warnings[0], HasSubstr("fold_one_class: transfer: 1 of 4 source domains"));
}

/// What a candidate does to one row says nothing of what it does to a domain, and vetoes would listen to it.
TEST(ScoreTransfer, DomainsOfTooFewRowsDoNotPlayTheTarget) {
  const TrainView all = last_as_target(tiny(5, 40));
  const auto with_small = [&](Index rows) {
    TrainView view = all;
    view.domain.names.emplace_back("small");
    view.role.push_back(Role::source);
    for (Index i = 0; i < rows; ++i) view.domain.index[static_cast<std::size_t>(4 * i)] = 5;
    return view;
  };
  for (const auto& [rows, played] : {std::pair<Index, Index>{1, 4}, {2, 4}, {3, 5}}) {
    const TrainView view = with_small(rows);
    EXPECT_EQ(transfer_folds(view, on(1)), played) << rows;
    Recorder recorder;
    const Scores scores = scored(view, {"constant", "scale | logistic l2=0.1"}, Scorer::transfer, {},
                                 Context({.threads = 2, .observer = &recorder}));
    EXPECT_EQ(scores.freedom, played - 1);
    EXPECT_EQ(scores.candidates[1].by_domain->domains, played);
    EXPECT_TRUE(recorder.warnings.empty());
    const auto told = std::ranges::count_if(
        recorder.notes, [](const std::string& note) { return note.find("not treated as the target") != note.npos; });
    EXPECT_EQ(told, played == 4 ? 1 : 0);
  }
  // Where fewer than two others would remain, all play.
  TrainView two = last_as_target(tiny(3, 40));
  two.domain.names.emplace_back("small");
  two.role.push_back(Role::source);
  two.domain.index[0] = 3;
  EXPECT_EQ(transfer_folds(two, on(1)), 2);
  for (std::size_t i = 6; i < two.domain.index.size(); ++i)
    if (two.domain.index[i] == 0) two.domain.index[i] = 1;  // which leaves rows 2 and 4
  two.y.index[0] = two.y.index[2] = 0;
  two.y.index[4] = 1;
  EXPECT_EQ(transfer_folds(two, on(1)), 3);
}

TEST(ScoreReverse, MatchesAHandComputation) {
  const TrainView view = last_as_target(tiny(3, 60));
  const Context context = on(2, 3);
  const std::string text = "scale | logistic l2=0.05";
  const Scores scores = scored(view, {text}, Scorer::reverse, {.loss = RowLoss::brier});
  const InnerFold fold = row_folds(view, 5, context.derived("score-folds", 0)).front();
  const Model forward = Model::fit(Pipeline::parse(text), view_of_rows(view, fold.train), Schema{}, context);
  std::vector<Index> rows;
  for (Index i = view.labelled(); i < view.x.rows(); ++i) rows.push_back(i);
  const Prediction pseudo = forward.predict({view.x.take(rows), view.domain.take(rows)}, context);
  TrainView back;
  back.x = view.x.take(rows);
  back.y = {Task::classify, forward.classes(), pseudo.index, {}};
  back.domain = view.domain.take(rows);
  back.role = {Role::source};
  const Model backward = Model::fit(Pipeline::parse(text), back, Schema{}, context);
  const Prediction p = backward.predict({view.x.take(fold.held), view.domain.take(fold.held)}, context);
  EXPECT_NEAR(*scores.candidates[0].estimate,
              row_losses(view.y.take(fold.held), p, backward.classes(), RowLoss::brier).mean(), 1e-9);
}

TEST(ScoreReverse, OneClassOnTheTargetIsTheWorstScoreAndNoError) {
  const TrainView view = last_as_target(tiny(3, 60));
  const Scores scores = scored(view, {"constant", "logistic l2=0.05"}, Scorer::reverse, {.loss = RowLoss::brier});
  EXPECT_EQ(*scores.candidates[0].estimate, 2.0);  // the largest Brier score
  EXPECT_LT(*scores.candidates[1].estimate, 0.8);
  EXPECT_EQ(choose(scores), 1U);
}

TEST(ScoreCircular, ChoosesTheHighestCircularAccuracy) {
  Dataset data = generate("moons", {{"angle", "30"}}, on(1, 1));
  const TrainView view = train_view(data, data.domain.rows_of(0), data.domain.rows_of(1), on(1));
  const std::vector<Pipeline> candidates = expand_grid("dasvm C={1,10} sigma={0.2,0.35,0.5} circular=false");
  ASSERT_EQ(candidates.size(), 6U);
  const Scores scores = score_candidates(view, Schema{}, candidates, Scorer::circular, {}, on(2, 3));
  EXPECT_EQ(scores.loss, RowLoss::error);
  std::vector<Index> rows;  // target rows, then source rows
  for (Index i = 0; i < view.x.rows(); ++i) rows.push_back((i + view.labelled()) % view.x.rows());
  std::vector<double> accuracy;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Model forward = Model::fit(candidates[c], view, Schema{}, on(1));
    TrainView back;
    back.x = view.x.take(rows);
    back.domain = view.domain.take(rows);
    back.role.assign(view.role.size(), Role::source);
    for (std::size_t r = 0; r < back.role.size(); ++r)
      if (view.role[r] != Role::target) back.role[r] = Role::target;
    const Index targets = view.x.rows() - view.labelled();
    const std::vector<Index> first(rows.begin(), rows.begin() + targets);
    back.y = {Task::classify, forward.classes(), forward.predict({view.x.take(first), std::nullopt}, on(1)).index, {}};
    const std::vector<Index> sources(rows.begin() + targets, rows.end());
    const Prediction p =
        Model::fit(candidates[c], back, Schema{}, on(1)).predict({view.x.take(sources), std::nullopt}, on(1));
    double right = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) right += p.index[i] == view.y.index[i] ? 1 : 0;
    accuracy.push_back(right / static_cast<double>(sources.size()));
    EXPECT_NEAR(*scores.candidates[c].estimate, 1 - accuracy[c], 1e-12) << candidates[c].text();
  }
  const auto best = std::max_element(accuracy.begin(), accuracy.end());
  EXPECT_EQ(choose(scores), static_cast<std::size_t>(best - accuracy.begin()));
  EXPECT_LT(*std::min_element(accuracy.begin(), accuracy.end()), *best);
}

TEST(ScoreCircular, OneClassOnTheTargetIsTheWorstScore) {
  const Scores scores = scored(last_as_target(tiny(3, 60)), {"constant", "logistic l2=0.05"}, Scorer::circular);
  EXPECT_EQ(*scores.candidates[0].estimate, 1.0);
  EXPECT_EQ(choose(scores), 1U);
}

TEST(Scorer, RegressionHasTheScorersThatAreDefinedForNumbers) {
  const TrainView view = last_as_target(tiny_regression(4, 40));
  for (const Scorer scorer : scorers_of(Task::regress)) {
    const Scores scores = scored(view, {"constant", "least_squares l2=0.1"}, scorer);
    for (const auto& score : scores.candidates) {
      EXPECT_TRUE(score.estimate) << scorer_name(scorer) << score.error;
      EXPECT_TRUE(score.gain) << scorer_name(scorer);
    }
    EXPECT_EQ(scores.loss, RowLoss::squared);
  }
  for (const Scorer scorer : {Scorer::entropy, Scorer::density})
    EXPECT_EQ(error_of([&] { scored(view, {"constant"}, scorer); }).code(), "scorer_undefined");
}

TEST(Scorer, NeedsATargetAndLearners) {
  const TrainView view = train_view(tiny(3, 20), on(1));
  for (const Scorer scorer : {Scorer::importance, Scorer::control_variate, Scorer::reverse, Scorer::circular,
                              Scorer::entropy, Scorer::density})
    EXPECT_EQ(error_of([&] { scored(view, {"constant"}, scorer); }).code(), "no_target") << scorer_name(scorer);
  EXPECT_EQ(error_of([&] { scored(view, {"scale"}, Scorer::transfer); }).code(), "no_learner");
  EXPECT_EQ(error_of([&] { scored(view, {}, Scorer::transfer); }).code(), "no_pipeline");
  EXPECT_EQ(error_of([&] { scored(view, {"constant"}, Scorer::transfer, {.folds = 1}); }).code(), "bad_option");
}

TEST(Scorer, ACandidateThatCannotBeFittedHasItsErrorAndTheOthersGoOn) {
  const TrainView view = last_as_target(tiny(4, 25));
  for (const ScorerInfo& info : scorer_infos()) {
    const Scores scores = scored(view, {"constant", "least_squares", "logistic l2=0.1"}, info.scorer);
    EXPECT_FALSE(scores.candidates[1].estimate);
    EXPECT_FALSE(scores.candidates[1].error_code.empty()) << info.name;
    EXPECT_TRUE(scores.candidates[2].estimate) << info.name;
    const Error all = error_of([&] { scored(view, {"least_squares", "poisson"}, info.scorer); });
    EXPECT_EQ(all.code(), scores.candidates[1].error_code);
    EXPECT_THAT(all.what(), HasSubstr("least_squares"));
  }
}

TEST(Scorer, EqualBytesForAnyNumberOfThreads) {
  const TrainView view = last_as_target(tiny(4, 40, 3));
  const auto candidates = pipelines({"constant", "scale | logistic l2=0.01", "scale | softmax l2=1"});
  const auto all = [&](int threads) {
    CandidateScorer scorer(view, Schema{}, candidates, {}, on(threads, 9));
    std::string text;
    for (const ScorerInfo& info : scorer_infos()) text += text_of(scorer.scores(info.scorer));
    return text;
  };
  const std::string one = all(1);
  for (const int threads : {2, 7}) EXPECT_EQ(all(threads), one);
}

TEST(Scorer, SharedFitsChangeNothing) {
  const TrainView view = last_as_target(tiny(4, 30));
  const std::vector<std::string> texts = {"constant", "scale | logistic l2=0.01", "scale | logistic l2=1"};
  CandidateScorer scorer(view, Schema{}, pipelines(texts), {}, on(2, 3));
  for (const ScorerInfo& info : scorer_infos())
    EXPECT_EQ(text_of(scorer.scores(info.scorer)), text_of(scored(view, texts, info.scorer))) << info.name;
}

TEST(Scorer, AutoIsTransferWithThreeSourceDomainsAndImportanceWithFewer) {
  EXPECT_EQ(scored(last_as_target(tiny(4, 20)), {"constant"}, Scorer::automatic).used, Scorer::transfer);
  EXPECT_EQ(scored(last_as_target(tiny(3, 20)), {"constant"}, Scorer::automatic).used, Scorer::importance);
}

Scores made(Scorer asked, const std::vector<std::optional<double>>& estimates, double gain_error) {
  Scores scores{.asked = asked, .candidates = {}};
  for (const auto& estimate : estimates) {
    CandidateScore score;
    score.estimate = estimate;
    if (estimate && estimates[0]) {
      score.gain = *estimates[0] - *estimate;
      score.gain_error = gain_error;
    }
    scores.candidates.push_back(score);
  }
  return scores;
}

TEST(Choose, AsksForMoreErrorsOfFewDomains) {
  Scores scores{.candidates = std::vector<CandidateScore>(2)};
  EXPECT_EQ(errors_to_exceed(scores), 1.28);  // weighted rows
  // P(t_2 > t) = P(Z > 1)
  scores.freedom = 2;
  EXPECT_NEAR(errors_to_exceed(scores), 1.3213, 1e-3);
  scores.freedom = 1000;
  EXPECT_NEAR(errors_to_exceed(scores), 1, 1e-3);
}

TEST(Choose, AutoTakesTheGainThatIsSurest) {
  Scores scores = made(Scorer::automatic, {0.5, 0.3, 0.35}, 0);
  scores.candidates[1].gain_error = 0.15;  // 0.2 - 0.15 < 0.15 - 0.05
  scores.candidates[2].gain_error = 0.05;
  EXPECT_EQ(choose(scores), 2U);
}

TEST(Choose, AGainOfOtherDomainsIsNoneWhereRowsLikeTheTargetsLose) {
  Scores scores{.asked = Scorer::automatic, .used = Scorer::transfer, .freedom = 9, .candidates = {}};
  scores.candidates.resize(2);
  scores.candidates[0].estimate = 0.5;
  scores.candidates[1].estimate = 0.3;
  scores.candidates[1].gain = 0.2;
  scores.candidates[1].gain_error = 0.1;
  EXPECT_EQ(choose(scores), 1U);
  scores.candidates[1].importance_gain = -0.001;
  EXPECT_EQ(choose(scores), 0U);
  scores.candidates[1].importance_gain = 0.001;
  EXPECT_EQ(choose(scores), 1U);
}

TEST(Choose, AnUnevenGainIsNotTaken) {
  Scores scores = made(Scorer::automatic, {0.5, 0.3}, 0.01);
  const auto decided = [&](DomainGains gains) {
    scores.candidates[1].by_domain = gains;
    return decide(scores);
  };
  EXPECT_EQ(decided({.mean = 1, .worst = -4.9, .worst_domain = "b", .worse = 2, .domains = 4}).by, decided_by_gain);
  EXPECT_EQ(decided({.mean = 1, .worst = -5, .worst_domain = "b", .worse = 1, .domains = 4}).by, "uneven_gain");
  EXPECT_THAT(decide(scores).words, HasSubstr("5.0 points in source domain 'b'"));
  EXPECT_EQ(decided({.mean = 1, .worst = -1, .worst_domain = "b", .worse = 3, .domains = 5}).by, "uneven_gain");
  EXPECT_THAT(decide(scores).words, HasSubstr("in 3 of 5 source domains"));
  EXPECT_EQ(decided({.mean = 0, .worst = 0, .worst_domain = "b", .worse = 0, .domains = 5}).by, "uneven_gain");
  EXPECT_THAT(decide(scores).words, HasSubstr("gains nothing"));
  // The overlap is looked at first, what the estimates say afterwards.
  scores.candidates[1].gain_error = 0.5;
  EXPECT_EQ(decide(scores).by, "uneven_gain");
  scores.overlap = Overlap{.auroc = 0.96, .ess_raw = 4, .rows = 100, .cols = 4};
  EXPECT_EQ(decide(scores).by, "no_overlap");
}

TEST(Choose, TheFirstVetoNamesTheDecision) {
  Scores scores = made(Scorer::automatic, {0.5, 0.3}, 0.5);
  EXPECT_EQ(decide(scores).by, "within_error");
  scores.candidates[1].gain_error = 0.01;
  EXPECT_EQ(decide(scores).by, "gain");
  EXPECT_EQ(decide(scores).chosen, 1U);
  scores.candidates[1].importance_gain = -0.1;
  EXPECT_EQ(decide(scores).by, "loss_near_target");
  scores.candidates[1].gain.reset();
  EXPECT_EQ(decide(scores).by, "not_scored");
  scores.overlap = Overlap{.auroc = 0.96, .ess_raw = 4, .rows = 100, .cols = 4};
  EXPECT_EQ(decide(scores).by, "no_overlap");
  EXPECT_THAT(decide(scores).words, HasSubstr("AUROC 0.960"));
  scores.overlap->ess_raw = 5;
  EXPECT_EQ(decide(scores).by, "not_scored");
  scores.overlap->auroc = 0.995;
  scores.used = Scorer::transfer;
  scores.freedom = 5;
  scores.apart = 2;
  EXPECT_EQ(decide(scores).by, "beyond_sources");
  scores.apart = 3;
  EXPECT_EQ(decide(scores).by, "not_scored");
  scores.cols = 9;
  scores.targets = 9;
  EXPECT_EQ(decide(scores).by, "few_target_rows");
  std::set<std::string_view> names;
  for (const Veto& veto : vetoes()) names.insert(veto.name);
  EXPECT_EQ(names.size(), vetoes().size());
}

TEST(Scorer, TheDefaultLossIsProper) {
  EXPECT_EQ(resolved(RowLoss::automatic, Task::classify), RowLoss::log_loss);
  EXPECT_EQ(resolved(RowLoss::automatic, Task::regress), RowLoss::squared);
}

TEST(ScoreTransfer, ASquaredErrorIsNotARoot) {
  const TrainView view = last_as_target(tiny_regression(4, 30));
  double sum = 0;
  for (std::int32_t d = 0; d < 3; ++d) {
    std::vector<Index> train, held;
    for (Index i = 0; i < view.labelled(); ++i)
      (view.domain.index[static_cast<std::size_t>(i)] == d ? held : train).push_back(i);
    const double mean = view.y.value(train).mean();
    sum += (view.y.value(held).array() - mean).square().mean();
  }
  EXPECT_NEAR(*scored(view, {"constant"}, Scorer::transfer).candidates[0].estimate, sum / 3, 1e-10);
}

TEST(Choose, LowestEstimateAndTheFirstAmongEquals) {
  EXPECT_EQ(choose(made(Scorer::entropy, {0.5, 0.4, 0.3, 0.3}, 1)), 2U);
  EXPECT_EQ(choose(made(Scorer::entropy, {std::nullopt, 0.4, std::nullopt}, 1)), 1U);
}

TEST(Choose, AutoKeepsTheReferenceUnlessTheGainExceedsItsError) {
  EXPECT_EQ(choose(made(Scorer::automatic, {0.5, 0.45, 0.42}, 0.1)), 0U);
  EXPECT_EQ(choose(made(Scorer::automatic, {0.5, 0.45, 0.42}, 0.06)), 2U);
  EXPECT_EQ(choose(made(Scorer::automatic, {0.5, 0.5}, 0)), 0U);
  // Nothing to compare with: the best that there is.
  EXPECT_EQ(choose(made(Scorer::automatic, {std::nullopt, 0.45, 0.42}, 0.1)), 2U);
}

}  // namespace scorer_test
}  // namespace ecotone::test
