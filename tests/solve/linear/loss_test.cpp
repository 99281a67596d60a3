// Every loss: derivatives against finite differences, and values where they are hard to compute.
#include "ecotone/solve/linear/loss.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "ecotone/base/random.h"
#include "ecotone/solve/linear/logistic_kernel.h"

namespace ecotone {
namespace loss_test {

struct Named {
  const char* name;
  std::unique_ptr<Loss> loss;
};

class Losses : public testing::Test {
 protected:
  Losses() : y(rows), weight(rows) {
    Random random(5, "losses");
    for (Index i = 0; i < rows; ++i) {
      two.push_back(static_cast<std::int32_t>(i % 2));
      four.push_back(static_cast<std::int32_t>(i % 4));
      y[i] = static_cast<double>(i % 5);
      weight[i] = random.uniform(0.2, 2.0);
    }
    all.push_back({"logistic", logistic_loss(two, weight, 7)});
    all.push_back({"probit", probit_loss(two, weight, 7)});
    all.push_back({"softmax", softmax_loss(four, 4, weight, 7, false)});
    all.push_back({"softmax, full", softmax_loss(four, 4, weight, 7, true)});
    all.push_back({"poisson", poisson_loss(y, weight, 7)});
    all.push_back({"squared", squared_loss(y, weight, 7)});
  }

  static double value(const Loss& loss, const Matrix& t) {
    Matrix copy = t;
    Matrix none(t.rows(), 0);
    LossSums sums;
    loss.evaluate(0, copy, none, sums);
    return sums.loss;
  }
  static Matrix slopes(const Loss& loss, const Matrix& t) {
    Matrix copy = t;
    Matrix none(t.rows(), 0);
    LossSums sums;
    loss.evaluate(0, copy, none, sums);
    return copy;
  }
  static Matrix scores(const Loss& loss, double size) {
    Random random(6, "scores");
    Matrix t(rows, loss.outputs());
    for (Index i = 0; i < t.size(); ++i) t.data()[i] = size * random.normal();
    return t;
  }

