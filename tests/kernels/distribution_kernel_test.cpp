#include "ecotone/kernels/distribution_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/error.h"
#include "error_code.h"
#include "linalg/support.h"
#include "solve/components/golden.h"

namespace ecotone {
namespace distribution_kernel_test {

/// Largest difference, relative to the largest entry.
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

class DistributionKernelGolden : public testing::TestWithParam<std::string> {};

TEST_P(DistributionKernelGolden, TrainingAndNewDomain) {
  const ComponentsGolden golden(GetParam());
  const Context context = with_threads(2);
  const DomainRows rows{golden.x, golden.group, golden.groups};
  const double sigma1 = golden.json.at("sigma1");
  const DistributionFit fit = fit_distribution_kernel(golden.kernel, rows, sigma1, context);
  const Json& expected = golden.json.at("expected");
  EXPECT_LT(gap(fit.means.gram, golden_matrix(expected.at("mean_gram"))), 1e-9);
  EXPECT_LT(gap(fit.kernel.gram(fit.k1, context), golden_matrix(expected.at("distributional_kernel"))), 1e-9);

  const std::vector<std::int32_t> one(static_cast<std::size_t>(golden.x_test.rows()), 0);
  const DomainRows test{golden.x_test, one, 1};
  const Matrix k1 = fit.kernel.domains_of(test, context);
  const Matrix cross = golden_matrix(expected.at("distributional_kernel_test"));
  EXPECT_LT(gap(fit.kernel.cross(test, k1, context), cross), 1e-9);
  const Matrix b = random_matrix(golden.x.rows(), 3);
  EXPECT_LT(gap(fit.kernel.multiply(test, k1, b, context), cross * b), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Cases, DistributionKernelGolden, testing::ValuesIn(golden_component_cases()),
                         [](const auto& one_case) { return one_case.param; });

TEST(DistributionKernel, OverManyTilesIsTheProductOfTheKernels) {
  const Context context = with_threads(2);
  const Matrix x = random_matrix(600, 3);
  const Matrix z = random_matrix(300, 3, 1);
  const auto domain = in_turn(600, 4);
  const auto domain_z = in_turn(300, 3);
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
    const Kernel kernel{.kind = kind, .sigma = 2, .degree = 2};
    const DistributionFit fit = fit_distribution_kernel(kernel, {x, domain, 5}, 0.7, context);
    const Matrix k = kernel_gram(kernel, x, context);
    const Matrix kz = kernel_gram(kernel, z, context);
    const Matrix kzx = kernel_gram(kernel, z, x, context);
    // Indicators over counts; domain 4 has no rows.
    Matrix e = Matrix::Zero(600, 4), ez = Matrix::Zero(300, 3);
    for (Index i = 0; i < 600; ++i) e(i, domain[static_cast<std::size_t>(i)]) = 1;
    for (Index i = 0; i < 300; ++i) ez(i, domain_z[static_cast<std::size_t>(i)]) = 1;
    for (Index d = 0; d < 4; ++d) e.col(d) /= e.col(d).sum();
    for (Index d = 0; d < 3; ++d) ez.col(d) /= ez.col(d).sum();
    const Matrix g = e.transpose() * k * e;
    const Matrix gz = ez.transpose() * kz * ez;
    const Matrix gzx = ez.transpose() * kzx * e;
    EXPECT_LT(gap(fit.means.gram.topLeftCorner(4, 4), g), 1e-12) << kernel_name(kind);
    EXPECT_EQ(fit.means.gram.row(4).cwiseAbs().maxCoeff(), 0);
    const Matrix k1 = fit.kernel.domains_of({z, domain_z, 3}, context);
    const Matrix cross = fit.kernel.cross({z, domain_z, 3}, k1, context);
    double worst = 0;
    for (Index i = 0; i < 300; ++i)
      for (Index j = 0; j < 600; ++j) {
        const Index p = domain_z[static_cast<std::size_t>(i)], a = domain[static_cast<std::size_t>(j)];
        const double squared = gz(p, p) + g(a, a) - 2 * gzx(p, a);
        worst = std::max(worst, std::abs(cross(i, j) - std::exp(-squared / (2 * 0.49)) * kzx(i, j)));
      }
    EXPECT_LT(worst, 1e-11 * kzx.cwiseAbs().maxCoeff()) << kernel_name(kind);
  }
}

TEST(DistributionKernel, SameBytesForAnyNumberOfThreads) {
  const Matrix x = random_matrix(900, 3);
  const auto domain = in_turn(900, 4);
  Matrix gram, product;
  for (const int threads : {1, 2, 3}) {
    const Context context = with_threads(threads);
    const DistributionFit fit = fit_distribution_kernel({.sigma = 1.5}, {x, domain, 4}, 0, context);
    const Matrix ours = fit.kernel.gram(fit.k1, context);
    EXPECT_TRUE(ours.isApprox(ours.transpose(), 0));
    const DomainRows again{x, domain, 4};
    const Matrix k1 = fit.kernel.domains_of(again, context);
    const Matrix scores = fit.kernel.multiply(again, k1, random_matrix(900, 2), context);
    if (threads == 1) {
      gram = ours;
      product = scores;
    }
    EXPECT_TRUE(same_bytes(ours, gram));
    EXPECT_TRUE(same_bytes(scores, product));
  }
}

TEST(DistributionKernel, ValuesOfARowDoNotDependOnTheOthers) {
  const Matrix x = random_matrix(300, 3);
  const auto domain = in_turn(300, 2);
  const Context context = with_threads(1);
  const DistributionFit fit = fit_distribution_kernel({.sigma = 1.5}, {x, domain, 2}, 0, context);
  const Matrix b = random_matrix(300, 1);
  Matrix z = x.topRows(20);
  const auto z_domain = in_turn(20, 2);
  const Matrix cross = fit.kernel.cross({z, z_domain, 2}, fit.k1, context);
  const Matrix product = fit.kernel.multiply({z, z_domain, 2}, fit.k1, b, context);
  z.bottomRows(19).array() += 1e9;
  EXPECT_TRUE(same_bytes(fit.kernel.cross({z, z_domain, 2}, fit.k1, context).topRows(1), cross.topRows(1)));
  EXPECT_EQ(fit.kernel.multiply({z, z_domain, 2}, fit.k1, b, context)(0, 0), product(0, 0));
}

TEST(DistributionKernel, TrainingDomainsAsNewOnesAreThemselves) {
  const Context context = with_threads(2);
  const Matrix x = random_matrix(300, 3).array() + 1e6;
  const auto domain = in_turn(300, 4);
  for (const auto kind : {KernelKind::rbf, KernelKind::linear}) {
    const DistributionFit fit = fit_distribution_kernel({.kind = kind, .sigma = 2}, {x, domain, 4}, 0, context);
    EXPECT_LT(gap(fit.kernel.domains_of({x, domain, 4}, context), fit.k1), 1e-9) << kernel_name(kind);
  }
}

TEST(DomainWidth, IsTheMedianDistanceOfDomainsThatDiffer) {
  Matrix x(40, 1);
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < 40; ++i) {
    const auto d = static_cast<std::int32_t>(i / 10);
    domain.push_back(d);
    x(i, 0) = std::vector<double>{0, 1, 3, 7}[static_cast<std::size_t>(d)] + (i % 2 == 0 ? 0.1 : -0.1);
  }
  const MeanEmbeddings means = mean_embeddings({.kind = KernelKind::linear}, {x, domain, 4}, with_threads(1));
  const DomainWidth width = domain_width(means);
  for (const double factor : {1e-9, 0.3, 3.0, 1e9})
    EXPECT_EQ(domain_width(means, factor).sigma, std::max({factor * width.median, width.sampling, width.share}));
  // Distances 1, 3, 7, 2, 6, 4.
  EXPECT_NEAR(width.sigma, 3.5, 1e-12);
  EXPECT_FALSE(width.floored);
  // s^2 = 10/9 0.01, of ten rows each.
  EXPECT_NEAR(width.sampling, std::sqrt(2 * 0.01 / 9), 1e-12);
  EXPECT_NEAR(width.share, 0.25 * std::sqrt(0.1 / 9), 1e-12);
}

/// Domains whose means differ along two of five columns.
Matrix shifted_rows(Index per_domain, const Matrix& shift, std::uint64_t key) {
  Matrix x = random_matrix(per_domain * shift.rows(), 5, key);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) += shift.row(i / per_domain);
  return x;
}

