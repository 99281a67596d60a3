#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/choose/score_kinds.h"
#include "ecotone/choose/veto.h"
#include "error_code.h"
#include "golden_json.h"

namespace ecotone::test {
namespace agreement_test {

TEST(Agreement, GoldenEnsemble) {
  const GoldenTasks golden("trust", "09_scorers");
  for (const Json& task : golden.of("ensv")) {
    std::vector<Matrix> probability;
    for (const Json& own : task["probability"]) probability.push_back(matrix_of(own));
    const Agreement agreement = agreement_of(probability, probability);
    const auto vector = [](const std::vector<double>& list) {
      return Vector(Eigen::Map<const Vector>(list.data(), std::ssize(list)));
    };
    golden.expect(task, "distance", vector(agreement.distance));
    golden.expect(task, "agreement", vector(agreement.share));
    golden.expect(task, "chosen", static_cast<double>(agreement.chosen));
  }
  const GoldenTasks errors("trust", "10_errors");
  for (const Json& task : errors.of("ensv"))
    EXPECT_EQ(code_of([&] { agreement_of(std::vector<Matrix>{matrix_of(task["probability"][0])}); }),
              task["expect"]["error"].get<std::string>());
}

TEST(Agreement, GoldenNuclearNormDensityAndMixtures) {
  const GoldenTasks golden("trust", "09_scorers");
  for (const Json& task : golden.of("bnm"))
    golden.expect(task, "bnm", nuclear_norm(matrix_of(task["probability"]), Context()));
  for (const Json& task : golden.of("snd"))
    golden.expect(task, "snd", -negative_density(matrix_of(task["probability"]), Context()));
  for (const Json& task : golden.of("dev")) {
    const Vector weight = vector_of(task["weights"]), loss = vector_of(task["loss"]);
    const double dev = control_variate_terms(weight, loss).mean();
    golden.expect(task, "dev", dev);
    // dev = mean(w l) + eta (mean(w) - 1)
    if (std::abs(weight.mean() - 1) > 1e-3)
      golden.expect(task, "eta", (dev - weight.cwiseProduct(loss).mean()) / (weight.mean() - 1));
  }
  for (const Json& task : golden.of("mixval")) {
    const MixedAccuracy mixed =
        mixed_accuracy(indices_of(task["predicted"]), task["permutation"].get<std::vector<Index>>(),
                       indices_of(task["predicted_mix"]));
    golden.expect(task, "intra", *mixed.same);
    golden.expect(task, "inter", *mixed.other);
    golden.expect(task, "score", mixed.mean());
  }
}

TEST(RowLoss, GoldenWeightedMean) {
  const GoldenTasks golden("trust", "07_accuracy");
  for (const Json& task : golden.of("importance_mean")) {
    const MeanError found = mean_error(vector_of(task["loss"]), vector_of(task["weights"]));
    golden.expect(task, "mean", found.mean);
    golden.expect(task, "standard_error", found.standard_error.value());
  }
}

TEST(Agreement, CopiesVoteOnce) {
  Matrix a(3, 2), b(3, 2), c(3, 2);
  a << .9, .1, .8, .2, .7, .3;
  b << .1, .9, .3, .7, .45, .55;
  c << .2, .8, .4, .6, .9, .1;
  const Agreement once = agreement_of(std::vector{a, b, c});
  const Agreement again = agreement_of(std::vector{a, a, a, b, c});
  EXPECT_EQ(again.share[0], once.share[0]);
  EXPECT_EQ(again.share[3], once.share[1]);
  EXPECT_EQ(again.distance[4], once.distance[2]);
}

TEST(Agreement, MixturesOfOneKindOnly) {
  const std::vector<std::int32_t> all_one = {1, 1, 1};
  const MixedAccuracy mixed = mixed_accuracy(all_one, std::vector<Index>{1, 2, 0}, all_one);
  EXPECT_EQ(*mixed.same, 1);
  EXPECT_FALSE(mixed.other);
  EXPECT_EQ(mixed.mean(), 1);
}

TEST(Veto, ACandidateThatDisagreesWithAllIsNotTaken) {
  Scores scores{.asked = Scorer::automatic, .candidates = {}};
  CandidateScore reference, gains;
  reference.estimate = 0.5;
  gains.estimate = 0.3;
  gains.gain = 0.2;
  gains.gain_error = 0.01;
  gains.agreement_loss = 0.1;
  gains.agreement_loss_error = 0.04;
  scores.candidates = {reference, gains};
  EXPECT_EQ(decide(scores).by, "disagrees");
  scores.candidates[1].agreement_loss_error = 0.06;
  EXPECT_EQ(decide(scores).by, decided_by_gain);
  EXPECT_EQ(decide(scores).chosen, 1U);
}

}  // namespace agreement_test
}  // namespace ecotone::test
