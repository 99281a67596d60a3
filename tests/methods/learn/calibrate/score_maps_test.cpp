#include "ecotone/methods/learn/calibrate/score_maps.h"

#include <cmath>
#include <iterator>
#include <set>

#include "ecotone/methods/learn/calibrate/threshold.h"
#include "ecotone/solve/linear/loss.h"
#include "methods/support.h"

namespace ecotone::test {
namespace score_maps_test {

/// Scores with some equal ones, truths that follow them with noise, and weights, some 0.
struct Rows {
  Vector score;
  Vector positive;
  Vector weight;
};

Rows random_rows(Index count, std::uint64_t seed, bool weighted) {
  Random random(seed, "score-rows");
  Rows rows{Vector(count), Vector(count), Vector::Ones(count)};
  for (Index i = 0; i < count; ++i) {
    rows.score[i] = std::round(8 * random.normal()) / 4;
    rows.positive[i] = random.uniform() < sigmoid(1.3 * rows.score[i] - 0.4) ? 1 : 0;
    if (weighted) rows.weight[i] = static_cast<double>(random.below(4)) / 2;
  }
  return rows;
}

/// What Platt's map minimises, written down directly.
double platt_objective(const Rows& rows, double slope, double intercept) {
  const double total = rows.weight.sum();
  const double counts = std::max(1.0, static_cast<double>((rows.weight.array() > 0).count()) / total);
  const double plus = counts * rows.weight.dot(rows.positive);
  const double minus = counts * total - plus;
  double sum = 0;
  for (Index i = 0; i < rows.score.size(); ++i) {
    const double t = rows.positive[i] > 0 ? (plus + 1) / (plus + 2) : 1 / (minus + 2);
    const double p = 1 / (1 + std::exp(-(slope * rows.score[i] + intercept)));
    sum -= rows.weight[i] * (t * std::log(p) + (1 - t) * std::log(1 - p));
  }
  return sum;
}

TEST(Platt, IsTheMinimum) {
  for (const bool weighted : {false, true}) {
    const Rows rows = random_rows(200, 4, weighted);
    const PlattFit fit = fit_platt(rows.score, rows.positive, rows.weight);
    EXPECT_TRUE(fit.converged);
    const auto value = [&](double da, double db) {
      return platt_objective(rows, fit.map.slope + da, fit.map.intercept + db);
    };
    const double h = 1e-4;
    EXPECT_NEAR((value(h, 0) - value(-h, 0)) / (2 * h), 0, 1e-6);
    EXPECT_NEAR((value(0, h) - value(0, -h)) / (2 * h), 0, 1e-6);
    for (const double d : {-0.1, 0.1}) {
      EXPECT_GT(value(d, 0), value(0, 0));
      EXPECT_GT(value(0, d), value(0, 0));
    }
    EXPECT_GT(fit.map.slope, 0.5);
  }
}

TEST(Platt, SmallWeightsAreSharesOfTheSameRows) {
  Rows rows = random_rows(200, 9, false);
  rows.weight.setOnes();
  const PlattMap ones = fit_platt(rows.score, rows.positive, rows.weight).map;
  rows.weight.setConstant(1e-4);
  const PlattMap shares = fit_platt(rows.score, rows.positive, rows.weight).map;
  EXPECT_NEAR(shares.slope, ones.slope, 1e-9);
  EXPECT_NEAR(shares.intercept, ones.intercept, 1e-9);
}

TEST(Platt, AWeightOfTwoIsARowTwice) {
  Rows rows = random_rows(60, 5, false);
  Rows doubled = rows;
  rows.weight.head(20).setConstant(2);
  doubled.score.conservativeResize(80);
  doubled.positive.conservativeResize(80);
  doubled.weight = Vector::Ones(80);
  doubled.score.tail(20) = rows.score.head(20);
  doubled.positive.tail(20) = rows.positive.head(20);
  const PlattMap once = fit_platt(rows.score, rows.positive, rows.weight).map;
  const PlattMap twice = fit_platt(doubled.score, doubled.positive, doubled.weight).map;
  EXPECT_NEAR(once.slope, twice.slope, 1e-12);
  EXPECT_NEAR(once.intercept, twice.intercept, 1e-12);
}

TEST(Platt, FollowsScaleAndShiftOfTheScores) {
  const Rows rows = random_rows(100, 6, true);
  const PlattMap map = fit_platt(rows.score, rows.positive, rows.weight).map;
  for (const double scale : {-1.0, 1e-200, 1e200}) {
    const PlattFit fit = fit_platt(scale * rows.score, rows.positive, rows.weight);
    EXPECT_TRUE(fit.converged);
    EXPECT_NEAR(fit.map.slope * scale, map.slope, 1e-9 * map.slope) << scale;
    EXPECT_NEAR(fit.map.intercept, map.intercept, 1e-9) << scale;
  }
  const PlattMap shifted = fit_platt(rows.score.array() + 1000, rows.positive, rows.weight).map;
  EXPECT_NEAR(shifted.log_odds(1001), map.log_odds(1), 1e-8);
}

TEST(Platt, SeparatedEqualAndLonelyRows) {
  Vector score(4);
  score << -2, -1, 1, 2;
  Vector positive(4);
  positive << 0, 0, 1, 1;
  // Smoothed targets 3/4 and 1/4 keep the slope finite.
  const PlattFit separated = fit_platt(score, positive, Vector::Ones(4));
  EXPECT_TRUE(separated.converged);
  EXPECT_GT(separated.map.slope, 0);
  EXPECT_NEAR(separated.map.intercept, 0, 1e-12);
  const PlattMap equal = fit_platt(Vector::Constant(4, 0.1), positive, Vector::Ones(4)).map;
  EXPECT_EQ(equal.slope, 0);
  EXPECT_NEAR(equal.intercept, 0, 1e-12);
  // No row of the class: t- = 1 / (N- + 2) everywhere.
  const PlattMap absent = fit_platt(score, Vector::Zero(4), Vector::Ones(4)).map;
  EXPECT_EQ(absent.slope, 0);
  EXPECT_NEAR(sigmoid(absent.intercept), 1.0 / 6, 1e-12);
}

TEST(VersusRest, IsTheLogOddsOfTheSoftmax) {
  Random random(1, "versus-rest");
  for (Index classes = 2; classes < 6; ++classes) {
    Vector score(classes);
    for (double& s : score) s = 3 * random.normal();
    const Vector p = score.array().exp() / score.array().exp().sum();
    const Vector found = versus_rest(score);
    for (Index k = 0; k < classes; ++k) EXPECT_NEAR(found[k], std::log(p[k] / (p.sum() - p[k])), 1e-12);
    // A constant added to all of them changes nothing.
    EXPECT_LT((versus_rest(score.array() + 5) - found).cwiseAbs().maxCoeff(), 1e-12);
  }
  EXPECT_EQ(versus_rest(Vector::Constant(1, -7))[0], -7);
  EXPECT_DOUBLE_EQ(versus_rest(Vector::Zero(3))[0], -std::log(2));
  Vector far(3);
  far << -1e308, 0, 1e308;
  EXPECT_TRUE(versus_rest(far).allFinite());
}

TEST(Isotonic, AgreesWithTheMinMaxFormula) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Rows rows = random_rows(2 + static_cast<Index>(seed % 9), seed, seed % 2 == 1);
    if (rows.weight.sum() == 0) continue;
    const IsotonicMap map = fit_isotonic(rows.score, rows.positive, rows.weight);
    // f(s) = max over a <= s of min over b >= s of the mean of the rows with scores in [a, b]
    const auto mean = [&](double a, double b) {
      const Vector inside =
          ((rows.score.array() >= a) && (rows.score.array() <= b)).select(rows.weight.array(), 0.0).matrix();
      return inside.dot(rows.positive) / inside.sum();
    };
    for (Index i = 0; i < rows.score.size(); ++i) {
      if (rows.weight[i] == 0) continue;
      double best = -1;
      for (Index a = 0; a < rows.score.size(); ++a) {
        if (rows.weight[a] == 0 || rows.score[a] > rows.score[i]) continue;
        double low = 2;
        for (Index b = 0; b < rows.score.size(); ++b)
          if (rows.weight[b] > 0 && rows.score[b] >= rows.score[i])
            low = std::min(low, mean(rows.score[a], rows.score[b]));
        best = std::max(best, low);
      }
      EXPECT_NEAR(map(rows.score[i]), best, 1e-12) << "seed " << seed << ", row " << i;
    }
  }
}

