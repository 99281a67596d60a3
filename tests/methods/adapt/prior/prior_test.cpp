#include "ecotone/methods/adapt/prior/prior.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ecotone/methods/model.h"
#include "methods/hospital_draws.h"
#include "methods/support.h"

namespace ecotone::test {
namespace prior_test {

/// Domains whose classes have other shares: the last one is the target.
struct Drawn1 {
  Dataset data;
  TrainView view;
  std::vector<Index> target;

  Drawn1(Index domains, Index rows, Drawn what, double spread, std::uint64_t seed)
      : data(drawn_domains(domains, rows, what, spread, seed)), target(rows_of_domains(data, domains - 1, domains)) {
    view = train_view(data, rows_of_domains(data, 0, domains - 1), target, context());
  }

  Model fit(const std::string& pipeline, const Context& own = context()) const {
    return Model::fit(Pipeline::parse(pipeline), view, data.schema, own);
  }
  double accuracy(const Model& model) const {
    const Prediction p = model.predict(batch(data, target), context());
    double right = 0;
    for (std::size_t i = 0; i < target.size(); ++i) right += p.index[i] == data.y->index[at(target[i])];
    return right / static_cast<double>(target.size());
  }
  double share() const {
    double yes = 0;
    for (const Index row : target) yes += data.y->index[at(row)];
    return yes / static_cast<double>(target.size());
  }
};

Json stage(const Model& model) { return model.inspect().at("stages").back(); }

TEST(Prior, CorrectsLabelShiftAndFindsTheShares) {
  double gain = 0, distance = 0;
  int corrected = 0;
  constexpr int draws = 12;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    const Drawn1 drawn(9, 300, Drawn::shares, 1.2, seed);
    const Model plain = drawn.fit("logistic l2=0.01"), model = drawn.fit("logistic l2=0.01 | adapt.prior");
    gain += (drawn.accuracy(model) - drawn.accuracy(plain)) / draws;
    const Json found = stage(model);
    corrected += found["corrects"].get<bool>();
    distance += std::abs(found["target_share"][0][1].get<double>() - drawn.share()) / draws;
    EXPECT_EQ(found["targets"][0]["domain"], "d8");
    EXPECT_GT(found["target_share_error"][0][1].get<double>(), 0);
  }
  EXPECT_GE(corrected, 10);
  EXPECT_GT(gain, 0.02);
  EXPECT_LT(distance, 0.05);
}

TEST(Prior, LeavesOtherShiftsAlone) {
  int touched = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Drawn1 drawn(9, 100, Drawn::relation, 1, seed);
    const Model plain = drawn.fit("logistic l2=0.01"), model = drawn.fit("logistic l2=0.01 | adapt.prior");
    if (stage(model)["corrects"].get<bool>()) {
      ++touched;
      continue;
    }
    EXPECT_EQ(model.predict(batch(drawn.data, drawn.target), context()).probability,
              plain.predict(batch(drawn.data, drawn.target), context()).probability);
    EXPECT_EQ(stage(model)["reason"], "no_gain");
  }
  EXPECT_LE(touched, 3);
}

TEST(Prior, RowsOfOtherDomainsAreNotCorrected) {
  const Drawn1 drawn(9, 200, Drawn::shares, 1.5, 3);
  const Model model = drawn.fit("logistic l2=0.01 | adapt.prior correct=always");
  const Model plain = drawn.fit("logistic l2=0.01");
  Batch rows = batch(drawn.data, drawn.target);
  const Matrix corrected = model.predict(rows, context()).probability;
  const Matrix before = plain.predict(rows, context()).probability;
  EXPECT_GT((corrected - before).cwiseAbs().maxCoeff(), 0.01);
  rows.domain->names.front() = "elsewhere";
  EXPECT_EQ(model.predict(rows, context()).probability, before);
  // Without names the rows are taken for those of the one target.
  rows.domain.reset();
  EXPECT_EQ(model.predict(rows, context()).probability, corrected);
}

TEST(Prior, FewDomainsAreNotVerified) {
  const Drawn1 drawn(3, 200, Drawn::shares, 0.3, 4);
  Recorder recorder;
  const Model model = drawn.fit("logistic l2=0.01 | adapt.prior", context().observed_by(&recorder));
  EXPECT_EQ(stage(model)["reason"], "unverified");
  EXPECT_FALSE(stage(model)["corrects"].get<bool>());
  EXPECT_EQ(std::ranges::count_if(recorder.warnings, [](const auto& each) { return each.first == "few_domains"; }), 1);
  ASSERT_EQ(recorder.notes.size(), 1U);
  EXPECT_THAT(recorder.notes[0], testing::HasSubstr("cannot be verified"));
  EXPECT_EQ(stage(model)["targets"][0]["error_from"].get<std::string>().find("domains"), std::string::npos);
}

TEST(Prior, ErrorsOfBlackBoxSharesKnowTheTargetsRows) {
  // Of 25 rows even known labels would have this error; 25 rows of predicted ones have more.
  for (const std::string method : {"bbse", "rlls"}) {
    const Drawn1 many(9, 300, Drawn::shares, 1.2, 1);
    Drawn1 few = many;
    few.target.resize(25);
    few.view = train_view(few.data, rows_of_domains(few.data, 0, 8), few.target, context());
    const std::string pipeline = "logistic l2=0.01 | adapt.prior correct=always method=" + method;
    const Json of_few = stage(few.fit(pipeline)), of_many = stage(many.fit(pipeline));
    EXPECT_EQ(of_few["targets"][0]["error_from"], "source domains and target rows");
    const double share = few.share(), error = of_few["target_share_error"][0][1].get<double>();
    EXPECT_GT(error, 0.9 * std::sqrt(share * (1 - share) / 25)) << method;
    EXPECT_GT(error, 1.5 * of_many["target_share_error"][0][1].get<double>()) << method;
  }
}