std::vector<std::int32_t> blocks_of(Index per_domain, Index domains) {
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < per_domain * domains; ++i) domain.push_back(static_cast<std::int32_t>(i / per_domain));
  return domain;
}

/// Removes the differences of the training domains' means: what components of infinite weight on invariance do.
Matrix without_differences(const Matrix& x, const Matrix& training, Index per_domain, Index domains) {
  Matrix means(domains, x.cols());
  for (Index d = 0; d < domains; ++d) means.row(d) = training.middleRows(d * per_domain, per_domain).colwise().mean();
  Matrix result = x;
  // Gram-Schmidt over the differences, twice for the last digits.
  Matrix basis(0, x.cols());
  for (Index d = 1; d < domains; ++d) {
    Matrix v = means.row(d) - means.row(0);
    for (int pass = 0; pass < 2; ++pass)
      for (Index b = 0; b < basis.rows(); ++b) v -= v.row(0).dot(basis.row(b)) * basis.row(b);
    basis.conservativeResize(basis.rows() + 1, Eigen::NoChange);
    basis.bottomRows(1) = v / v.norm();
  }
  return result - (result * basis.transpose()) * basis;
}

TEST(DomainWidth, FloorKeepsAnUnseenDomainWhereTrainingOnesAreSqueezed) {
  const Context context = with_threads(2);
  for (const Index per_domain : {100, 5000}) {
    Matrix shift = random_matrix(4, 5, 3);
    shift.rightCols(3).setZero();
    const Matrix training = shifted_rows(per_domain, shift, 1);
    Matrix unseen_shift = random_matrix(1, 5, 4);
    unseen_shift.rightCols(3).setConstant(0.25);
    const Matrix unseen = shifted_rows(100, unseen_shift, 2);
    const Matrix z = without_differences(training, training, per_domain, 4);
    const Matrix z_new = without_differences(unseen, training, per_domain, 4);
    const auto domain = blocks_of(per_domain, 4);
    const std::vector<std::int32_t> one(100, 0);
    const DistributionFit fit = fit_distribution_kernel({.kind = KernelKind::linear}, {z, domain, 4}, 0, context);
    EXPECT_LT(fit.width.median, 1e-10);
    EXPECT_TRUE(fit.width.floored);
    EXPECT_FALSE(fit.width.fallback);
    const Matrix squared = fit.kernel.squared_distances({z_new, one, 1}, context);
    // The median alone leaves nothing of the training rows; the floor does.
    EXPECT_LT(domain_kernel(squared, std::max(fit.width.median, 1e-12)).maxCoeff(), 1e-300);
    EXPECT_GT(fit.kernel.domains_of({z_new, one, 1}, context).maxCoeff(), 0.2) << per_domain;
  }
}

