#include "ecotone/solve/components/components.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/kernels/domain_sums.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/solve/components/exact.h"
#include "linalg/support.h"

namespace ecotone {
namespace components_test {

/// Rows of several groups whose means differ, with classes that the first column tells.
struct Toy {
  Matrix x;
  std::vector<std::int32_t> group, cls;
  Index groups;
  OutputFactor output;
  Kernel kernel{.kind = KernelKind::rbf, .sigma = 1.5};
  double epsilon = 1e-3;

  Toy(Index n, Index of) : x(random_matrix(n, 3, 21)), groups(of) {
    for (Index i = 0; i < n; ++i) {
      group.push_back(static_cast<std::int32_t>(i * i % 7 % of));
      if (i < of) group.back() = static_cast<std::int32_t>(i);
      cls.push_back(x(i, 0) < -0.4 ? 0 : x(i, 0) < 0.5 ? 1 : 2);
      x.row(i).array() += 0.4 * group.back();
    }
    output = delta_output(cls, 3);
  }

  ComponentProblem problem() const {
    return {.x = {x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.cols())},
            .kernel = kernel,
            .group = group,
            .groups = groups,
            .output = &output,
            .epsilon = epsilon};
  }
  ExactComponents solve(const ComponentOptions& options, ExactRoute route, int threads = 2) const {
    return exact_components(problem(), options, route, with_threads(threads));
  }
  ExactComponents solve(const ComponentOptions& options) const {
    return solve(options, options.lam > 0 ? ExactRoute::cholesky : ExactRoute::matvec);
  }
};

const ComponentOptions kpca{.supervised = false, .weight = 0};
const ComponentOptions udica{.supervised = false, .weight = 20};
const ComponentOptions coir{.supervised = true, .weight = 0};
const ComponentOptions dica{.supervised = true, .weight = 20};

ComponentOptions with_lam(ComponentOptions options, double lam) {
  options.lam = lam;
  return options;
}
ComponentOptions paper(ComponentOptions options) {
  options.form = ComponentForm::paper;
  return options;
}
ComponentOptions with_weight(ComponentOptions options, double weight) {
  options.weight = weight;
  return options;
}

/// Columns up to sign, by the largest difference.
double gap(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (Index j = 0; j < a.cols(); ++j)
    worst = std::max(
        worst, std::min((a.col(j) - b.col(j)).cwiseAbs().maxCoeff(), (a.col(j) + b.col(j)).cwiseAbs().maxCoeff()));
  return worst;
}

/// The n x n matrices of the definition.
struct Dense {
  Matrix k, m, left;