TEST(Prior, SavedAndLoadedItPredictsTheSame) {
  const Drawn1 drawn(9, 300, Drawn::shares, 1.2, 1);
  for (const std::string method : {"em", "bbse", "rlls"}) {
    const Model model = drawn.fit("logistic l2=0.01 | adapt.prior correct=always method=" + method);
    const auto path = std::filesystem::temp_directory_path() / ("prior_" + method + ".eco");
    model.save(path);
    const Batch rows = batch(drawn.data, drawn.target);
    EXPECT_EQ(Model::load(path).predict(rows, context()).probability, model.predict(rows, context()).probability);
    std::filesystem::remove(path);
    EXPECT_NEAR(stage(model)["target_share"][0][1].get<double>(), drawn.share(), 0.2) << method;
  }
}

TEST(Prior, TheSameForAnyNumberOfThreads) {
  const Drawn1 drawn(9, 100, Drawn::shares, 1.2, 6);
  const std::string one = drawn.fit("logistic l2=0.01 | adapt.prior", context(1)).bytes();
  for (const int threads : {2, 7})
    EXPECT_EQ(drawn.fit("logistic l2=0.01 | adapt.prior", context(threads)).bytes(), one);
}

TEST(Prior, RefusesWhatItCannotDo) {
  const Drawn1 drawn(4, 30, Drawn::shares, 1, 7);
  const TrainView without = train_view(drawn.data, rows_of_domains(drawn.data, 0, 3), {}, context());
  const auto fit = [&](const TrainView& view) {
    Model::fit(Pipeline::parse("logistic l2=0.1 | adapt.prior"), view, drawn.data.schema, context());
  };
  EXPECT_EQ(code_of([&] { fit(without); }), "no_target");
  TrainView numbers = drawn.view;
  numbers.y = Labels{Task::regress, {}, {}, Vector::LinSpaced(numbers.labelled(), 0, 1)};
  EXPECT_EQ(code_of([&] { Model::fit(Pipeline::parse("ridge | adapt.prior"), numbers, drawn.data.schema, context()); }),
            "needs_classes");
}

/// Predictions are corrected to the shares after one more row of each class.
TEST(Prior, CorrectsToSharesThatNoClassIsLackingIn) {
  Drawn1 drawn(9, 300, Drawn::shares, 1.2, 1);
  drawn.target.resize(20);
  drawn.view = train_view(drawn.data, rows_of_domains(drawn.data, 0, 8), drawn.target, context());
  for (const std::string method : {"em", "bbse", "rlls"}) {
    const Json found = stage(drawn.fit("logistic l2=0.01 | adapt.prior correct=always method=" + method));
    for (const std::size_t c : {0, 1}) {
      const double share = found["target_share"][0][c].get<double>();
      // (n q + 1) / (n + C)
      EXPECT_NEAR(found["target_weight"][0][c].get<double>() * found["source_share"][c].get<double>(),
                  (20 * share + 1) / 22, 1e-9)
          << method;
    }
  }
}

TEST(Prior, DoesNotCorrectWhatMakesTheLogLossWorse) {
  double gain = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Drawn1 drawn(9, 60, Drawn::shares, 1.2, seed);
    const Model model = drawn.fit("logistic l2=0.01 | adapt.prior");
    const Json found = stage(model);
    const double of_log_loss = found["log_loss_gain"].get<double>();
    double mean = 0;
    for (const Json& each : found["replay"])
      mean += each["log_loss_gain"].get<double>() / static_cast<double>(found["replay"].size());
    EXPECT_NEAR(of_log_loss, mean, 1e-12);
    const bool gained = found["gain"].get<double>() > found["gain_error"].get<double>();
    EXPECT_EQ(found["reason"], !gained ? "no_gain" : of_log_loss < 0 ? "log_loss" : "gain");
    EXPECT_EQ(found["corrects"].get<bool>(), found["reason"] == "gain");
    gain += of_log_loss / 6;
    EXPECT_EQ(stage(reloaded(model))["log_loss_gain"], found["log_loss_gain"]);
  }
  EXPECT_GT(gain, 0);
  PriorReplay replay;
  EXPECT_FALSE(replay.misled());  // a model of before
  replay.log_loss_gain = -0.1;
  EXPECT_TRUE(replay.misled());
}

TEST(Prior, AModelFromAFileWarnsOfRowsThatItHasNoSharesFor) {
  const Drawn1 drawn(9, 60, Drawn::shares, 1.5, 3);
  const Model model = reloaded(drawn.fit("logistic l2=0.01 | adapt.prior correct=always"));
  Batch rows = batch(drawn.data, drawn.target);
  Recorder known, unknown;
  model.predict(rows, context().observed_by(&known));
  EXPECT_TRUE(known.warnings.empty());
  rows.domain->names.front() = "elsewhere";
  model.predict(rows, context().observed_by(&unknown));
  ASSERT_EQ(unknown.warnings.size(), 1U);
  EXPECT_EQ(unknown.warnings[0].first, "uncorrected_rows");
  EXPECT_THAT(unknown.warnings[0].second, testing::HasSubstr("rows of 'elsewhere' are predicted without a correction"));
}

}  // namespace prior_test
}  // namespace ecotone::test
