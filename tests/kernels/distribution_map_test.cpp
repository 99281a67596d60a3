#include "ecotone/kernels/distribution_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/error.h"
#include "error_code.h"
#include "linalg/support.h"
#include "solve/components/golden.h"

namespace ecotone {
namespace distribution_map_test {

/// Enough for products of whole maps.
constexpr LowRankOptions whole{.rank = 20000};

double gap(const Matrix& ours, const Matrix& expected) {
  EXPECT_EQ(ours.rows(), expected.rows());
  EXPECT_EQ(ours.cols(), expected.cols());
  return (ours - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

std::vector<std::int32_t> in_turn(Index rows, std::int32_t domains) {
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < rows; ++i) domain.push_back(static_cast<std::int32_t>(i * i % 7 % domains));
  return domain;
}

/// Rows whose means move with their domain.
Matrix shifted(Index rows, Index cols, std::span<const std::int32_t> domain, std::uint64_t key = 0) {
  Matrix x = random_matrix(rows, cols, key);
  for (Index i = 0; i < rows; ++i) x(i, 0) += 0.7 * domain[static_cast<std::size_t>(i)];
  return x;
}

Matrix mapped(const DistributionMapFit& fit, const DomainFeatures& rows) {
  return fit.map.map(rows, fit.places).to_matrix();
}

class DistributionMapGolden : public testing::TestWithParam<std::string> {};

TEST_P(DistributionMapGolden, OfFullRankIsTheKernel) {
  const ComponentsGolden golden(GetParam());
  const Context context = with_threads(2);
  const double sigma1 = golden.json.at("sigma1");
  // Landmarks of both samples: then the new domain's mean is in their span.
  Matrix both(golden.x.rows() + golden.x_test.rows(), golden.x.cols());
  both << golden.x, golden.x_test;
  std::vector<std::int32_t> domain = golden.group;
  domain.resize(static_cast<std::size_t>(both.rows()), static_cast<std::int32_t>(golden.groups));
  const DomainFeatures rows{Features::dense(both), domain, golden.groups + 1};
  const DistributionMapFit fit = fit_distribution_map(golden.kernel, rows, sigma1, whole, context);
  const Matrix phi = mapped(fit, rows);
  const Json& expected = golden.json.at("expected");
  const Matrix train = phi.topRows(golden.x.rows());
  const Matrix test = phi.bottomRows(golden.x_test.rows());
  EXPECT_LT(fit.residual, 1e-9);
  EXPECT_LT(gap(train * train.transpose(), golden_matrix(expected.at("distributional_kernel"))), 1e-9);
  EXPECT_LT(gap(test * train.transpose(), golden_matrix(expected.at("distributional_kernel_test"))), 1e-9);
  const Matrix gram = golden_matrix(expected.at("mean_gram"));
  EXPECT_LT(gap(fit.means.gram.topLeftCorner(golden.groups, golden.groups), gram), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Cases, DistributionMapGolden, testing::ValuesIn(golden_component_cases()),
                         [](const auto& one_case) { return one_case.param; });

TEST(DistributionMap, OfFullRankIsTheKernelOfTrainingAndNewDomains) {
  const Context context = with_threads(2);
  const auto domain = in_turn(600, 4);
  const auto domain_z = in_turn(200, 3);
  const Matrix x = shifted(600, 2, domain);
  const Matrix z = shifted(200, 2, domain_z, 1);
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
    // A wide rbf kernel of two columns has rank 70 or so: the span of training rows then has all means. The laplacian
    // kernel has none such, so there new domains are near and no more.
    const Kernel kernel{.kind = kind, .sigma = 4, .degree = 2};
    const DistributionFit exact = fit_distribution_kernel(kernel, {x, domain, 5}, 0, context);
    const DistributionMapFit fit = fit_distribution_map(kernel, {Features::dense(x), domain, 5}, 0, whole, context);
    const char* const name = kernel_name(kind).data();
    EXPECT_NEAR(fit.width.sigma, exact.width.sigma, 1e-9 * exact.width.sigma) << name;
    EXPECT_NEAR(fit.width.sampling, exact.width.sampling, 1e-9 * exact.width.sampling) << name;
    EXPECT_LT(gap(domain_kernel(fit.means.squared, fit.map.sigma1()), exact.k1), 1e-9) << name;
    EXPECT_LT(fit.residual, 1e-9) << name;
    const Matrix phi = mapped(fit, {Features::dense(x), domain, 5});
    EXPECT_LT(gap(phi * phi.transpose(), exact.kernel.gram(exact.k1, context)), 1e-9) << name;

    const DomainFeatures fresh{Features::dense(z), domain_z, 3};
    const DomainPlaces places = fit.map.place(fresh, context);
    // Domains 3 and 4 have no rows.
    const double slack = kind == KernelKind::laplacian ? 0.05 : 1e-8;
    const Matrix k1 = exact.kernel.domains_of({z, domain_z, 3}, context);
    EXPECT_LT(gap(fit.map.domains_of(places).leftCols(3), k1.leftCols(3)), slack) << name;
    const Matrix phi_z = fit.map.map(fresh, places).to_matrix();
    EXPECT_LT(gap(phi_z * phi.transpose(), exact.kernel.cross({z, domain_z, 3}, k1, context)), slack) << name;
    EXPECT_GT(places.outside.minCoeff(), -1e-30);
  }
}

TEST(DistributionMap, OfTheLinearKernelIsExactForFarAwayDomainsAndLargeOffsets) {
  const Context context = with_threads(1);
  const auto domain = in_turn(300, 3);
  const Matrix x = shifted(300, 5, domain).array() + 1e5;
  Matrix z = random_matrix(50, 5, 1).array() + 1e5;
  z.col(4).array() += 2;  // training domains differ along the first column alone, but for noise
  const std::vector<std::int32_t> one(50, 0);
  const Kernel kernel{.kind = KernelKind::linear};
  const DistributionFit exact = fit_distribution_kernel(kernel, {x, domain, 3}, 0, context);
  const DistributionMapFit fit =
      fit_distribution_map(kernel, {Features::dense(x), domain, 3}, 0, {.rank = 15}, context);
  EXPECT_EQ(fit.map.rank(), 15);
  EXPECT_EQ(fit.residual, 0);
  const DomainPlaces places = fit.map.place({Features::dense(z), one, 1}, context);
  EXPECT_GT(places.outside[0], 3);
  const Matrix k1 = exact.kernel.domains_of({z, one, 1}, context);
  EXPECT_LT(gap(fit.map.domains_of(places), k1), 1e-9);
}

TEST(DistributionMap, ResidualFallsWithTheRankAndIsTheTraceThatIsLeft) {
  const Context context = with_threads(2);
  const auto domain = in_turn(500, 4);
  const Matrix x = shifted(500, 6, domain);
  const DomainFeatures rows{Features::dense(x), domain, 4};
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
    const Kernel kernel{.kind = kind, .sigma = 3, .degree = 2};
    double before = 1;
    for (const Index rank : {3, 12, 80}) {
      const DistributionMapFit fit = fit_distribution_map(kernel, rows, 0, {.rank = rank}, context);
      EXPECT_LE(fit.map.rank(), rank);
      EXPECT_LT(fit.residual, before) << kernel_name(kind) << " " << rank;
      before = fit.residual;
      const double trace = kernel_diagonal(kernel, x).sum();
      const double ours = mapped(fit, rows).squaredNorm();
      EXPECT_NEAR(1 - ours / trace, fit.residual, 1e-9) << kernel_name(kind);
    }
  }
}

TEST(DistributionMap, SameBytesForAnyNumberOfThreadsAndForRowsOfAnyStorage) {
  const auto domain = in_turn(3000, 4);
  const Matrix x = shifted(3000, 3, domain);
  Csr sparse{3000, 3, {0}, {}, {}};
  for (Index i = 0; i < 3000; ++i) {
    for (std::int32_t j = 0; j < 3; ++j) {
      sparse.column.push_back(j);
      sparse.value.push_back(x(i, j));
    }
    sparse.row_start.push_back(3 * (i + 1));
  }
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear}) {
    Matrix first;
    for (const int threads : {1, 2, 7}) {
      const Context context = with_threads(threads);
      const Features of = threads == 7 ? Features::sparse(sparse) : Features::dense(x);
      const DistributionMapFit fit =
          fit_distribution_map({.kind = kind}, {of, domain, 4}, 0, {.rank = 40, .sample = 900}, context);
      const Matrix phi = fit.map.map({of, domain, 4}, fit.map.place({of, domain, 4}, context)).to_matrix();
      if (threads == 1) first = phi;
      EXPECT_TRUE(same_bytes(phi, first)) << kernel_name(kind) << " " << threads;
    }
  }
}