TEST(DomainWidth, OfOneDomainOfSingleRowsAndOfEqualRows) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(50, 2);
  const std::vector<std::int32_t> one(50, 0);
  const MeanEmbeddings alone = mean_embeddings({}, {x, one, 1}, context);
  const DomainWidth width = domain_width(alone);
  EXPECT_TRUE(width.floored);
  EXPECT_NEAR(width.sampling, std::sqrt(2 * alone.spread[0] / 50), 1e-15);
  EXPECT_EQ(width.sigma, std::max(width.sampling, width.share));

  const std::vector<std::int32_t> single{0, 1, 2};
  const DomainWidth rows = domain_width(mean_embeddings({}, {x.topRows(3), single, 3}, context));
  EXPECT_FALSE(rows.floored);
  EXPECT_GT(rows.median, 0);

  const Matrix equal = Matrix::Constant(6, 2, 3.0);
  const std::vector<std::int32_t> two{0, 0, 0, 1, 1, 1};
  const DomainWidth none = domain_width(mean_embeddings({}, {equal, two, 2}, context));
  EXPECT_TRUE(none.fallback);
  EXPECT_EQ(none.sigma, 1);
}

TEST(DistributionKernel, SaysBeforeItTakesMemoryThatThereIsTooLittle) {
  const Context context = with_threads(1);
  const Matrix x = Matrix::Ones(3'000'000, 1);  // a Gram matrix of 72 TB
  const std::vector<std::int32_t> domain(3'000'000, 0);
  const DistributionKernel kernel({}, x, domain, Vector::Ones(1), 1);
  const Matrix k1 = Matrix::Ones(1, 1);
  EXPECT_EQ(test::code_of([&] { kernel.gram(k1, context); }), "not_enough_memory");
  EXPECT_EQ(test::code_of([&] { kernel.cross({x, domain, 1}, k1, context); }), "not_enough_memory");
}

