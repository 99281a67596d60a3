#include "ecotone/solve/rbm/rbm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "ecotone/solve/rbm/rbm_kernel.h"

namespace ecotone {
namespace rbm_test {

Context context_of(int threads) { return Context({.threads = threads, .seed = 4}); }

/// 3 visible and 2 hidden units with weights of all signs.
Rbm tiny() {
  Rbm rbm{VisibleUnits::binary, SingleMatrix(3, 2), SingleVector(3), SingleVector(2)};
  rbm.weights << 1.2F, -0.7F, -0.4F, 0.9F, 0.3F, -1.1F;
  rbm.visible_bias << 0.2F, -0.5F, 0.4F;
  rbm.hidden_bias << -0.3F, 0.6F;
  return rbm;
}

Vector bits_of(int number, Index size) {
  Vector bits(size);
  for (Index j = 0; j < size; ++j) bits[j] = (number >> j) & 1;
  return bits;
}

/// exp(-E(v, h))
double mass(const Rbm& rbm, const Vector& v, const Vector& h) {
  return std::exp(v.dot(rbm.weights.cast<double>() * h) + rbm.visible_bias.cast<double>().dot(v) +
                  rbm.hidden_bias.cast<double>().dot(h));
}

/// E[v h'] and E[h] under the machine, or given v.
struct Expected {
  Matrix vh = Matrix::Zero(3, 2);
  Vector v = Vector::Zero(3);
  Vector h = Vector::Zero(2);
  double total = 0;