  Dense(const Toy& toy, const ComponentOptions& options) {
    const Context context = with_threads(1);
    const auto n = toy.x.rows();
    k = kernel_gram(toy.kernel, toy.x, context);
    centre_gram(k, context);
    const Matrix f = group_factor(toy.group, toy.groups);
    m = options.weight * (k * f) * (k * f).transpose() + k;
    m.diagonal().array() += options.lam;
    const Matrix g = toy.output.g.rowwise() - toy.output.g.colwise().mean();
    Matrix ridge = g.transpose() * g;
    ridge.diagonal().array() += static_cast<double>(n) * toy.epsilon;
    const Matrix p = g * Cholesky::factor(ridge, context)->solve(Matrix(g.transpose()), context);
    left = !options.supervised                    ? Matrix(k * k)
           : options.form == ComponentForm::paper ? Matrix(p * k * k)
                                                  : Matrix(k * p * k);
  }
};

TEST(Components, SolveTheirEquation) {
  const Toy toy(500, 4);
  for (const ComponentOptions& options :
       {kpca, udica, coir, dica, paper(coir), paper(dica), with_lam(kpca, 0), with_lam(udica, 0), with_lam(dica, 0)}) {
    const Dense dense(toy, options);
    for (const auto route : {ExactRoute::cholesky, ExactRoute::matvec}) {
      if (!route_applies(options, route)) continue;
      const ExactComponents found = toy.solve(options, route);
      ASSERT_EQ(found.spectrum.size(), 2);
      EXPECT_TRUE(found.converged);
      const Matrix& v = found.map.coefficients;
      const Matrix image = dense.left * v;
      const Matrix rest = image - dense.m * v * found.spectrum.gamma.asDiagonal();
      EXPECT_LT(rest.norm(), 1e-9 * image.norm()) << "weight " << options.weight << " lam " << options.lam;
      EXPECT_LT(gap(dense.k * v, found.projections), 1e-9 * found.projections.cwiseAbs().maxCoeff());
      EXPECT_NEAR(found.projections.colwise().squaredNorm().mean(), 500, 1e-6);
      EXPECT_NEAR(found.spectrum.norm, (v.transpose() * dense.k * v).trace(), 1e-9 * found.spectrum.norm);
      EXPECT_EQ(found.spectrum.most_negative, 0);
    }
  }
}

TEST(Components, OneGroupHasNothingToBeInvariantTo) {
  const Toy toy(300, 1);
  EXPECT_LT(gap(toy.solve(udica).projections, toy.solve(kpca).projections), 1e-9);
  EXPECT_LT(gap(toy.solve(dica).projections, toy.solve(coir).projections), 1e-9);
  EXPECT_LT(gap(toy.solve(paper(dica)).projections, toy.solve(paper(coir)).projections), 1e-9);
  EXPECT_EQ(toy.solve(dica).spectrum.tr_kq, 0);
}

TEST(Components, DistributionalVarianceOfTwoGroupsIsAQuarterOfMmdSquared) {
  const Toy toy(200, 2);
  const DomainSums sums = rbf_domain_sums(toy.x, toy.group, 2, toy.kernel.sigma, with_threads(2));
  const Matrix g = sums.mean_gram();
  const double mmd2 = g(0, 0) + g(1, 1) - 2 * g(0, 1);
  EXPECT_NEAR(toy.solve(udica).spectrum.tr_kq, mmd2 / 4, 1e-14);
  EXPECT_NEAR(sums.distributional_variance(), mmd2 / 4, 1e-14);
}

TEST(Components, UdicaIsDicaWhoseOutputsAreAllDifferent) {
  Toy toy(60, 3);
  toy.output = {Matrix::Identity(60, 60) / std::sqrt(60.0)};
  toy.epsilon = 1e-13;
  const ExactComponents expected = toy.solve(udica);
  EXPECT_LT(gap(toy.solve(dica).projections, expected.projections), 1e-7);
  EXPECT_LT(gap(toy.solve(paper(dica)).projections, expected.projections), 1e-7);
}

TEST(Components, RouteWithoutLamIsTheLimit) {
  const Toy toy(400, 3);
  for (const ComponentOptions& options : {udica, dica, coir}) {
    const ExactComponents limit = toy.solve(with_lam(options, 0));
    EXPECT_LT(gap(toy.solve(with_lam(options, 1e-8)).projections, limit.projections), 1e-5);
    EXPECT_LT(gap(toy.solve(with_lam(options, 1e-6)).projections, limit.projections), 1e-3);
  }
}

TEST(Components, DistributionalVarianceFallsWithTheWeight) {
  const Toy toy(350, 4);
  for (const double lam : {0.1, 0.0}) {
    for (ComponentOptions options : {with_lam(udica, lam), with_lam(dica, lam)}) {
      options.components = 1;
      double before = std::numeric_limits<double>::infinity();
      for (const double weight : {0.0, 1.0, 10.0, 100.0, 1e3, 1e4}) {
        const double after = toy.solve(with_weight(options, weight)).spectrum.distributional_variance;
        EXPECT_LT(after, before * (1 + 1e-9)) << weight;
        before = after;
      }
      EXPECT_LT(before, 0.2 * toy.solve(with_weight(options, 0)).spectrum.distributional_variance);
    }
  }
}

TEST(Components, WeightTimesKernelIsTheKernelTimesWeight) {
  // A kernel s k is w = s with lam / s; of poly, scale^degree is such an s where coef0 = 0.
  Toy toy(120, 3);
  toy.kernel = {.kind = KernelKind::poly, .degree = 1, .coef0 = 0, .scale = 4};
  const ExactComponents scaled = toy.solve(with_weight(dica, 1));
  toy.kernel.scale = 1;
  const ExactComponents weighted = toy.solve(with_lam(with_weight(dica, 4), 0.1 / 4));
  EXPECT_LT(gap(scaled.projections, weighted.projections), 1e-9);
}

TEST(Components, LinearKernelKeepsItsDigitsAtLargeOffsets) {
  Toy toy(150, 3);
  toy.kernel = {.kind = KernelKind::linear};
  const ExactComponents near = toy.solve(dica);
  Toy far = toy;
  far.x.array() += 1048576;
  const ExactComponents moved = far.solve(dica);
  EXPECT_LT(gap(near.projections, moved.projections), 1e-7);
  EXPECT_EQ(moved.map.rows.rows(), 2) << "two directions, not all rows";
  Matrix z(150, 2);
  moved.map.project(far.x, z);
  EXPECT_LT(gap(z, moved.projections), 1e-7);
}

TEST(Components, EqualBytesForAnyNumberOfThreads) {
  const Toy toy(700, 4);
  for (const ComponentOptions& options : {kpca, udica, paper(dica), dica, with_lam(udica, 0), with_lam(dica, 0)}) {
    for (const auto route : {ExactRoute::cholesky, ExactRoute::matvec}) {
      if (!route_applies(options, route)) continue;
      const ExactComponents one = toy.solve(options, route, 1);
      for (const int threads : {2, 7}) {
        const ExactComponents other = toy.solve(options, route, threads);
        EXPECT_TRUE(same_bytes(one.map.coefficients, other.map.coefficients));
        EXPECT_TRUE(same_bytes(one.projections, other.projections));
        EXPECT_TRUE(same_bytes(one.map.bias, other.map.bias));
      }
    }
  }
}

TEST(Components, ComplexPairsAreTwoColumns) {
  GeneralEigen eigen{Vector(5), Vector(5), Matrix::Zero(5, 5), Matrix::Zero(5, 5)};
  eigen.real << 0.5, 2, 2, -7, 1e-12;
  eigen.imag << 0, 1, -1, 0, 0;
  eigen.re = Matrix::Identity(5, 5);
  eigen.im(0, 1) = 1;
  eigen.im(0, 2) = -1;
  const ChosenPairs one = choose_pairs(eigen, 1);
  EXPECT_EQ(one.gamma.size(), 2) << "a pair at the end is not cut";
  EXPECT_TRUE(one.complex_pair);
  EXPECT_EQ(one.gamma_imag[0], 1);
  EXPECT_EQ(one.gamma_imag[1], -1);
  EXPECT_EQ(one.z.col(0), Vector::Unit(5, 1));
  EXPECT_EQ(one.z.col(1), Vector::Unit(5, 0));
  const ChosenPairs all = choose_pairs(eigen, 5);
  EXPECT_EQ(all.gamma.size(), 3) << "what is rounding beside the largest does not count";
  EXPECT_EQ(all.gamma[2], 0.5);
  EXPECT_EQ(all.most_negative, -7);
}

TEST(Components, PlanesOfComplexPairsAreInvariant) {
  Index pairs = 0;
  for (Index n = 30; n < 60; ++n) {
    Toy toy(n, 4);
    toy.output = rbf_output(random_matrix(n, 1, 5), 0.5, with_threads(1));
    const ComponentOptions options = paper(with_weight(dica, 1e4));
    const ExactComponents found = toy.solve(options);
    if (!found.spectrum.complex_pair) continue;
    ++pairs;
    // The pair is the first two, or the last two of three.
    const Index last = found.spectrum.size() - 1;
    ASSERT_TRUE(last == 1 || last == 2);
    EXPECT_EQ(found.spectrum.gamma[last - 1], found.spectrum.gamma[last]);
    EXPECT_EQ(found.spectrum.gamma_imag[last - 1], -found.spectrum.gamma_imag[last]);
    // M^-1 P K^2 maps the space of the columns into itself.
    const Dense dense(toy, options);
    const Matrix& v = found.map.coefficients;
    const Matrix image = Cholesky::factor(dense.m, with_threads(1))->solve(Matrix(dense.left * v), with_threads(1));
    const Matrix c =
        Cholesky::factor(v.transpose() * v, with_threads(1))->solve(Matrix(v.transpose() * image), with_threads(1));
    EXPECT_LT((image - v * c).norm(), 1e-6 * image.norm()) << n;
  }
  EXPECT_GT(pairs, 0);
}

std::string code_of(const Toy& toy, const ComponentOptions& options, ExactRoute route) {
  try {
    toy.solve(options, route);
  } catch (const Error& error) {
    return error.code();
  }
  return "none";
}

TEST(Components, RefuseRoutesThatDoNotApply) {
  const Toy toy(30, 2);
  EXPECT_EQ(code_of(toy, with_lam(dica, 0), ExactRoute::cholesky), "bad_option");
  EXPECT_EQ(code_of(toy, with_lam(paper(dica), 0), ExactRoute::matvec), "bad_option");
  EXPECT_EQ(code_of(toy, dica, ExactRoute::matvec), "bad_option");
  EXPECT_EQ(code_of(toy, udica, ExactRoute::matvec), "bad_option");
  EXPECT_EQ(code_of(toy, kpca, ExactRoute::matvec), "none");
  EXPECT_EQ(code_of(toy, with_lam(dica, -1), ExactRoute::cholesky), "bad_option");
  Toy bad = toy;
  bad.epsilon = 0;
  EXPECT_EQ(code_of(bad, dica, ExactRoute::cholesky), "bad_option");
  bad = toy;
  bad.x(3, 1) = std::nan("");
  EXPECT_EQ(code_of(bad, dica, ExactRoute::cholesky), "non_finite");
  bad = toy;
  bad.group.assign(30, 1);
  EXPECT_EQ(code_of(bad, dica, ExactRoute::cholesky), "empty_group");
}

TEST(Components, DoNotAttemptAMatrixThatDoesNotFit) {
  const Index n = 2'000'000;
  const Matrix x = Matrix::Zero(n, 1);
  const std::vector<std::int32_t> group(static_cast<std::size_t>(n), 0);
  const ComponentProblem problem{.x = {x.data(), n, 1, Eigen::OuterStride<>(1)}, .kernel = Kernel{}, .group = group};
  try {
    exact_components(problem, udica, ExactRoute::cholesky, with_threads(1));
    ADD_FAILURE() << "48 TB were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "not_enough_memory");
  }
}

TEST(Components, IdenticalRowsHaveNoComponents) {
  for (const Index n : {2, 37, 300}) {
    for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
      Toy toy(n, 2);
      toy.kernel.kind = kind;
      toy.x.setConstant(0.1);
      for (const ComponentOptions& options : {kpca, udica, dica, paper(dica), with_lam(dica, 0), with_lam(udica, 0)}) {
        const ExactComponents found = toy.solve(options);
        EXPECT_EQ(found.spectrum.size(), 0) << n << " " << kernel_name(kind);
        EXPECT_EQ(found.projections.cols(), 0);
      }
    }
  }
}