TEST(Isotonic, RisesIsLinearBetweenKnotsAndFlatBeyond) {
  const Rows rows = random_rows(150, 8, true);
  const IsotonicMap map = fit_isotonic(rows.score, rows.positive, rows.weight);
  double last = 0;
  for (double s = -8; s < 8; s += 0.01) {
    EXPECT_GE(map(s), last);
    last = map(s);
  }
  EXPECT_EQ(map(-1e308), map.probability[0]);
  EXPECT_EQ(map(1e308), map.probability[map.probability.size() - 1]);
  for (Index k = 0; k + 1 < map.score.size(); ++k) {
    EXPECT_NEAR(map((map.score[k] + map.score[k + 1]) / 2), (map.probability[k] + map.probability[k + 1]) / 2, 1e-12);
  }
}

/// The measure of "second class where p >= t", counted row by row.
double measure_at(ThresholdMeasure measure, const Rows& rows, double t) {
  double tp = 0, fp = 0, tn = 0, fn = 0;
  for (Index i = 0; i < rows.score.size(); ++i) {
    const bool second = rows.score[i] >= t;
    (rows.positive[i] > 0 ? (second ? tp : fn) : (second ? fp : tn)) += rows.weight[i];
  }
  if (measure == ThresholdMeasure::accuracy) return (tp + tn) / (tp + tn + fp + fn);
  if (measure == ThresholdMeasure::f1) return tp > 0 ? 2 * tp / (2 * tp + fp + fn) : 0;
  return (tp / (tp + fn) + tn / (tn + fp)) / 2;
}

