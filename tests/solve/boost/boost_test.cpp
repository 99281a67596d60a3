// Boosting with a target: what the theory of habrard2012 promises of every round, and what the engine promises.
#include "ecotone/solve/boost/boost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/solve/boost/codes.h"
#include "solve/boost/support.h"

namespace ecotone {
namespace boost_test {

std::string code_of(const BoostProblem& problem, const BoostOptions& options = {}) {
  try {
    fit_boost(problem, options, threads(1));
  } catch (const Error& error) {
    return error.code();
  }
  return "none";
}

/// ln mean e^-margin.
double log_mean_exp(const Vector& margin) {
  const double least = margin.minCoeff();
  return std::log((least - margin.array()).exp().mean()) - least;
}

/// The target rows as the engine sees them: on bins, a value is the middle of its bin.
Matrix seen_target(const Moons& data, const BoostOptions& options) {
  Matrix x = data.target;
  if (options.rows != BoostRowsKind::binned) return x;
  const auto edges = bin_edges(Features::dense(data.source), Features::dense(data.target), options.bins, threads(1));
  for (Index j = 0; j < x.cols(); ++j) {
    const BinEdges& e = edges[static_cast<std::size_t>(j)];
    for (Index i = 0; i < x.rows(); ++i)
      x(i, j) =
          e.middle[static_cast<std::size_t>(std::lower_bound(e.edge.begin(), e.edge.end(), x(i, j)) - e.edge.begin())];
  }
  return x;
}

/// Recomputes margins of all rows from the stumps alone and checks every promise on every round.
void check_theory(const Moons& data, const BoostOptions& options) {
  const BoostFit fit = fit_boost(data.problem(), options, threads(2));
  const auto n_s = static_cast<double>(data.source.rows()), n_t = static_cast<double>(data.target.rows());
  Vector f_s = Vector::Zero(data.source.rows()), f_t = Vector::Zero(data.target.rows());
  double log_product = 0, bound_product = 0;
  constexpr double slack = 1e-9;
  const Matrix target = seen_target(data, options);
  ASSERT_EQ(static_cast<int>(fit.rounds.size()), options.rounds);
  for (const BoostRound& round : fit.rounds) {
    const Stump& h = round.stump;
    for (Index i = 0; i < f_s.size(); ++i)
      f_s[i] += round.alpha * data.y[static_cast<std::size_t>(i)] * h.side(data.source(i, h.attribute));
    for (Index i = 0; i < f_t.size(); ++i) {
      const double size = std::abs(h.value(target(i, h.attribute)));
      f_t[i] += round.beta * (size <= options.gamma ? -size : size);
    }
    log_product += round.log_z;
    bound_product += round.log_bound;
    // (|S|/m) mean_S e^(-y f_S) + (|T|/m) mean_T e^(-sum beta y^n h) = prod Z_n
    const double a = std::log(n_s / (n_s + n_t)) + log_mean_exp(f_s);
    const double b = std::log(n_t / (n_s + n_t)) + log_mean_exp(f_t);
    const double both = std::max(a, b) + std::log1p(std::exp(std::min(a, b) - std::max(a, b)));
    ASSERT_NEAR(both, log_product, slack * std::max(1.0, std::abs(both)));
    // Theorem 1: both losses together are at most prod Z.
    const double err = (f_s.array() <= 1e-12).cast<double>().mean(),
                 loss = (f_t.array() < -1e-12).cast<double>().mean();
    EXPECT_NEAR(err, round.err_source, 1e-12);
    EXPECT_NEAR(loss, round.loss_target, 1e-12);
    ASSERT_LE((n_s * err + n_t * loss) / (n_s + n_t), std::exp(log_product) + slack);
    // Eq. 6: Z <= Z'; Theorem 2: Z' < 1.
    ASSERT_LE(round.log_z, round.log_bound + slack);
    ASSERT_LT(round.log_bound, 0);
    // Theorem 3: Z' = 2 W_S sqrt(eps (1 - eps)) + 2 W_T sqrt(viol (1 - viol)) without a floor, at most the larger root.
    const double roots[2] = {2 * std::sqrt(round.eps * (1 - round.eps)), 2 * std::sqrt(round.viol * (1 - round.viol))};
    const double w_s = std::exp(round.log_w_source), w_t = std::exp(round.log_w_target);
    EXPECT_NEAR(w_s + w_t, 1, slack);
    const double floor = options.floor.value_or(0.5 / n_s);
    if (round.eps > floor && round.viol > floor) {
      ASSERT_NEAR(std::exp(round.log_bound), w_s * roots[0] + w_t * roots[1], slack);
      ASSERT_LE(std::exp(round.log_bound), std::max(roots[0], roots[1]) + slack);
    }
  }
  EXPECT_EQ(fit.rounds.back().err_source, 0);
  EXPECT_EQ(fit.rounds.back().loss_target, 0);
  EXPECT_LT(bound_product, -5);
}

TEST(BoostTheory, HoldsOnEveryRoundWithThePapersRule) {
  BoostOptions options;
  options.rounds = 400;
  for (const int angle : {20, 50}) check_theory(moons(angle, 100), options);
}

TEST(BoostTheory, HoldsOnEveryRoundWithTheSmallestBound) {
  BoostOptions options;
  options.rounds = 400;
  options.select = BoostSelect::min_bound;
  options.candidates = 20;
  for (const int angle : {20, 50}) check_theory(moons(angle, 100), options);
}

TEST(BoostTheory, HoldsOnBins) {
  BoostOptions options;
  options.rounds = 400;
  options.rows = BoostRowsKind::binned;
  for (const BoostBins bins : {BoostBins::uniform, BoostBins::quantile}) {
    options.bins = bins;
    for (const int angle : {20, 50}) check_theory(moons(angle, 100), options);
  }
}

TEST(BoostTheory, HoldsForOtherScalesAndMargins) {
  BoostOptions options;
  options.rounds = 300;
  for (const StumpScaleKind kind : {StumpScaleKind::maxabs, StumpScaleKind::range, StumpScaleKind::half}) {
    options.scale.kind = kind;
    options.gamma = kind == StumpScaleKind::half ? 0.05 : 0.1;
    check_theory(moons(30, 60), options);
  }
}

TEST(Boost, KeepsItsWeightsForFiveThousandRounds) {
  const Moons data = moons(40, 60);
  BoostOptions options;
  options.rounds = 5000;
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    options.rows = kind;
    const BoostFit fit = fit_boost(data.problem(), options, threads(1));
    ASSERT_EQ(fit.rounds.size(), 5000U);
    EXPECT_NEAR(std::exp(fit.log_w_source) + std::exp(fit.log_w_target), 1, 1e-12);
    EXPECT_TRUE(std::isfinite(fit.log_w_target));
    EXPECT_LT(fit.log_w_target, -700);  // joint weights would have underflowed to 0
    // The weights are those of the stumps: D_S is proportional to e^(-y f_S).
    Vector margin = Vector::Zero(data.source.rows());
    for (const BoostRound& round : fit.rounds)
      for (Index i = 0; i < margin.size(); ++i)
        margin[i] +=
            round.alpha * data.y[static_cast<std::size_t>(i)] * round.stump.side(data.source(i, round.stump.attribute));
    Vector wanted = (margin.minCoeff() - margin.array()).exp();
    wanted /= wanted.sum();
    EXPECT_LT((fit.source_weight - wanted).cwiseAbs().maxCoeff(), 1e-9);
    const Matrix target = seen_target(data, options);
    margin = Vector::Zero(data.target.rows());
    for (const BoostRound& round : fit.rounds) {
      for (Index i = 0; i < margin.size(); ++i) {
        const double size = std::abs(round.stump.value(target(i, round.stump.attribute)));
        margin[i] += round.beta * (size <= options.gamma ? -size : size);
      }
    }
    wanted = (margin.minCoeff() - margin.array()).exp();
    wanted /= wanted.sum();
    EXPECT_LT((fit.target_weight - wanted).cwiseAbs().maxCoeff(), 1e-9);
  }
}

/// All numbers of the rounds as bytes.
std::string bytes(const BoostFit& fit) {
  std::string all;
  for (const BoostRound& r : fit.rounds) {
    const double values[] = {static_cast<double>(r.stump.attribute),
                             r.stump.theta,
                             r.stump.sign,
                             r.eps,
                             r.viol,
                             r.alpha,
                             r.beta,
                             r.log_z,
                             r.log_bound,
                             r.err_source,
                             r.margin_loss,
                             r.margin_loss_normalised,
                             r.loss_target,
                             r.eq13,
                             r.eq14};
    all.append(reinterpret_cast<const char*>(values), sizeof(values));
  }
  for (const Vector* v : {&fit.source_weight, &fit.target_weight})
    all.append(reinterpret_cast<const char*>(v->data()), static_cast<std::size_t>(v->size()) * sizeof(double));
  return all;
}

TEST(Boost, GivesEqualBytesForAnyNumberOfThreads) {
  const Moons data = normal(70'000, 3);
  BoostOptions options;
  options.rounds = 12;
  BoostProblem alone = data.problem();
  alone.target = {};
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    options.rows = kind;
    for (const BoostSearch search : {BoostSearch::drawn, BoostSearch::all}) {
      options.search = search;
      const BoostProblem problem = search == BoostSearch::all ? alone : data.problem();
      const std::string expected = bytes(fit_boost(problem, options, threads(1)));
      for (const int count : {2, 5}) EXPECT_TRUE(bytes(fit_boost(problem, options, threads(count))) == expected);
    }
  }
}

TEST(Boost, TakesAWeightOfTwoAsARowTwiceAndOfZeroAsNone) {
  const Moons data = moons(30, 40);
  Moons twice = data;
  std::vector<double> weight(data.y.size(), 1);
  for (Index i = 0; i < 10; ++i) {
    weight[static_cast<std::size_t>(i)] = 2;
    twice.source.conservativeResize(twice.source.rows() + 1, 2);
    twice.source.row(twice.source.rows() - 1) = data.source.row(i);
    twice.y.push_back(data.y[static_cast<std::size_t>(i)]);
  }
  Moons extra = data;
  extra.source.conservativeResize(41, 2);
  extra.source.row(40) << 100, -100;  // would widen the range
  extra.y.push_back(1);
  std::vector<double> with_zero = weight;
  with_zero.push_back(0);
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    BoostOptions options;
    options.rounds = 200;
    options.rows = kind;
    options.criteria = true;
    options.select = BoostSelect::min_bound;
    options.candidates = 5;
    BoostProblem weighted = data.problem(), zero = extra.problem();
    weighted.weight = weight;
    zero.weight = with_zero;
    const BoostFit a = fit_boost(weighted, options, threads(1)), b = fit_boost(twice.problem(), options, threads(1));
    ASSERT_EQ(a.rounds.size(), b.rounds.size());
    for (std::size_t n = 0; n < a.rounds.size(); ++n) {
      EXPECT_EQ(a.rounds[n].stump.theta, b.rounds[n].stump.theta);
      EXPECT_NEAR(a.rounds[n].alpha, b.rounds[n].alpha, 1e-9);
      EXPECT_NEAR(a.rounds[n].beta, b.rounds[n].beta, 1e-9);
      EXPECT_NEAR(a.rounds[n].log_z, b.rounds[n].log_z, 1e-9);
      EXPECT_NEAR(a.rounds[n].err_source, b.rounds[n].err_source, 1e-12);
      EXPECT_NEAR(a.rounds[n].margin_loss, b.rounds[n].margin_loss, 1e-12);
      EXPECT_NEAR(a.rounds[n].eq13, b.rounds[n].eq13, 1e-12);
      EXPECT_NEAR(a.rounds[n].eq14, b.rounds[n].eq14, 1e-12);
    }
    const BoostFit c = fit_boost(zero, options, threads(1));
    EXPECT_EQ(c.source_weight[40], 0);
    EXPECT_TRUE((c.source_weight.head(40).array() == a.source_weight.array()).all());
  }
}

