#include "ecotone/methods/domain_samples.h"

#include "methods/support.h"

namespace ecotone::test {
namespace domain_samples_test {

MomentPrior prior_of(const Vector& mean, const Vector& variance) {
  return {mean, variance, Vector::Zero(mean.size()), Vector::Zero(mean.size()), {}};
}

TEST(DomainSamples, AreMeansOverColumnsThatVary) {
  const MomentPrior prior = prior_of(Vector{{1, 2, 3}}, Vector{{4, 0, 9}});
  const SampleDistance found = sample_distance(prior, Vector{{5, 70, 0}}, Vector{{1, 1, 6}});
  EXPECT_DOUBLE_EQ(found.moved, (2.0 + 1.0) / 2);
  EXPECT_DOUBLE_EQ(found.spread, (0.5 + 2.0) / 2);
  const SampleDistance none = sample_distance(prior_of(Vector{{1}}, Vector{{0}}), Vector{{5}}, Vector{{1}});
  EXPECT_EQ(none.moved, 0);
  EXPECT_EQ(none.spread, 1);
}

/// Without shrinkage the distances are those of the domain's own mean and deviation: of (0, 2, 4) and (10, 12, 14).
TEST(DomainSamples, OfGroups) {
  std::vector<GroupMoments> groups(2, GroupMoments(1, ScatterKind::diagonal));
  groups[0].add(Matrix{{0}, {2}, {4}}, Vector());
  groups[1].add(Matrix{{10}, {12}, {14}}, Vector());
  const MomentPrior prior = moment_prior(groups, "test");
  for (const SampleDistance& each :
       sample_distances(prior, groups, {.mean = 0.0, .deviation = 0.0, .covariance = {}})) {
    EXPECT_NEAR(each.moved, 5.0 / 2.0, 1e-12);
    EXPECT_NEAR(each.spread, 1, 1e-12);
  }
}

TEST(DomainSamples, AreSavedByDomain) {
  StageState state;
  save_samples({"a", "b"}, Vector{{3, 4}}, {{0.5, 2}, {0.25, 1}}, state);
  EXPECT_EQ(state.info.at("samples")[1], (Json{{"domain", "b"}, {"rows", 4.0}, {"moved", 0.25}, {"spread", 1.0}}));
  const std::vector<SampleDistance> again = load_samples(state, 2);
  EXPECT_EQ(again[0].moved, 0.5);
  EXPECT_EQ(again[0].spread, 2);
  EXPECT_EQ(code_of([&] { load_samples(state, 3); }), "bad_model");
  state.info["samples"][0]["moved"] = "far";
  EXPECT_EQ(code_of([&] { load_samples(state, 2); }), "bad_model");
  state.info.erase("samples");
  EXPECT_EQ(code_of([&] { load_samples(state, 2); }), "bad_model");
}

}  // namespace domain_samples_test
}  // namespace ecotone::test
