#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/random.h"
#include "ecotone/solve/conformal/quantiles.h"
#include "ecotone/solve/conformal/scores.h"
#include "error_code.h"
#include "golden_json.h"

namespace ecotone::test::conformal_test {

ScoredDomains domains_of(const Json& lists) {
  ScoredDomains domains;
  for (const Json& list : lists) domains.push_back({numbers_of(list)});
  return domains;
}

TEST(Conformal, GoldenQuantiles) {
  const GoldenTasks golden("trust", "02_hcp");
  for (const Json& task : golden.of("hcp")) {
    const ScoredDomains domains = domains_of(task["scores"]);
    const double alpha = task["alpha"].get<double>();
    golden.expect(task, "quantile", hcp_quantile(domains, alpha));
    golden.compared(task, "finite");
    EXPECT_EQ(std::isfinite(hcp_quantile(domains, alpha)), task["expect"]["finite"].get<bool>());
    golden.expect(task, "cdf_quantile", cdf_quantile(domains, alpha));
    golden.expect(task, "pooled_quantile", pooled_quantile(domains, alpha));
    golden.expect(task, "largest_level", largest_level(domains.size()));
  }
  for (const Json& task : golden.of("domainwise")) {
    const Domainwise found =
        domainwise_quantile(domains_of(task["scores"]), task["alpha"].get<double>(), task["delta"].get<double>());
    golden.expect(task, "quantile", found.quantile);
    golden.expect(task, "domain_quantiles",
                  Vector(Eigen::Map<const Vector>(found.of_domain.data(), std::ssize(found.of_domain))));
  }
  for (const Json& task : golden.of("one_per_domain")) {
    std::vector<double> drawn;
    for (std::size_t k = 0; k < task["scores"].size(); ++k)
      drawn.push_back(number_of(task["scores"][k][task["index"][k].get<std::size_t>()]));
    golden.expect(task, "quantile", split_quantile(drawn, task["alpha"].get<double>()));
  }
}

TEST(Conformal, GoldenJackknife) {
  const GoldenTasks golden("trust", "02_hcp");
  for (const Json& task : golden.of("hcp_pvalue")) {
    const JackknifeScores scores(domains_of(task["scores"]));
    const double p = scores.p_value(numbers_of(task["new_score"]));
    golden.expect(task, "p_value", p);
    golden.compared(task, "included");
    EXPECT_EQ(included(p, task["alpha"].get<double>()), task["expect"]["included"].get<bool>());
  }
  for (const Json& task : golden.of("jackknife_plus_interval")) {
    const JackknifeScores scores(domains_of(task["scores"]));
    golden.expect(task, "low", scores.lower(numbers_of(task["predictions"]), task["alpha"].get<double>()));
    golden.expect(task, "high", scores.upper(numbers_of(task["predictions"]), task["alpha"].get<double>()));
  }
}

TEST(Conformal, GoldenSets) {
  const GoldenTasks golden("trust", "03_sets");
  for (const Json& task : golden.of("class_scores")) {
    const Matrix probability = matrix_of(task["probability"]);
    const std::string name = task["score"].get<std::string>();
    const ClassScore kind = name == "lac" ? ClassScore::lac : name == "aps" ? ClassScore::aps : ClassScore::raps;
    Matrix scores(probability.rows(), probability.cols());
    for (Index i = 0; i < probability.rows(); ++i) {
      const Vector row = class_scores(probability.row(i).transpose(), kind);
      scores.row(i) = row.transpose();
      EXPECT_EQ(Json(class_set(row, number_of(task["quantile"]))), task["expect"]["sets"][at(i)]) << task.dump();
    }
    golden.compared(task, "sets");
    golden.expect(task, "scores", scores);
  }
  for (const Json& task : golden.of("regression_scores")) {
    const Vector y = vector_of(task["y"]);
    const double q = task["quantile"].get<double>();
    Vector score(y.size()), low(y.size()), high(y.size());
    for (Index i = 0; i < y.size(); ++i) {
      NumberInterval interval;
      if (task["kind"] == "cqr") {
        const double l = vector_of(task["low"])[i], h = vector_of(task["high"])[i];
        score[i] = quantile_score(y[i], l, h);
        interval = widened(l, h, q);
      } else {
        const NumberScore kind = task["kind"] == "absolute" ? NumberScore::absolute : NumberScore::scaled;
        const double scale = task.contains("scale") ? vector_of(task["scale"])[i] : 1;
        const double f = vector_of(task["prediction"])[i];
        score[i] = number_score(kind, y[i], f, scale);
        interval = number_interval(kind, f, scale, q);
      }
      low[i] = interval.low;
      high[i] = interval.high;
    }
    golden.expect(task, "scores", score);
    golden.expect(task, "low", low);
    golden.expect(task, "high", high);
  }
}

TEST(Conformal, GoldenErrors) {
  const GoldenTasks golden("trust", "10_errors");
  for (const Json& task : golden.of("hcp"))
    EXPECT_EQ(code_of([&] { hcp_quantile(domains_of(task["scores"]), task["alpha"].get<double>()); }),
              task["expect"]["error"].get<std::string>())
        << task.dump();
}

ScoredDomains random_domains(Index count, std::uint64_t seed) {
  Random random(seed, "domains", 0);
  ScoredDomains domains(at(count));
  for (ScoredDomain& domain : domains) {
    const Index rows = 1 + static_cast<Index>(random.uniform() * 30);
    const double shift = random.normal();
    for (Index i = 0; i < rows; ++i) domain.score.push_back(std::abs(shift + random.normal()));
  }
  return domains;
}

TEST(Conformal, JackknifeWithOneModelIsHcp) {
  // If leaving a domain out changes nothing, p-values and intervals are those of the hierarchical quantile.
  const ScoredDomains domains = random_domains(12, 3);
  const JackknifeScores scores(domains);
  for (const double alpha : {0.1, 0.2, 0.35}) {
    const double q = hcp_quantile(domains, alpha);
    for (double s = 0; s < 4; s += 0.01) {
      if (std::abs(s - q) < 1e-9) continue;
      EXPECT_EQ(included(scores.p_value(std::vector<double>(12, s)), alpha), s < q) << s << " " << q;
    }
    EXPECT_NEAR(scores.upper(std::vector<double>(12, 1.5), alpha), 1.5 + q, 1e-12);
    EXPECT_NEAR(scores.lower(std::vector<double>(12, 1.5), alpha), 1.5 - q, 1e-12);
  }
  EXPECT_EQ(scores.upper(std::vector<double>(12, 0), 0.05), HUGE_VAL);
  EXPECT_EQ(scores.lower(std::vector<double>(12, 0), 0.05), -HUGE_VAL);
}

TEST(Conformal, JackknifeEndsAreAmongTheValues) {
  const ScoredDomains domains = random_domains(10, 5);
  const JackknifeScores scores(domains);
  std::vector<double> prediction;
  for (int k = 0; k < 10; ++k) prediction.push_back(std::sin(k));
  std::vector<double> values, weights;
  for (std::size_t k = 0; k < 10; ++k)
    for (const double s : domains[k].score) {
      values.push_back(prediction[k] + s);
      weights.push_back(1 / static_cast<double>(domains[k].score.size()));
    }
  for (const double alpha : {0.1, 0.15, 0.3, 0.5})
    EXPECT_EQ(scores.upper(prediction, alpha), WeightedQuantiles(values, weights).at(1 - alpha, 1));
}

TEST(Conformal, JackknifeEndsAlsoOfHugeScores) {
  // Halving from -inf, or over more than the largest number, comes to an end.
  const JackknifeScores endless(ScoredDomains(3, {{-1.7e308, 1.7e308}}));
  EXPECT_EQ(endless.upper({-1.7e308, -1.7e308, -1.7e308}, 0.3), 0);
  const JackknifeScores wide(ScoredDomains(3, {{0.0}}));
  EXPECT_EQ(wide.upper({-1.5e308, 0, 1.5e308}, 0.5), 0);
  EXPECT_EQ(wide.lower({-1.5e308, 0, 1.5e308}, 0.5), 0);
}

TEST(Conformal, LevelsOfNoDomainsAreNothing) {
  EXPECT_EQ(largest_level(0), 0);
  EXPECT_EQ(useful_level(0), 0);
  EXPECT_EQ(useful_level(1), 0);
  EXPECT_EQ(useful_level(3), 0.5);
}

TEST(Conformal, RowWeightsCountWithinTheirDomain) {
  // A row of weight 2 is two rows, and the weights of a domain have no scale.
  const ScoredDomains twice = {{{1, 2, 2, 3}}, {{5, 6}}, {{0, 1}}, {{2}}};
  const ScoredDomains weighted = {{{1, 2, 3}, {10, 20, 10}}, {{5, 6}}, {{0, 1}}, {{2}}};
  for (const double alpha : {0.25, 0.3, 0.5}) {
    EXPECT_EQ(hcp_quantile(weighted, alpha), hcp_quantile(twice, alpha));
    EXPECT_EQ(cdf_quantile(weighted, alpha), cdf_quantile(twice, alpha));
    EXPECT_EQ(domainwise_quantile(weighted, alpha, 0.3).quantile, domainwise_quantile(twice, alpha, 0.3).quantile);
  }
  EXPECT_EQ(coverage(weighted[0], 2), 0.75);
  EXPECT_EQ(code_of([] { hcp_quantile({{{1}}, {{2}, {0}}}, 0.1); }), "zero_weights");
}

TEST(Conformal, CoversExchangeableDomains) {
  // The promise: a row of a new domain is covered with probability 1 - alpha, averaged over domains.
  double hcp = 0, cdf = 0;
  constexpr int draws = 400;
  for (int draw = 0; draw < draws; ++draw) {
    ScoredDomains domains = random_domains(21, 100 + static_cast<std::uint64_t>(draw));
    const ScoredDomain fresh = domains.back();
    domains.pop_back();
    hcp += coverage(fresh, hcp_quantile(domains, 0.1)) / draws;
    cdf += coverage(fresh, cdf_quantile(domains, 0.1)) / draws;
  }
  EXPECT_GT(hcp, 0.9 - 0.015);
  EXPECT_GT(hcp, cdf);
  EXPECT_GT(cdf, 0.84);
}

}  // namespace ecotone::test::conformal_test
