// The golden cases of tests/golden/daboost: stumps, signs and stops exactly, numbers to 1e-9.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/solve/boost/boost.h"
#include "source_dir.h"

namespace ecotone {
namespace boost_golden_test {

Matrix matrix(const Json& rows, Index cols) {
  Matrix x(static_cast<Index>(rows.size()), cols);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return x;
}

StumpScale scale(const std::string& text) {
  const std::vector<std::string> names = {"side", "maxabs", "range", "half", "raw"};
  for (std::size_t k = 0; k < names.size(); ++k)
    if (text == names[k]) return {static_cast<StumpScaleKind>(k), 1};
  return {StumpScaleKind::raw, std::stod(text)};
}

class BoostGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto path = source_dir() / "tests/golden/daboost" / (GetParam() + ".json");
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    json_ = Json::parse(file);
    cols_ = static_cast<Index>(json_["XS"][0].size());
    y_ = json_["yS"].get<std::vector<double>>();
    for (const Json& list : json_["candidates"]) {
      auto& round = fixed_.emplace_back();
      for (const Json& c : list) round.push_back({c[0].get<Index>(), c[1].get<double>()});
    }
  }

  BoostFit fit(int rounds) const {
    const BoostProblem problem{.source = Features::dense(matrix(json_["XS"], cols_)),
                               .y = y_,
                               .target = Features::dense(matrix(json_["XT"], cols_))};
    BoostOptions options;
    options.gamma = json_["gamma"];
    options.b_t = json_["b_T"];
    options.floor = json_["cap"].get<double>();
    options.scale = scale(json_["scale"]);
    const std::string select = json_["select"];
    options.select = select == "max_wtplus"  ? BoostSelect::max_wtplus
                     : select == "min_bound" ? BoostSelect::min_bound
                                             : BoostSelect::min_source;
    options.rounds = rounds;
    options.search = BoostSearch::fixed;
    options.fixed = fixed_;
    options.criteria = true;
    return fit_boost(problem, options, Context(Context::Settings{.threads = 1}));
  }

  const Json& expected() const { return json_["expected"]; }
  int rounds() const { return static_cast<int>(fixed_.size()); }

  Json json_;
  Index cols_ = 0;
  std::vector<double> y_;
  std::vector<std::vector<StumpCandidate>> fixed_;
};

void expect_near(double found, const Json& wanted, const std::string& what) {
  const auto w = wanted.get<double>();
  EXPECT_NEAR(found, w, 1e-9 * std::abs(w) + 1e-12) << what;
}

TEST_P(BoostGolden, TakesTheSameStumpsAndStopsForTheSameReason) {
  const BoostFit found = fit(rounds());
  EXPECT_EQ(boost_stop_name(found.stop), expected()["stop"].get<std::string>());
  const Json& list = expected()["iterations"];
  ASSERT_EQ(found.rounds.size(), list.size());
  for (std::size_t n = 0; n < list.size(); ++n) {
    EXPECT_EQ(found.rounds[n].stump.attribute, list[n]["attribute"]) << n;
    EXPECT_EQ(found.rounds[n].stump.theta, list[n]["theta"]) << n;
    EXPECT_EQ(found.rounds[n].stump.sign, list[n]["sign"]) << n;
  }
  if (!expected().contains("rejected")) return;
  EXPECT_EQ(found.refused.source, expected()["rejected"]["source"]);
  EXPECT_EQ(found.refused.target, expected()["rejected"]["target"]);
  EXPECT_EQ(found.refused.b_t, expected()["rejected"]["b_T"]);
}