TEST(Components, EqualOutputsExplainNothing) {
  Toy toy(50, 2);
  for (const OutputFactor& output :
       {delta_output(std::vector<std::int32_t>(50, 0), 1), linear_output(Matrix::Constant(50, 1, 0.1)),
        rbf_output(Matrix::Constant(50, 1, 0.1), 1, with_threads(1))}) {
    toy.output = output;
    for (const ComponentOptions& options : {dica, paper(dica), with_lam(dica, 0)})
      EXPECT_EQ(toy.solve(options).spectrum.size(), 0);
  }
}

TEST(Components, RowsThatAllDifferOfOneClassEachAreSolved) {
  Toy toy(25, 3);
  std::vector<std::int32_t> own;
  for (std::int32_t i = 0; i < 25; ++i) own.push_back(i);
  toy.output = delta_output(own, 25);
  ComponentOptions options = dica;
  options.components = 100;
  const ExactComponents found = toy.solve(options);
  EXPECT_GT(found.spectrum.size(), 5);
  EXPECT_LE(found.spectrum.size(), 24);
  EXPECT_TRUE(found.projections.allFinite());
}

TEST(Components, ProjectionsOfARowDoNotDependOnItsBatch) {
  Toy toy(300, 3);
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
    toy.kernel.kind = kind;
    const ExactComponents found = toy.solve(udica);
    Matrix batch(301, 3);
    for (const double far : {1e4, 1e14, 1e20}) {
      batch << toy.x, far, 0, 0;
      Matrix z(301, found.map.size());
      found.map.project(batch, z);
      EXPECT_LT(gap(z.topRows(300), found.projections), 1e-9) << kernel_name(kind) << " " << far;
    }
  }
}

