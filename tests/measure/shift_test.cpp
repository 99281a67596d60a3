#include "ecotone/measure/shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ecotone {
namespace shift_test {

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

SampleMoments of(const std::vector<double>& values) {
  SampleMoments result;
  for (const double value : values) result = result.merged({1, value, 0});
  return result;
}

// Numbers of scipy 1.17: ks_2samp's statistic and exact p-value, special.kolmogorov at the corrected argument.
TEST(KolmogorovSmirnov, AgreesWithScipy) {
  const auto a = sorted({0.1, -1.2, 2.5, 0.7, 0.3, 1.9, -0.4, 0.8, 1.1, 0.05});
  const auto b = sorted({1.4, 2.2, 0.9, 3.1, 1.8, 0.6, 2.7, 1.3, -0.2, 2.0, 1.0, 2.4});
  const KolmogorovSmirnov test = kolmogorov_smirnov(a, b);
  EXPECT_NEAR(test.statistic, 0.5333333333333333, 1e-12);
  EXPECT_NEAR(test.p, 0.05670917651562459, 1e-9);
  EXPECT_NEAR(test.p, 0.061746303232371354, 0.01);
  EXPECT_EQ(kolmogorov_smirnov(b, a).statistic, test.statistic);
}

TEST(KolmogorovSmirnov, AgreesWithScipyWhereValuesAreTied) {
  std::vector<double> a, b;
  for (int i = 0; i < 200; ++i) a.push_back(std::round(std::sin(i) * 10) / 10);
  for (int i = 0; i < 300; ++i) b.push_back(std::round(std::cos(i) * 13) / 10);
  const KolmogorovSmirnov test = kolmogorov_smirnov(sorted(a), sorted(b));
  EXPECT_NEAR(test.statistic, 0.20333333333333334, 1e-12);
  EXPECT_NEAR(test.p, 7.740152207402806e-05, 1e-9);
}

TEST(KolmogorovSmirnov, EndsOfItsRange) {
  const std::vector<double> low{1, 2, 3}, high{4, 5};
  EXPECT_EQ(kolmogorov_smirnov(low, high).statistic, 1);
  EXPECT_EQ(kolmogorov_smirnov(low, low).statistic, 0);
  EXPECT_EQ(kolmogorov_smirnov(low, low).p, 1);
  EXPECT_EQ(kolmogorov_smirnov(low, {}).p, 1);
}

TEST(KolmogorovTail, AgreesWithScipy) {
  EXPECT_NEAR(kolmogorov_tail(0.2), 0.999999999999495, 1e-12);
  EXPECT_NEAR(kolmogorov_tail(0.5), 0.9639452436648751, 1e-12);
  EXPECT_NEAR(kolmogorov_tail(0.999), 0.27107316411506394, 1e-12);
  EXPECT_NEAR(kolmogorov_tail(1.0), 0.26999967167735456, 1e-12);
  EXPECT_NEAR(kolmogorov_tail(1.5), 0.022217962616525127, 1e-12);
  EXPECT_NEAR(kolmogorov_tail(2.5), 7.453306344157342e-06, 1e-15);
  EXPECT_EQ(kolmogorov_tail(0), 1);
}

TEST(BenjaminiHochberg, AgreesWithScipy) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005, 0.5, 0.04};
  const std::vector<double> wanted{0.03, 0.048, 0.048, 0.03, 0.5, 0.048};
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], wanted[i], 1e-15) << i;
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

TEST(Holm, AgreesWithStatsmodels) {
  // multipletests(p, method="holm")
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005, 0.5, 0.04};
  const std::vector<double> wanted{0.05, 0.12, 0.12, 0.03, 0.5, 0.12};
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], wanted[i], 1e-15) << i;
  EXPECT_EQ(holm(std::vector<double>{0.03}).front(), 0.03);  // one comparison is not adjusted
  EXPECT_EQ(holm(std::vector<double>{0.6, 0.7}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(StandardisedMeanDifference, IsTheDifferenceInPooledDeviations) {
  const SampleMoments a = of({1, 2, 3, 4});     // variance 5/3
  const SampleMoments b = of({5, 5, 7, 7, 6});  // variance 1
  EXPECT_NEAR(*standardised_mean_difference(a, b), (2.5 - 6) / std::sqrt((5.0 / 3 + 1) / 2), 1e-14);
  EXPECT_EQ(*standardised_mean_difference(of({2, 2}), of({2, 2, 2})), 0);
  EXPECT_FALSE(standardised_mean_difference(of({2, 2}), of({3, 3})));
  EXPECT_FALSE(standardised_mean_difference(of({2, 2}), of({})));
}

TEST(SampleMoments, MergeAsIfAllWereOneSample) {
  const SampleMoments whole = of({1e8 + 1, 1e8 + 2, 1e8 + 4, 1e8 + 9});
  const SampleMoments parts = of({1e8 + 1, 1e8 + 2}).merged(of({1e8 + 4, 1e8 + 9}));
  EXPECT_EQ(parts.count, 4);
  EXPECT_NEAR(parts.mean, 1e8 + 4, 1e-7);
  EXPECT_NEAR(parts.m2, 38, 1e-6);
  EXPECT_NEAR(whole.m2, 38, 1e-6);
}

}  // namespace shift_test
}  // namespace ecotone
