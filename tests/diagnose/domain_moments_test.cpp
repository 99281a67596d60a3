#include "ecotone/diagnose/domain_moments.h"

#include <cmath>
#include <limits>

#include "evaluate/support.h"

namespace ecotone::test {
namespace domain_moments_test {

TEST(DomainMoments, AreThoseOfEachDomainWithAllDigits) {
  Dataset data = tiny(3, 700);
  Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) {
    x(i, 1) += 1e7 * data.domain.index[static_cast<std::size_t>(i)];  // far apart, the spread stays
    if (i % 5 == 0) x(i, 0) = std::numeric_limits<double>::quiet_NaN();
  }
  data.x = Features::dense(x, data.x.names());
  const DomainMoments found = domain_moments(data, on(2));
  for (Index j = 0; j < 2; ++j) {
    SampleMoments all;
    for (Index d = 0; d < 3; ++d) {
      SampleMoments wanted;
      for (Index i = 0; i < x.rows(); ++i)
        if (data.domain.index[static_cast<std::size_t>(i)] == d && !std::isnan(x(i, j)))
          wanted = wanted.merged({1, x(i, j), 0});
      EXPECT_EQ(found.of(d, j).count, wanted.count);
      EXPECT_NEAR(found.of(d, j).mean, wanted.mean, 1e-14 * (1 + std::abs(wanted.mean)));
      EXPECT_NEAR(found.of(d, j).m2, wanted.m2, 1e-6 * wanted.m2);
      if (d != 1) all = all.merged(wanted);
    }
    EXPECT_EQ(found.without(1, j).count, all.count);
    EXPECT_NEAR(found.without(1, j).m2, all.m2, 1e-6 * all.m2);
  }
}

TEST(DomainMoments, SameBytesForAnyThreads) {
  const Dataset data = tiny(5, 3000);
  const DomainMoments one = domain_moments(data, on(1));
  const DomainMoments many = domain_moments(data, on(7));
  EXPECT_EQ(one.mean, many.mean);
  EXPECT_EQ(one.m2, many.m2);
}

}  // namespace domain_moments_test
}  // namespace ecotone::test
