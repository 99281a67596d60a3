// What the low-rank route of svm loses beside the exact one at 4,000 rows, pooled and distributional.
#include "ecotone/methods/learn/svm/svm.h"
#include "ecotone/methods/represent/components/components.h"
#include "methods/support.h"

namespace ecotone::test {
namespace svm_low_rank_slow_test {

/// Normal rows; two columns are moved from domain to domain, and where the classes part moves with them; one label in
/// twenty is wrong.
TrainView moved(Index rows, Index cols, Index domains, std::uint64_t key) {
  TrainView view = overlapping(rows, cols, 2, domains, 0);
  Random random(key, "moved"), places(1, "places", key);
  Matrix move(domains, 2), x(rows, cols);
  for (double& v : move.reshaped()) v = 1.5 * places.normal();
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
    const double score = x(i, 0) * x(i, 1) + std::sin(2 * x(i, 2)) + 0.5 * x(i, 3);
    const bool wrong = random.uniform() < 0.05;
    view.y.index[static_cast<std::size_t>(i)] = (score > 0) != wrong ? 1 : 0;
    x.row(i).head(2) += move.row(view.domain.index[static_cast<std::size_t>(i)]);
  }
  view.x = Features::dense(std::move(x));
  return view;
}

double accuracy(const StageResult& result, const TrainView& test) {
  const Prediction prediction = result.fitted->predict({test.x, test.domain}, context());
  double right = 0;
  for (std::size_t i = 0; i < prediction.index.size(); ++i) right += prediction.index[i] == test.y.index[i] ? 1 : 0;
  return right / static_cast<double>(prediction.index.size());
}

/// Both routes, pooled and distributional: as many right answers to half a point, either way.
void expect_alike(const char* what, const TrainView& train, const TrainView& test) {
  for (const bool distributional : {false, true}) {
    for (const double cost : {1.0, 10.0}) {
      SvmOptions options{.cost = cost, .distributional = distributional};
      FitCache cache;
      options.route = SvmRoute::exact;
      const double exact = accuracy(Svm::fit(train, options, context(), cache), test);
      options.route = SvmRoute::low_rank;  // at the default rank
      const StageResult fit = Svm::fit(train, options, context(), cache);
      const double ours = accuracy(fit, test);
      std::printf("%s, %s, C = %g: exact %.4f, low rank %.4f\n", what, distributional ? "distributional" : "pooled",
                  cost, exact, ours);
      EXPECT_TRUE(fit.status.converged);
      EXPECT_GT(exact, 0.55);
      EXPECT_NEAR(ours, exact, 0.005) << what << " " << distributional << " " << cost;
    }
  }
}

TEST(SvmLowRankSlow, IsWithinHalfAPointOfTheExactRouteAtFourThousandRows) {
  expect_alike("5 columns", moved(4000, 5, 10, 1), moved(20'000, 5, 10, 2));
  expect_alike("10 columns", moved(4000, 10, 10, 1), moved(20'000, 10, 10, 2));
}

TEST(SvmLowRankSlow, IsWithinHalfAPointOfTheExactRouteBehindComponents) {
  const TrainView train = moved(4000, 5, 10, 1);
  TrainView test = moved(20'000, 5, 10, 2);
  ComponentStageOptions options;
  options.components = 50;
  const StageResult components = fit_components({"kpca", false, false}, train, options, context());
  ASSERT_TRUE(components.next.kernel_coordinates);
  test.x = Features::dense(components.fitted->transform({test.x, test.domain}, context()).to_matrix());
  expect_alike("50 components", components.next, test);
}

}  // namespace svm_low_rank_slow_test
}  // namespace ecotone::test