TEST(Boost, TakesNoNoticeOfTheScaleOfTheWeights) {
  const Moons data = moons(30, 40);
  std::vector<double> counts(data.y.size(), 1), shares(data.y.size());
  for (std::size_t i = 0; i < 10; ++i) counts[i] = 3;
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = 1 / (1.5 + static_cast<double>(i));
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    BoostOptions options;
    options.rounds = 100;
    options.rows = kind;
    options.select = BoostSelect::min_bound;
    options.candidates = 5;
    const auto fit = [&](std::vector<double> weight, double factor) {
      for (double& w : weight) w *= factor;
      BoostProblem problem = data.problem();
      problem.weight = weight;
      return fit_boost(problem, options, threads(1));
    };
    const std::vector<double> equal(data.y.size(), 1);
    for (const double factor : {0.1, 2.0, 1e6}) {
      EXPECT_TRUE(bytes(fit(equal, factor)) == bytes(fit_boost(data.problem(), options, threads(1))));
      EXPECT_TRUE(bytes(fit(counts, factor)) == bytes(fit(counts, 1)));
      const BoostFit a = fit(shares, factor), b = fit(shares, 1);
      ASSERT_EQ(a.rounds.size(), b.rounds.size());
      for (std::size_t n = 0; n < a.rounds.size(); ++n) {
        EXPECT_EQ(a.rounds[n].stump.theta, b.rounds[n].stump.theta);
        EXPECT_NEAR(a.rounds[n].alpha, b.rounds[n].alpha, 1e-9);
        EXPECT_NEAR(a.rounds[n].log_bound, b.rounds[n].log_bound, 1e-9);
      }
    }
  }
}

