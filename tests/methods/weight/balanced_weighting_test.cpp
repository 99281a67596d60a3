#include "ecotone/methods/weight/balanced_weighting.h"

#include <cmath>

#include "methods/support.h"

namespace ecotone::test {
namespace balanced_weighting_test {

const std::vector<std::string> ratios = {"weight.kliep sigma=2", "weight.ulsif sigma=2 lam=0.1",
                                         "weight.rulsif sigma=2 lam=0.1 alpha=0.3"};

/// 60 rows of domain a, as many as asked for of them once more, 40 of domain b, and a target of 30.
TrainView with_copies_of_a(Index copies) {
  Random random(8, "balanced weighting");
  Matrix x(130 + copies, 2);
  for (Index i = 0; i < 130; ++i)
    for (Index j = 0; j < 2; ++j)
      x(i < 60 ? i : i + copies, j) = random.normal() + (i < 60 ? 0.0 : i < 100 ? 1.5 : 0.9);
  x.middleRows(60, copies) = x.topRows(copies);
  const Index sources = 100 + copies;
  TrainView view = view_of(Features::dense(x), class_labels({"no", "yes"}, std::vector<std::int32_t>(at(sources), 0)));
  view.domain.names = {"a", "b", "t"};
  view.role = {Role::source, Role::source, Role::target};
  for (Index i = 0; i < x.rows(); ++i) view.domain.index[at(i)] = i < 60 + copies ? 0 : i < sources ? 1 : 2;
  return view;
}

StageResult weighted(const std::string& text, const TrainView& view) {
  const Stage stage = Pipeline::parse(text + " flatten=none").stages().front();
  FitCache cache;
  return stage.method->fit(view, stage.options, context(), cache);
}

Vector weights_of(const std::string& text, const TrainView& view) { return weighted(text, view).next.weight; }

/// Every row of a domain twice: each copy has half the weight, and the ratio is that of before.
TEST(BalancedWeighting, CopiesOfADomainChangeNothing) {
  const TrainView once = with_copies_of_a(0), twice = with_copies_of_a(60);
  for (const std::string& stage : ratios) {
    const Vector before = weights_of(stage + " balance=true", once) / 100;
    const Vector after = weights_of(stage + " balance=true", twice) / 160;
    EXPECT_LT((2 * after.head(60) - before.head(60)).norm(), 1e-3 * before.norm()) << stage;
    EXPECT_LT((2 * after.segment(60, 60) - before.head(60)).norm(), 1e-3 * before.norm()) << stage;
    EXPECT_LT((after.tail(40) - before.tail(40)).norm(), 1e-3 * before.norm()) << stage;
    const Vector uneven = weights_of(stage, twice) / 160;
    EXPECT_GT((uneven.tail(40) - before.tail(40)).norm(), 1e-2 * before.norm()) << stage;
  }
}

/// Weights of kernel mean matching are nearly free, but the minimum is unique: it is that of before, where copies share
/// what one row may weigh at most.
TEST(BalancedWeighting, CopiesOfADomainAreMatchedAsBefore) {
  const auto minimum = [](const std::string& more, Index copies) {
    const StageResult result = weighted("weight.kmm sigma=1 most=1.5" + more, with_copies_of_a(copies));
    const auto rows = static_cast<double>(100 + copies);
    return result.fitted->save().info.at("chosen").at("objective").get<double>() / (rows * rows);
  };
  const double before = minimum(" balance=true", 0);
  EXPECT_NEAR(minimum(" balance=true", 60), before, 1e-5 * std::abs(before));
  EXPECT_GT(std::abs(minimum("", 60) - before), 1e-4 * std::abs(before));
}

/// Domains of one size count equally anyway.
TEST(BalancedWeighting, OfEqualDomainsChangesNothing) {
  TrainView view = with_copies_of_a(0);
  for (std::size_t i = 0; i < 100; ++i) view.domain.index[i] = i % 2 == 0 ? 0 : 1;
  for (const std::string& stage : ratios)
    EXPECT_LT((weights_of(stage + " balance=true", view) - weights_of(stage, view)).norm(), 1e-9) << stage;
}

/// balance=true is not weight.balance behind the stage, whose ratio is of the target to the pooled rows.
TEST(BalancedWeighting, EstimatesWithTheMasses) {
  const TrainView view = with_copies_of_a(60);
  const Vector balanced = weights_of("weight.ulsif sigma=2 lam=0.1 balance=true", view);
  Vector after = weights_of("weight.ulsif sigma=2 lam=0.1", view);
  after.head(120) *= 160.0 / 240;
  after.tail(40) *= 160.0 / 80;
  after /= after.mean();
  EXPECT_GT((balanced - after).norm(), 0.05 * after.norm());
}

TEST(BalancedWeighting, IsNotForDomainsOneByOne) {
  const TrainView view = with_copies_of_a(0);
  for (const std::string& stage : {ratios[0], ratios[1], ratios[2], std::string("weight.kmm")})
    EXPECT_EQ(code_of([&] { weights_of(stage + " balance=true per_source=true", view); }), "bad_option") << stage;
}

}  // namespace balanced_weighting_test
}  // namespace ecotone::test