TEST(DistributionKernel, RefusesWhatIsNoKernel) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(3, 2);
  const std::vector<std::int32_t> domain{0, 1, 1}, far{0, 1, 2};
  EXPECT_EQ(test::code_of([&] { fit_distribution_kernel({}, {x, far, 2}, 0, context); }), "shape_mismatch");
  EXPECT_EQ(test::code_of([&] {
              fit_distribution_kernel({}, {x.topRows(2), domain, 2}, 0, context);
            }),
            "shape_mismatch");
  EXPECT_EQ(test::code_of([&] { fit_distribution_kernel({}, {x, domain, 2}, -1, context); }), "bad_option");
  EXPECT_EQ(test::code_of([&] { fit_distribution_kernel({}, {Matrix(0, 2), {}, 2}, 0, context); }), "empty_data");
  Matrix bad = x;
  bad(1, 1) = std::nan("");
  EXPECT_EQ(test::code_of([&] { fit_distribution_kernel({}, {bad, domain, 2}, 0, context); }), "non_finite");
  const Vector norms = Vector::Ones(2);
  EXPECT_EQ(test::code_of([&] { DistributionKernel({}, x, far, norms, 1); }), "bad_kernel");
  EXPECT_EQ(test::code_of([&] { DistributionKernel({}, x, domain, -norms, 1); }), "bad_kernel");
  EXPECT_EQ(test::code_of([&] { DistributionKernel({}, bad, domain, norms, 1); }), "bad_kernel");
  EXPECT_EQ(test::code_of([&] { DistributionKernel({}, x, domain, norms, 0); }), "bad_option");
  const DistributionKernel kernel({}, x, domain, norms, 1);
  const std::vector<std::int32_t> one{0};
  EXPECT_EQ(test::code_of([&] { kernel.domains_of({Matrix::Zero(1, 3), one, 1}, context); }), "shape_mismatch");
  EXPECT_EQ(test::code_of([&] {
              kernel.cross({x.topRows(1), one, 1}, Matrix::Ones(1, 3), context);
            }),
            "shape_mismatch");
  EXPECT_EQ(test::code_of([&] {
              kernel.multiply({x.topRows(1), one, 1}, Matrix::Ones(1, 2), Matrix::Ones(2, 1), context);
            }),
            "shape_mismatch");
}

}  // namespace distribution_kernel_test
}  // namespace ecotone
