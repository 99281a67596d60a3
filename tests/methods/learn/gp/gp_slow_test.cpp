#include "methods/learn/gp/gp_support.h"

namespace ecotone::test {
namespace gp_slow_test {

/// At the default rank means are within 0.01 of the labels' standard deviation of the exact ones.
TEST(GpLowRankSlow, IsTheExactProcessAtTheDefaultRank) {
  Random random(1, "gp_slow");
  const Index n = 4000;
  Matrix x(n + 500, 4);
  Vector y(n + 500);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < 4; ++j) x(i, j) = random.normal();
    y[i] = std::sin(2 * x(i, 0)) + x(i, 1) * x(i, 2) + 0.5 * x(i, 3) + 0.3 * random.normal();
  }
  const TrainView view = numbers_view(x.topRows(n), y.head(n), 4);
  const Batch fresh{Features::dense(x.bottomRows(500)), std::nullopt};
  const double deviation = std::sqrt((y.array() - y.mean()).square().mean());
  const StageResult low = fitted(view, {.route = GpRoute::low_rank});
  const StageState state = low.fitted->save();
  GpOptions options{.sigma = {state.number("sigma")}, .route = GpRoute::exact};
  options.amplitude = {state.number("amplitude")};
  options.noise = {state.number("noise")};
  const Prediction a = low.fitted->predict(fresh, context());
  const Prediction b = fitted(view, options).fitted->predict(fresh, context());
  RecordProperty("worst", std::to_string((a.value - b.value).cwiseAbs().maxCoeff() / deviation));
  EXPECT_LT((a.value - b.value).cwiseAbs().maxCoeff(), 0.01 * deviation);
  EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), 0.05 * b.variance.mean());
}

/// The same of the kernel on domains and rows.
TEST(GpLowRankSlow, OfDomainsIsTheExactProcessAtTheDefaultRank) {
  Random random(2, "gp_slow");
  const Index n = 4000, all = n + 500, domains = 10;
  Matrix x(all, 3);
  Vector y(all);
  for (Index i = 0; i < all; ++i) {
    const double place = static_cast<double>(i % domains) / static_cast<double>(domains - 1);
    x.row(i) << random.normal(), random.normal() + 2 * place, random.normal();
    y[i] = std::sin(x(i, 0)) * (1 - place) + x(i, 1) * x(i, 2) * place + 0.3 * random.normal();
  }
  const TrainView view = numbers_view(x.topRows(n), y.head(n), domains);
  const Batch fresh{Features::dense(x.bottomRows(500)), dealt_domains(500, domains)};
  const double deviation = std::sqrt((y.array() - y.mean()).square().mean());
  GpOptions options{.route = GpRoute::low_rank};
  options.distributional = true;
  const StageResult low = fitted(view, options);
  const StageState state = low.fitted->save();
  options.route = GpRoute::exact;
  options.sigma = {state.number("sigma")};
  options.amplitude = {state.number("amplitude")};
  options.noise = {state.number("noise")};
  options.sigma1 = {state.number("sigma1")};
  const Prediction a = low.fitted->predict(fresh, context());
  const Prediction b = fitted(view, options).fitted->predict(fresh, context());
  RecordProperty("worst", std::to_string((a.value - b.value).cwiseAbs().maxCoeff() / deviation));
  EXPECT_LT((a.value - b.value).cwiseAbs().maxCoeff(), 0.01 * deviation);
}

}  // namespace gp_slow_test
}  // namespace ecotone::test
