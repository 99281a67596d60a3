#include "ecotone/kernels/domain_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "ecotone/base/json.h"
#include "ecotone/kernels/rbf.h"
#include "linalg/support.h"
#include "source_dir.h"

namespace ecotone {
namespace domain_sums_test {

std::vector<std::int32_t> in_turn(Index rows, std::int32_t domains) {
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < rows; ++i) domain.push_back(static_cast<std::int32_t>(i * i % domains));
  return domain;
}

/// Q = F F', F = N^(-1/2) E (I - 11'/N), E = indicator / n_i.
Matrix q_of(const std::vector<std::int32_t>& domain, Index domains) {
  Matrix e = Matrix::Zero(static_cast<Index>(domain.size()), domains);
  for (std::size_t i = 0; i < domain.size(); ++i) e(static_cast<Index>(i), domain[i]) = 1;
  for (Index d = 0; d < domains; ++d) e.col(d) /= e.col(d).sum();
  const auto n = static_cast<double>(domains);
  const Matrix f = e * (Matrix::Identity(domains, domains) - Matrix::Constant(domains, domains, 1 / n)) / std::sqrt(n);
  return f * f.transpose();
}

TEST(DomainSums, AreTheSumsOverTheGramMatrix) {
  const Matrix x = random_matrix(700, 4);
  const auto domain = in_turn(700, 5);
  const Context context = with_threads(2);
  const Matrix k = rbf_gram(x, 1.3, context);
  Matrix sum = Matrix::Zero(5, 5);
  for (Index i = 0; i < 700; ++i)
    for (Index j = 0; j < 700; ++j)
      sum(domain[static_cast<std::size_t>(i)], domain[static_cast<std::size_t>(j)]) += k(i, j);
  const DomainSums tiled = rbf_domain_sums(x, domain, 5, 1.3, context);
  EXPECT_LT((tiled.sum - sum).cwiseAbs().maxCoeff(), 1e-9);
  const DomainSums whole = gram_domain_sums(k, domain, 5);
  EXPECT_LT((whole.sum - sum).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(whole.self, tiled.self);
}

TEST(DistributionalVariance, IsTheTraceOfKQForRawAndCentredGram) {
  const Matrix x = random_matrix(150, 3);
  const auto domain = in_turn(150, 7);  // four domains occur
  std::vector<std::int32_t> names;
  std::map<std::int32_t, std::int32_t> place;
  for (const auto d : domain) names.push_back(place.emplace(d, static_cast<std::int32_t>(place.size())).first->second);
  const auto domains = static_cast<Index>(place.size());
  const Context context = with_threads(1);
  const Matrix k = rbf_gram(x, 1.1, context);
  const Matrix h = Matrix::Identity(150, 150) - Matrix::Constant(150, 150, 1.0 / 150);
  const Matrix q = q_of(names, domains);
  const double value = rbf_domain_sums(x, names, domains, 1.1, context).distributional_variance();
  EXPECT_NEAR(value, (k * q).trace(), 1e-13);
  EXPECT_NEAR(value, (h * k * h * q).trace(), 1e-13);
  // A domain that has no row changes nothing.
  EXPECT_NEAR(rbf_domain_sums(x, names, domains + 2, 1.1, context).distributional_variance(), value, 1e-14);
}

TEST(DistributionalVariance, IsTheMeanOfSquaredDistancesOfMeans) {
  const Matrix x = random_matrix(200, 3);
  const DomainSums single = rbf_domain_sums(x, std::vector<std::int32_t>(200, 0), 1, 1.0, with_threads(1));
  // One domain: no variance.
  EXPECT_NEAR(single.distributional_variance(), 0, 1e-15);
  std::vector<std::int32_t> two(200, 1);
  std::fill_n(two.begin(), 80, 0);
  const DomainSums pair = rbf_domain_sums(x, two, 2, 1.0, with_threads(1));
  const Matrix g = pair.mean_gram();
  // tr(KQ) = ||mu_1 - mu_2||^2 / 4
  EXPECT_NEAR(pair.distributional_variance(), (g(0, 0) + g(1, 1) - 2 * g(0, 1)) / 4, 1e-15);
  EXPECT_NEAR(pair.unbiased_distributional_variance(), pair.mmd_squared(0, 1) / 4, 1e-15);
}

TEST(DistributionalVariance, AgreesWithTheGoldenNumbers) {
  for (const std::string name : {"basic_rbf_delta", "tiny_domains", "huge_offset"}) {
    std::ifstream file(source_dir() / "tests/golden/dica" / (name + ".json"));
    ASSERT_TRUE(file) << name;
    const Json json = Json::parse(file);
    const Json& rows = json.at("X");
    Matrix x(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) x(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    const auto order = json.at("expected").at("domain_order").get<std::vector<int>>();
    std::vector<std::int32_t> domain;
    for (const int d : json.at("domain").get<std::vector<int>>())
      domain.push_back(static_cast<std::int32_t>(std::find(order.begin(), order.end(), d) - order.begin()));
    const DomainSums sums =
        rbf_domain_sums(x, domain, static_cast<Index>(order.size()), json.at("kernel").at("sigma"), with_threads(2));
    const double wanted = json.at("expected").at("tr_KQ");
    EXPECT_NEAR(sums.distributional_variance(), wanted, 1e-9 * wanted) << name;
    const Matrix g = sums.mean_gram();
    for (std::size_t a = 0; a < order.size(); ++a)
      for (std::size_t b = 0; b < order.size(); ++b)
        EXPECT_NEAR(g(static_cast<Index>(a), static_cast<Index>(b)),
                    json.at("expected").at("mean_gram")[a][b].get<double>(), 1e-9)
            << name;
  }
}

TEST(DomainSums, SameBytesForAnyThreads) {
  const Matrix x = random_matrix(1500, 3);
  const auto domain = in_turn(1500, 5);
  const Matrix one = rbf_domain_sums(x, domain, 5, 1, with_threads(1)).sum;
  for (const int threads : {2, 7})
    EXPECT_TRUE(same_bytes(one, rbf_domain_sums(x, domain, 5, 1, with_threads(threads)).sum));
}

}  // namespace domain_sums_test
}  // namespace ecotone