TEST(Boost, DrawsOtherStumpsInOtherRunsAndWithOtherSeeds) {
  const Moons data = moons(30, 40);
  BoostOptions options;
  options.rounds = 20;
  const std::string first = bytes(fit_boost(data.problem(), options, threads(1)));
  EXPECT_TRUE(bytes(fit_boost(data.problem(), options, threads(1))) == first);
  options.run = 1;
  const std::string second = bytes(fit_boost(data.problem(), options, threads(1)));
  options.seed = 1;
  const std::string third = bytes(fit_boost(data.problem(), options, threads(1)));
  EXPECT_TRUE(second != first);
  EXPECT_TRUE(third != first);
  EXPECT_TRUE(third != second);
}

TEST(Boost, StopsWithReasonsAndCounts) {
  // All target rows lie where the source is never split well: they stay in the band of every stump.
  Moons data;
  data.source.resize(4, 1);
  data.source << -1, -0.5, 0.5, 1;
  data.y = {-1, -1, 1, 1};
  data.target = Matrix::Zero(5, 1);
  BoostOptions options;
  options.gamma = 0.999;
  const BoostFit fit = fit_boost(data.problem(), options, threads(1));
  EXPECT_EQ(fit.stop, BoostStop::no_weak_da_learner);
  EXPECT_TRUE(fit.rounds.empty());
  EXPECT_EQ(fit.refused.source + fit.refused.target + fit.refused.b_t, boost_redraws);
  EXPECT_GT(fit.refused.target, 0);
  // A constant column has no stumps at all.
  data.source.setZero();
  const BoostFit none = fit_boost(data.problem(), options, threads(1));
  EXPECT_EQ(none.stop, BoostStop::no_weak_da_learner);
  EXPECT_TRUE(none.constant);
  EXPECT_FALSE(fit.constant);
  BoostProblem alone = data.problem();
  alone.target = {};
  EXPECT_EQ(fit_boost(alone, options, threads(1)).stop, BoostStop::no_weak_learner);
}