  void add(const Rbm& rbm, const Vector& visible) {
    for (int k = 0; k < 4; ++k) {
      const Vector hidden = bits_of(k, 2);
      const double weight = mass(rbm, visible, hidden);
      vh += weight * visible * hidden.transpose();
      v += weight * visible;
      h += weight * hidden;
      total += weight;
    }
  }
};

std::vector<Index> all_rows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Prototypes of `cols` bits with one bit in ten flipped.
SingleMatrix prototypes(Index rows, Index cols) {
  Random random(2, "prototypes");
  SingleMatrix x(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    const Index kind = i % 4;
    for (Index j = 0; j < cols; ++j) {
      const bool on = (j * 4 / cols == kind) != (random.uniform() < 0.1);
      x(i, j) = on ? 1.0F : 0.0F;
    }
  }
  return x;
}

bool same_bytes(const SingleMatrix& a, const SingleMatrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

TEST(RbmKernel, SigmoidIsExactToSinglePrecisionWhereverItStands) {
  const Index count = 1001;
  SingleVector x = SingleVector::LinSpaced(count, -60, 60);
  const SingleVector bias = SingleVector::Constant(count, 0.25F);
  SingleVector found = x;
  sigmoid_row(found.data(), bias.data(), count);
  for (Index i = 0; i < count; ++i) {
    const double t = static_cast<double>(x[i] + bias[i]);
    const double exact = 1 / (1 + std::exp(-t));
    EXPECT_NEAR(found[i] / exact, 1, 5e-7) << t;
    float alone = x[i];
    sigmoid_row(&alone, bias.data(), 1);
    EXPECT_EQ(alone, found[i]) << t;
  }
  SingleVector edge(3);
  edge << std::nanf(""), 1e30F, -1e30F;
  sigmoid_row(edge.data(), bias.data(), 3);
  EXPECT_TRUE(std::isnan(edge[0]));
  EXPECT_EQ(edge[1], 1);
  EXPECT_GT(edge[2], 0);
  EXPECT_LT(edge[2], 1e-30F);
}

TEST(Rbm, HiddenMeansAreThoseOfEnumeration) {
  const Rbm rbm = tiny();
  for (int k = 0; k < 8; ++k) {
    const Vector v = bits_of(k, 3);
    Expected given;
    given.add(rbm, v);
    SingleMatrix h(1, 2);
    hidden_means(rbm, SingleMatrix(v.transpose().cast<float>()), h);
    EXPECT_LT((h.row(0).transpose().cast<double>() - given.h / given.total).cwiseAbs().maxCoeff(), 1e-6) << k;
  }
}

/// One step of rate 1 without momentum: the change of W is <v h'> of the data - <v h'> of the chain.
struct OneStep {
  Matrix weights;
  Vector visible;
  Vector hidden;
};

OneStep one_step(const Rbm& rbm, const SingleMatrix& data, int cd) {
  const Context context = context_of(2);
  RbmOptions options{.hidden = 2, .cd = cd, .rate = 1, .weight_decay = 0};
  ContrastiveDivergence training(rbm, options, context);
  training.step(data, all_rows(data.rows()), 0, 0);
  return {(training.rbm().weights - rbm.weights).cast<double>(),
          (training.rbm().visible_bias - rbm.visible_bias).cast<double>(),
          (training.rbm().hidden_bias - rbm.hidden_bias).cast<double>()};
}

TEST(Rbm, LongChainsGiveTheGradientOfTheLikelihood) {
  const Rbm rbm = tiny();
  // Equally many rows of each of three patterns; the data's statistics by enumeration of h.
  const Index rows = 30000;
  SingleMatrix data(rows, 3);
  Expected model;
  Matrix vh = Matrix::Zero(3, 2);
  Vector v = Vector::Zero(3);
  Vector h = Vector::Zero(2);
  for (const int k : {1, 3, 6}) {
    Expected given;
    given.add(rbm, bits_of(k, 3));
    vh += given.vh / given.total / 3;
    v += given.v / given.total / 3;
    h += given.h / given.total / 3;
  }
  for (Index i = 0; i < rows; ++i) data.row(i) = bits_of(i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 6, 3).cast<float>();
  for (int k = 0; k < 8; ++k) model.add(rbm, bits_of(k, 3));

  const OneStep found = one_step(rbm, data, 40);
  // A mean of 30000 bits has a standard error of at most 0.003.
  EXPECT_LT((found.weights - (vh - model.vh / model.total)).cwiseAbs().maxCoeff(), 0.015);
  EXPECT_LT((found.visible - (v - model.v / model.total)).cwiseAbs().maxCoeff(), 0.015);
  EXPECT_LT((found.hidden - (h - model.h / model.total)).cwiseAbs().maxCoeff(), 0.015);
  // One step of the chain is another direction: the test above can tell.
  const OneStep short_chain = one_step(rbm, data, 1);
  EXPECT_GT((short_chain.weights - (vh - model.vh / model.total)).cwiseAbs().maxCoeff(), 0.03);
}

TEST(Rbm, DecayAndMomentumAreThoseOfTheUpdate) {
  const Rbm rbm = tiny();
  const SingleMatrix data = prototypes(64, 3);
  const Context context = context_of(1);
  const RbmOptions plain{.hidden = 2, .rate = 0.1, .weight_decay = 0};
  RbmOptions decaying = plain;
  decaying.weight_decay = 0.5;
  ContrastiveDivergence a(rbm, plain, context);
  ContrastiveDivergence b(rbm, decaying, context);
  a.step(data, all_rows(64), 0, 0);
  b.step(data, all_rows(64), 0, 0);
  EXPECT_LT((b.rbm().weights - (a.rbm().weights - 0.05F * rbm.weights)).cwiseAbs().maxCoeff(), 1e-6F);
  EXPECT_EQ(a.rbm().visible_bias, b.rbm().visible_bias);

  // The same draws from the same machine with momentum: its velocity is that of a fresh step plus half the last one.
  const Rbm between = a.rbm();
  ContrastiveDivergence fresh(between, plain, context);
  fresh.step(data, all_rows(64), 0, 7);
  a.step(data, all_rows(64), 0.5, 7);
  const SingleMatrix expected = fresh.rbm().weights + 0.5F * (between.weights - rbm.weights);
  EXPECT_LT((a.rbm().weights - expected).cwiseAbs().maxCoeff(), 1e-6F);
  const SingleVector bias = fresh.rbm().hidden_bias + 0.5F * (between.hidden_bias - rbm.hidden_bias);
  EXPECT_LT((a.rbm().hidden_bias - bias).cwiseAbs().maxCoeff(), 1e-6F);
}

TEST(Rbm, ReconstructionErrorFallsOnStructuredData) {
  const SingleMatrix data = prototypes(400, 20);
  const RbmFit fit = fit_rbm(data, VisibleUnits::binary, {.hidden = 8, .epochs = 30, .batch = 20}, context_of(2));
  ASSERT_TRUE(fit.finite);
  ASSERT_EQ(fit.reconstruction.size(), 30);
  // Means of the bits alone leave a variance of 0.3 * 0.7; the flipped bits alone would leave 0.09.
  EXPECT_GT(fit.reconstruction[0], 0.18);
  EXPECT_LT(fit.reconstruction[29], 0.14);
  EXPECT_LT(fit.reconstruction.tail(10).mean(), fit.reconstruction.segment(5, 10).mean());
}

TEST(Rbm, GaussianUnitsBeatTheMean) {
  // Two factors behind ten standardised columns.
  Random random(6, "factors");
  SingleMatrix x(500, 10);
  for (Index i = 0; i < x.rows(); ++i) {
    const double first = random.normal();
    const double second = random.normal();
    for (Index j = 0; j < 10; ++j)
      x(i, j) = static_cast<float>(0.95 * (j < 5 ? first : second) + 0.3 * random.normal());
  }
  const RbmFit fit =
      fit_rbm(x, VisibleUnits::gaussian, {.hidden = 30, .epochs = 60, .batch = 20, .rate = 0.005}, context_of(2));
  ASSERT_TRUE(fit.finite);
  EXPECT_LT(fit.reconstruction[59], 0.7 * static_cast<double>(x.squaredNorm()) / static_cast<double>(x.size()));
}

TEST(Rbm, EqualBytesForAnyNumberOfThreads) {
  const SingleMatrix data = prototypes(250, 300);
  for (const VisibleUnits units : {VisibleUnits::binary, VisibleUnits::gaussian}) {
    for (const int cd : {1, 3}) {
      const RbmOptions options{.hidden = 270, .epochs = 2, .batch = 60, .cd = cd, .rate = 0.005};
      const RbmFit expected = fit_rbm(data, units, options, context_of(1));
      for (const int threads : {2, 7}) {
        const RbmFit found = fit_rbm(data, units, options, context_of(threads));
        EXPECT_TRUE(same_bytes(found.rbm.weights, expected.rbm.weights)) << threads;
        EXPECT_TRUE(same_bytes(found.rbm.hidden_bias, expected.rbm.hidden_bias)) << threads;
        EXPECT_TRUE(same_bytes(found.rbm.visible_bias, expected.rbm.visible_bias)) << threads;
        EXPECT_EQ(found.reconstruction, expected.reconstruction) << threads;
      }
    }
  }
}

TEST(Rbm, AnotherSeedIsAnotherMachine) {
  const SingleMatrix data = prototypes(50, 6);
  const RbmOptions options{.hidden = 4, .epochs = 1};
  const RbmFit a = fit_rbm(data, VisibleUnits::binary, options, Context({.threads = 1, .seed = 1}));
  const RbmFit b = fit_rbm(data, VisibleUnits::binary, options, Context({.threads = 1, .seed = 2}));
  EXPECT_FALSE(same_bytes(a.rbm.weights, b.rbm.weights));
}

TEST(Rbm, OverflowIsSaid) {
  const SingleMatrix data = SingleMatrix::Constant(40, 3, 100);
  const RbmFit fit =
      fit_rbm(data, VisibleUnits::gaussian, {.hidden = 4, .epochs = 40, .batch = 5, .rate = 1e6}, context_of(1));
  EXPECT_FALSE(fit.finite);
}

}  // namespace rbm_test
}  // namespace ecotone