  static constexpr Index rows = 40;
  std::vector<std::int32_t> two;
  std::vector<std::int32_t> four;
  Vector y;
  Vector weight;
  std::vector<Named> all;
};

TEST_F(Losses, SlopesAreFiniteDifferencesOfValues) {
  for (const Named& each : all) {
    const Matrix t = scores(*each.loss, 1.5);
    const Matrix slope = slopes(*each.loss, t);
    for (Index i = 0; i < t.size(); ++i) {
      Matrix up = t, down = t;
      up.data()[i] += 1e-5;
      down.data()[i] -= 1e-5;
      const double difference = (value(*each.loss, up) - value(*each.loss, down)) / 2e-5;
      EXPECT_NEAR(slope.data()[i], difference, 1e-8) << each.name << " " << i;
    }
  }
}

TEST_F(Losses, CurvaturesAreFiniteDifferencesOfSlopes) {
  for (const Named& each : all) {
    const Loss& loss = *each.loss;
    const Matrix t = scores(loss, 1.5);
    Matrix copy = t;
    Matrix curvature(rows, loss.curvature_size());
    LossSums sums;
    loss.evaluate(0, copy, curvature, sums);
    for (Index k = 0; k < loss.outputs(); ++k) {
      Matrix up = t, down = t;
      up.col(k).array() += 1e-5;
      down.col(k).array() -= 1e-5;
      const Matrix difference = (slopes(loss, up) - slopes(loss, down)) / 2e-5;
      for (Index j = 0; j < loss.outputs(); ++j) {
        const Vector entry = loss.curvature_entry(0, curvature, j, k);
        EXPECT_LT((entry - difference.col(j)).cwiseAbs().maxCoeff(), 1e-8) << each.name;
      }
      // H e_k
      Matrix unit = Matrix::Zero(rows, loss.outputs());
      unit.col(k).setOnes();
      loss.apply_curvature(0, curvature, unit);
      EXPECT_LT((unit - difference).cwiseAbs().maxCoeff(), 1e-8) << each.name;
    }
  }
}

TEST_F(Losses, OneRowIsTheRowOfAll) {
  for (const Named& each : all) {
    const Matrix t = scores(*each.loss, 3);
    const Matrix slope = slopes(*each.loss, t);
    for (Index i = 0; i < rows; ++i) {
      Vector row = t.row(i).transpose();
      each.loss->slope(i, row);
      EXPECT_LT((row.transpose() - slope.row(i)).cwiseAbs().maxCoeff(), 1e-15) << each.name;
    }
  }
}

TEST_F(Losses, TheBestConstantHasNoSlope) {
  for (const Named& each : all) {
    if (std::string(each.name) == "probit") continue;  // it starts near it
    const Matrix t = each.loss->constant_scores().transpose().replicate(rows, 1);
    EXPECT_LT(slopes(*each.loss, t).colwise().sum().cwiseAbs().maxCoeff(), 1e-14) << each.name;
  }
}

TEST(Probit, TermsAreRightFromMinusAThousandToForty) {
  const boost::math::normal law;
  for (double m = -37; m <= 8; m += 0.37) {
    const ProbitTerms terms = probit_terms(m);
    const double expected = boost::math::pdf(law, m) / boost::math::cdf(law, m);
    EXPECT_NEAR(terms.ratio / expected, 1, 1e-12) << m;  // the quotient's own rounding
    EXPECT_NEAR(terms.loss, -std::log(boost::math::cdf(law, m)), 1e-12 * std::max(1.0, terms.loss)) << m;
    EXPECT_GT(terms.ratio_plus_m, 0) << m;
  }
  // phi/Phi + m = 1/x - 2/x^3 + 10/x^5 - ... for m = -x
  const double x = 1000;
  EXPECT_NEAR(probit_terms(-x).ratio_plus_m * x, 1 - 2 / (x * x) + 10 / (x * x * x * x), 1e-15);
  EXPECT_NEAR(probit_terms(-x).loss, 0.5 * x * x + std::log(x) + 0.5 * std::log(2 * M_PI) + 1 / (x * x), 1e-9);
  EXPECT_NEAR(probit_terms(40).ratio, 0, 1e-300);
  // The two ways meet.
  EXPECT_NEAR(probit_terms(-5 + 1e-12).ratio, probit_terms(-5 - 1e-12).ratio, 1e-11);
}

TEST(LogisticKernel, IsExactToAFewUnitsInTheLastPlace) {
  Random random(1, "kernel");
  std::vector<double> score;
  for (int i = 0; i < 2000; ++i) score.push_back(random.normal() * std::pow(10.0, random.uniform(-12, 2.8)));
  for (const double s : {0.0, -0.0, 1e-300, -1e-300, 36.0, -36.0, 700.0, -700.0}) score.push_back(s);
  for (std::size_t from = 0; from < score.size(); from += kernel_rows) {
    const Index count = std::min<Index>(kernel_rows, static_cast<Index>(score.size() - from));
    for (Index i = 0; i < count; ++i) {
      double& s = score[from + static_cast<std::size_t>(i)];
      s = std::clamp(s, -700.0, 700.0);
    }
    std::vector<std::int32_t> cls(kernel_rows);
    for (Index i = 0; i < count; ++i) cls[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 2);
    std::vector<double> margin(kernel_rows), loss(kernel_rows), slope(kernel_rows), curvature(kernel_rows);
    logistic_rows({cls.data(), score.data() + from, margin.data(), loss.data(), slope.data(), curvature.data()}, count);
    for (Index i = 0; i < count; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const long double m = (cls[n] == 1 ? 1.0L : -1.0L) * score[from + n];
      const long double e = std::exp(-std::abs(m));
      const long double expected = std::log1p(e) + std::max(-m, 0.0L);
      EXPECT_EQ(margin[n], static_cast<double>(m));
      EXPECT_NEAR(loss[n] / static_cast<double>(expected), 1, 2e-15) << static_cast<double>(m);
      const long double part = m < 0 ? 1 / (1 + e) : e / (1 + e);
      EXPECT_NEAR(std::abs(slope[n]) / static_cast<double>(part), 1, 2e-15) << static_cast<double>(m);
      EXPECT_NEAR(curvature[n] / static_cast<double>(e / ((1 + e) * (1 + e))), 1, 2e-15) << static_cast<double>(m);
    }
  }
}

TEST(LogisticKernel, NotANumberStaysOne) {
  const std::vector<std::int32_t> cls{0, 1};
  const std::vector<double> score{std::nan(""), std::nan("")};
  std::vector<double> margin(2), loss(2), slope(2), curvature(2);
  logistic_rows({cls.data(), score.data(), margin.data(), loss.data(), slope.data(), curvature.data()}, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(std::isnan(loss[i]));
    EXPECT_TRUE(std::isnan(slope[i]));
    EXPECT_TRUE(std::isnan(curvature[i]));
  }
}

TEST(LogisticKernel, HugeScoresStayFinite) {
  const std::vector<std::int32_t> cls{0, 1, 0, 1};
  const std::vector<double> score{1e300, 1e300, -1e300, -1e300};
  std::vector<double> margin(4), loss(4), slope(4), curvature(4);
  logistic_rows({cls.data(), score.data(), margin.data(), loss.data(), slope.data(), curvature.data()}, 4);
  EXPECT_EQ(loss[0], 1e300);
  EXPECT_LT(loss[1], 1e-300);
  EXPECT_EQ(slope[0], 1);
  EXPECT_EQ(slope[3], -1);
  EXPECT_LT(curvature[0], 1e-300);
}

}  // namespace loss_test
}  // namespace ecotone