/// Every cut tried: the middles of the gaps between probabilities (0.5 where it lies in one), all rows counted anew.
double tried_threshold(ThresholdMeasure measure, const Rows& rows) {
  std::set<double> ends = {0, 1};
  for (Index i = 0; i < rows.score.size(); ++i)
    if (rows.weight[i] > 0) ends.insert(rows.score[i]);
  double best = -1;
  double chosen = 0.5;
  for (auto high = std::next(ends.begin()); high != ends.end(); ++high) {
    const double low = *std::prev(high);
    const double t = low < 0.5 && *high >= 0.5 ? 0.5 : (low + *high) / 2;
    const double value = measure_at(measure, rows, t);
    if (value < best - 1e-12) continue;
    if (value > best + 1e-12 || std::abs(t - 0.5) < std::abs(chosen - 0.5)) chosen = t;
    best = std::max(best, value);
  }
  return chosen;
}

TEST(Threshold, IsTheBestCutNearestToOneHalf) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rows rows = random_rows(40, 100 + seed, seed % 2 == 1);
    // Scores become probabilities in twentieths, too high or too low.
    for (double& s : rows.score) s = std::round(20 * sigmoid(s + (static_cast<double>(seed % 5) - 2))) / 20;
    for (const auto measure : {ThresholdMeasure::accuracy, ThresholdMeasure::balanced_accuracy, ThresholdMeasure::f1}) {
      const double chosen = best_threshold(measure, rows.score, rows.positive, rows.weight);
      EXPECT_DOUBLE_EQ(chosen, tried_threshold(measure, rows)) << "seed " << seed;
      moved += chosen != 0.5;
    }
  }
  EXPECT_GT(moved, 60);
}

TEST(Threshold, SmallCases) {
  Vector p(4);
  p << 0.1, 0.2, 0.3, 0.4;
  Vector positive(4);
  positive << 0, 0, 1, 1;
  EXPECT_EQ(best_threshold(ThresholdMeasure::accuracy, p, positive, Vector::Ones(4)), 0.25);
  EXPECT_EQ(best_threshold(ThresholdMeasure::none, p, positive, Vector::Ones(4)), 0.5);
  // Cuts 0.15 and 0.35 get three rows right each; the second is nearer to 0.5.
  positive << 0, 1, 0, 1;
  EXPECT_DOUBLE_EQ(best_threshold(ThresholdMeasure::accuracy, p, positive, Vector::Ones(4)), 0.35);
  // Probabilities of 0 and 1, and neighbours without a number between them.
  p << 0, 1 - 1e-16, 1, 1;
  positive << 0, 0, 1, 1;
  const double t = best_threshold(ThresholdMeasure::f1, p, positive, Vector::Ones(4));
  EXPECT_TRUE(t > 0 && t < 1);
}

}  // namespace score_maps_test
}  // namespace ecotone::test