TEST(DistributionMap, RowsTakenAreMappedByTheirOwnDomain) {
  const Context context = with_threads(1);
  const auto domain = in_turn(1500, 3);
  const DomainFeatures rows{Features::dense(shifted(1500, 3, domain)), domain, 3};
  const DistributionMapFit fit = fit_distribution_map({}, rows, 0, {.rank = 20}, context);
  const Features phi = fit.map.map(rows, fit.places);
  const Matrix all = phi.to_matrix();
  const std::vector<Index> chosen{1400, 3, 3, 512, 511};
  const Matrix some = phi.take(chosen).to_matrix();
  for (Index i = 0; i < 5; ++i)
    EXPECT_LT((some.row(i) - all.row(chosen[static_cast<std::size_t>(i)])).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(DistributionMap, OfOneDomainOfEqualDomainsAndOfOneWithoutRows) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(60, 2);
  const std::vector<std::int32_t> one(60, 0);
  for (const auto kind : {KernelKind::rbf, KernelKind::linear, KernelKind::poly}) {
    const Kernel kernel{.kind = kind};
    const Matrix k = kernel_gram(kernel, x, context);
    const DistributionMapFit alone = fit_distribution_map(kernel, {Features::dense(x), one, 1}, 0, whole, context);
    const Matrix phi = mapped(alone, {Features::dense(x), one, 1});
    EXPECT_LT(gap(phi * phi.transpose(), k), 1e-9);
    // The same rows twice, in domains 0 and 2: k1 is 1.
    Matrix twice(120, 2);
    twice << x, x;
    std::vector<std::int32_t> two(120, 0);
    std::fill(two.begin() + 60, two.end(), 2);
    const DistributionMapFit equal =
        fit_distribution_map(kernel, {Features::dense(twice), two, 3}, 0.5, whole, context);
    const Matrix phi2 = mapped(equal, {Features::dense(twice), two, 3});
    EXPECT_LT(gap(phi2.topRows(60) * phi2.bottomRows(60).transpose(), k), 1e-9);
  }
}

TEST(DistributionMap, ItsPartsMakeItAgainAndOthersAreRefused) {
  const Context context = with_threads(1);
  const auto domain = in_turn(80, 3);
  const DomainFeatures rows{Features::dense(shifted(80, 3, domain)), domain, 3};
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear}) {
    const DistributionMapFit fit = fit_distribution_map({.kind = kind}, rows, 0, {.rank = 30}, context);
    const DistributionMap again(fit.map.parts());
    EXPECT_TRUE(same_bytes(again.map(rows, fit.places).to_matrix(), mapped(fit, rows)));
    const auto refused = [&](const auto& change) {
      DistributionMapParts parts = fit.map.parts();
      change(parts);
      return test::code_of([&] { DistributionMap{parts}; });
    };
    EXPECT_EQ(refused([](auto& p) { p.centre.conservativeResize(p.centre.size() + 1); }), "bad_map");
    EXPECT_EQ(refused([](auto& p) { p.basis = Matrix::Zero(p.basis.rows(), p.basis.cols() + 1); }), "bad_map");
    EXPECT_EQ(refused([](auto& p) { p.coordinates(0, 0) = std::nan(""); }), "bad_map");
    EXPECT_EQ(refused([](auto& p) { p.coordinates.resize(0, p.basis.cols()); }), "bad_map");
    EXPECT_EQ(refused([](auto& p) { std::swap(p.rows, p.domains); }), "bad_map");
    EXPECT_EQ(refused([](auto& p) { p.origin = p.origin.size() > 0 ? Vector() : Vector(Vector::Zero(3)); }), "bad_map");
    EXPECT_EQ(refused([](auto& p) { p.sigma1 = 0; }), "bad_option");
    EXPECT_EQ(refused([](auto& p) { p.kernel.kind = KernelKind::poly; }),
              kind == KernelKind::laplacian ? "none" : "bad_map");
  }
}