TEST(Boost, EstimatesMemoryBeforeItIsTaken) {
  const Moons data = moons(30, 10);
  BoostOptions options;
  options.rounds = boost_most_rounds;
  const auto code = [&] {
    try {
      fit_boost_runs(data.problem(), options, 60'000, threads(1));
    } catch (const Error& error) {
      return std::string(error.code());
    }
    return std::string("none");
  };
  EXPECT_EQ(code(), "not_enough_memory");
}

TEST(Boost, LeavesWeightsOutUnlessAsked) {
  const Moons data = moons(30, 20);
  BoostOptions options;
  options.rounds = 5;
  options.weights = false;
  const BoostFit fit = fit_boost(data.problem(), options, threads(1));
  EXPECT_EQ(fit.source_weight.size() + fit.target_weight.size(), 0);
}

TEST(Boost, RefusesWhatItCannotLearnFrom) {
  const Moons data = moons(30, 10);
  BoostProblem problem = data.problem();
  problem.y = problem.y.first(9);
  EXPECT_EQ(code_of(problem), "shape_mismatch");
  problem = data.problem();
  problem.target = Features::dense(Matrix::Zero(3, 5));
  EXPECT_EQ(code_of(problem), "shape_mismatch");
  problem = {.source = Features::dense(Matrix(0, 2)), .y = {}};
  EXPECT_EQ(code_of(problem), "empty_data");
  std::vector<double> y(data.y.size(), 1), weight(data.y.size(), 0);
  problem = data.problem();
  problem.weight = weight;
  EXPECT_EQ(code_of(problem), "zero_weights");
  weight[3] = -1;
  EXPECT_EQ(code_of(problem), "negative_weight");
  problem.weight = {};
  problem.y = y;
  EXPECT_EQ(code_of(problem), "one_class");
  y[2] = 0;
  EXPECT_EQ(code_of(problem), "bad_label");
  Moons infinite = data;
  infinite.target(2, 1) = std::nan("");
  EXPECT_EQ(code_of(infinite.problem()), "non_finite");
  infinite.target(2, 1) = -1e308;
  infinite.source(2, 1) = 1.5e308;
  EXPECT_EQ(code_of(infinite.problem()), "non_finite");
  BoostOptions options;
  for (const double gamma : {0.0, 1.0, -0.1, std::nan("")}) {
    options.gamma = gamma;
    EXPECT_EQ(code_of(data.problem(), options), "bad_option");
  }
  options = {};
  options.floor = 0.5;
  EXPECT_EQ(code_of(data.problem(), options), "bad_option");
  options = {};
  options.b_t = 0.5;
  EXPECT_EQ(code_of(data.problem(), options), "bad_option");
  options = {};
  options.search = BoostSearch::all;
  EXPECT_EQ(code_of(data.problem(), options), "bad_option");
}

}  // namespace boost_test
}  // namespace ecotone