TEST_P(BoostGolden, HasTheSameMassesFactorsAndSums) {
  const BoostFit found = fit(rounds());
  const Json& list = expected()["iterations"];
  ASSERT_EQ(found.rounds.size(), list.size());
  for (std::size_t n = 0; n < list.size(); ++n) {
    const BoostRound& round = found.rounds[n];
    const Json& e = list[n];
    expect_near(round.stump.left, e["scale_left"], "scale_left");
    expect_near(round.stump.right, e["scale_right"], "scale_right");
    expect_near(round.eps, e["eps"], "eps");
    if (e.contains("viol") && !e["viol"].is_null()) expect_near(round.viol, e["viol"], "viol");
    expect_near(round.alpha, e["alpha"], "alpha");
    expect_near(round.beta, e["beta"], "beta");
    expect_near(std::exp(round.log_z), e["Z"], "Z");
    expect_near(std::exp(round.log_bound), e["Z_bound"], "Z_bound");
    expect_near(std::exp(round.log_w_source), e["W_S"], "W_S");
    expect_near(std::exp(round.log_w_target), e["W_T"], "W_T");
  }
}

TEST_P(BoostGolden, HasTheSameWeightsAfterEveryRound) {
  const Json& list = expected()["iterations"];
  for (std::size_t n = 0; n < list.size(); ++n) {
    const BoostFit found = fit(static_cast<int>(n) + 1);
    const Json& wanted = list[n]["weights_after"];
    const Index sources = found.source_weight.size();
    ASSERT_EQ(static_cast<Index>(wanted.size()), sources + found.target_weight.size());
    for (Index i = 0; i < static_cast<Index>(wanted.size()); ++i) {
      const double w = i < sources ? std::exp(found.log_w_source) * found.source_weight[i]
                                   : std::exp(found.log_w_target) * found.target_weight[i - sources];
      expect_near(w, wanted[static_cast<std::size_t>(i)], "weight " + std::to_string(i));
    }
  }
}

TEST_P(BoostGolden, HasTheSameLossesAndCriteria) {
  const BoostFit found = fit(rounds());
  struct Named {
    const char* name;
    double BoostRound::*member;
  };
  const std::vector<Named> all = {{"err_S", &BoostRound::err_source},
                                  {"margin_loss_S_raw", &BoostRound::margin_loss},
                                  {"margin_loss_S_normalised", &BoostRound::margin_loss_normalised},
                                  {"loss_T", &BoostRound::loss_target},
                                  {"d_H", &BoostRound::d_h},
                                  {"d_Hgamma", &BoostRound::d_hgamma},
                                  {"d_band", &BoostRound::d_band},
                                  {"eq13", &BoostRound::eq13},
                                  {"eq14", &BoostRound::eq14}};
  int compared = 0;
  for (const Named& each : all) {
    if (!expected().contains(each.name)) continue;
    const Json& wanted = expected()[each.name];
    ASSERT_EQ(found.rounds.size(), wanted.size());
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      expect_near(found.rounds[n].*each.member, wanted[n], each.name);
      ++compared;
    }
  }
  EXPECT_GE(compared, 3);
}

TEST_P(BoostGolden, VotesTheSameOnNewRows) {
  const BoostFit found = fit(rounds());
  const Matrix x = matrix(json_["X_eval"], cols_);
  const Features features = Features::dense(x);
  const auto count = static_cast<Index>(found.rounds.size());
  const Context context(Context::Settings{.threads = 1});
  const Vector f_s = StumpVote(found.stumps(count), found.alphas(count)).values(features, context);
  const Vector f_t = StumpVote(found.stumps(count), found.betas(count)).values(features, context);
  for (Index i = 0; i < x.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Stump& last = found.rounds.back().stump;
    expect_near(f_s[i], expected()["f_S"][k], "f_S");
    expect_near(f_t[i], expected()["f_T"][k], "f_T");
    expect_near(last.value(x(i, last.attribute)), expected()["h_eval_last"][k], "h");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BoostGolden,
                         testing::Values("moons20_max_wtplus", "moons40_min_bound_bt", "adaboost_reduction",
                                         "no_weak_da_learner", "perfect_source_stump", "band_edges"),
                         [](const auto& each) { return each.param; });

}  // namespace boost_golden_test
}  // namespace ecotone