TEST(DistributionMap, RefusesWhatItCannotMap) {
  const Context context = with_threads(1);
  Matrix x = random_matrix(1000, 2);
  const auto domain = in_turn(1000, 3);
  const auto fit = [&](const Matrix& of, Index domains, double sigma1, const LowRankOptions& options) {
    return test::code_of([&] {
      fit_distribution_map({}, {Features::dense(of), domain, domains}, sigma1, options, context);
    });
  };
  EXPECT_EQ(fit(x, 3, 0, {.rank = 5}), "none");
  EXPECT_EQ(fit(x, 2, 0, {.rank = 5}), "shape_mismatch");
  EXPECT_EQ(fit(x.topRows(9), 3, 0, {.rank = 5}), "shape_mismatch");
  EXPECT_EQ(fit(x, 3, -1, {.rank = 5}), "bad_option");
  EXPECT_EQ(fit(x, 3, 0, {.rank = 0}), "bad_option");
  EXPECT_EQ(fit(x, 3, 0, {.kind = LowRankKind::fourier}), "bad_option");
  // A row that landmarks are not chosen from.
  x(701, 1) = std::nan("");
  EXPECT_EQ(fit(x, 3, 0, {.rank = 5, .sample = 10}), "non_finite");
}

}  // namespace distribution_map_test
}  // namespace ecotone