TEST(ExactComponents, MemoryIsCountedOnEveryRoute) {
  const auto bytes = [](const ComponentOptions& options, ExactRoute route, const RouteSize& size) {
    return static_cast<double>(route_bytes(options, route, size));
  };
  ComponentOptions many = kpca;
  many.components = 2000;
  // So many components are found densely: A, its vectors and 2 n^2 of work.
  EXPECT_GT(bytes(many, ExactRoute::matvec, {.rows = 6000, .cols = 3}), 4 * 8 * 6000.0 * 6000.0);
  EXPECT_LT(bytes(kpca, ExactRoute::matvec, {.rows = 6000, .cols = 3}), 8 * 6000.0 * 6000.0);
  const ComponentOptions exact = with_lam(dica, 0);
  const RouteSize few{.rows = 6000, .cols = 3, .groups = 3, .outputs = 3};
  RouteSize domains = few, outputs = few;
  domains.groups = 3000;
  outputs.outputs = 3000;
  EXPECT_LT(bytes(exact, ExactRoute::matvec, few), 1e8);
  EXPECT_GT(bytes(exact, ExactRoute::matvec, domains), 7e8);
  EXPECT_GT(bytes(exact, ExactRoute::matvec, outputs), 7e8);
  EXPECT_GT(bytes(dica, ExactRoute::cholesky, few), 1.5 * 8 * 6000.0 * 6000.0);
}

TEST(ExactComponents, TooLittleMemoryIsSaidBeforeItIsTaken) {
  const Toy toy(400, 3);
  ComponentProblem problem = toy.problem();
  // As many groups as no machine has memory for; they are counted before they are looked at.
  problem.groups = Index{1} << 28;
  for (const ComponentOptions& options : {with_lam(udica, 0), with_lam(dica, 0)}) {
    try {
      exact_components(problem, options, ExactRoute::matvec, with_threads(1));
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "not_enough_memory");
    }
  }
}

TEST(Components, ACopiedMapFollowsItsOwnRows) {
  const Toy toy(40, 2);
  const ExactComponents found = toy.solve(udica);
  Matrix z(40, 2), moved(40, 2);
  found.map.project(toy.x, z);
  ComponentMap copy = found.map;
  copy.rows.array() += 1;
  copy.project(toy.x.array() + 1, moved);
  EXPECT_LT(gap(z, moved), 1e-12);
}

TEST(Components, OneFarRowIsOneFarRowHoweverFar) {
  for (const ComponentOptions& options : {udica, with_lam(udica, 0), dica}) {
    Toy toy(300, 3);
    toy.x.row(11).setConstant(1e4);
    const ExactComponents near = toy.solve(options);
    toy.x.row(11).setConstant(1e20);
    const ExactComponents far = toy.solve(options);
    EXPECT_LT((near.spectrum.gamma - far.spectrum.gamma).norm(), 1e-10 * near.spectrum.gamma.norm());
    EXPECT_LT(gap(near.projections, far.projections), 1e-8);
  }
}

TEST(Components, OnlyPartsOfComplexPairsMayVanish) {
  ChosenPairs pairs;
  pairs.gamma = Vector::Ones(2);
  pairs.gamma_imag = Vector::Zero(2);
  ComponentNorms norms;
  norms.projections = Vector::Unit(2, 0);
  const auto factors = [&] { return scale_factors(kpca, pairs, norms, 4); };
  try {
    factors();
    ADD_FAILURE() << "a component without length was scaled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "non_finite");
  }
  pairs.gamma_imag << 0.5, -0.5;
  EXPECT_EQ(factors(), Vector(2 * Vector::Unit(2, 0)));
  norms.projections[1] = std::nan("");
  EXPECT_THROW(factors(), Error);
}

}  // namespace components_test
}  // namespace ecotone
