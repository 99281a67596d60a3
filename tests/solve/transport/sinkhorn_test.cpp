#include "ecotone/solve/transport/sinkhorn.h"

#include <map>

#include "ecotone/base/random.h"
#include "ecotone/solve/transport/network_simplex.h"
#include "golden_json.h"

namespace ecotone::test {
namespace sinkhorn_test {

const Context two({.threads = 2});

Vector equal(Index n) { return Vector::Constant(n, 1.0 / static_cast<double>(n)); }

TEST(Sinkhorn, Golden) {
  const Json file = golden_file("align", "11_transport");
  const Matrix x = matrix_of(file.at("inputs").at("Xs"));
  const Matrix y = matrix_of(file.at("inputs").at("Xt"));
  std::map<double, std::int32_t> known;
  std::vector<std::int32_t> cls;
  for (const double label : numbers_of(file.at("inputs").at("y")))
    cls.push_back(known.try_emplace(label, static_cast<std::int32_t>(known.size())).first->second);
  EXPECT_NEAR(mean_pair_cost(x, y, equal(9), equal(7)), file.at("inputs").at("mean_cost").get<double>(), 1e-12);
  int seen = 0;
  for (const Json& task : file.at("tasks")) {
    const bool by_class = task.at("op") == "sinkhorn_class";
    if (task.at("op") != "sinkhorn" && !by_class) continue;
    ++seen;
    EntropicOptions options{.reg = task.at("params").at("reg").get<double>()};
    if (by_class) options.eta = task.at("params").at("eta").get<double>();
    const std::vector<std::int32_t> none;
    const EntropicPlan plan = entropic_transport(x, y, equal(9), equal(7), by_class ? cls : none,
                                                 static_cast<Index>(known.size()), options, "transport", two);
    EXPECT_TRUE(plan.converged);
    const Matrix p = plan_of(x, y, cls, plan);
    EXPECT_LT((p - matrix_of(task.at("expect").at("plan"))).cwiseAbs().maxCoeff(), task.at("tol").get<double>())
        << task.at("op") << task.at("params");
    Matrix mapped = p * y;
    for (Index i = 0; i < 9; ++i) mapped.row(i) /= p.row(i).sum();
    EXPECT_LT((barycentric_map(x, y, cls, plan, two) - mapped).cwiseAbs().maxCoeff(), 1e-10);
  }
  EXPECT_EQ(seen, 3);
}

/// Rounds of classes before the last say what the classes cost. Whether these were solved to the end does not matter to
/// a last round that is.
TEST(Sinkhorn, TheLastRoundOfClassesDecides) {
  Random random(3, "sinkhorn");
  Matrix x(30, 2);
  Matrix y(20, 2);
  for (Index k = 0; k < 60; ++k) x.data()[k] = random.normal();
  for (Index k = 0; k < 40; ++k) y.data()[k] = 1 + random.normal();
  std::vector<std::int32_t> cls;
  for (int i = 0; i < 30; ++i) cls.push_back(i % 2);
  EntropicOptions options{.reg = 0.05, .tolerance = 1e-6, .eta = 1e-9};
  const EntropicPlan settled = entropic_transport(x, y, equal(30), equal(20), cls, 2, options, "t", two);
  EXPECT_TRUE(settled.converged);
  const EntropicPlan first =
      entropic_transport(x, y, equal(30), equal(20), {}, 0, {.reg = 0.05, .tolerance = 1e-6}, "t", two);
  EXPECT_EQ(first.sweeps_of_last, first.sweeps);
  options.max_sweeps = first.sweeps / 2 + 1;  // enough in two rounds, not in the first one
  const EntropicPlan cut = entropic_transport(x, y, equal(30), equal(20), cls, 2, options, "t", two);
  EXPECT_TRUE(cut.converged);
  EXPECT_LT(cut.residual, options.tolerance);
  EXPECT_LT(cut.sweeps_of_last, options.max_sweeps);
  const Matrix plan = plan_of(x, y, cls, cut);
  EXPECT_LT((plan.rowwise().sum() - equal(30)).cwiseAbs().sum(), 2 * options.tolerance);
  options.max_sweeps = 2;  // too few in all rounds together
  EXPECT_FALSE(entropic_transport(x, y, equal(30), equal(20), cls, 2, options, "t", two).converged);
}

TEST(Sinkhorn, ASmallRegIsNearTheExactPlan) {
  Random random(1, "sinkhorn");
  Matrix x(40, 2);
  Matrix y(30, 2);
  for (Index k = 0; k < 80; ++k) x.data()[k] = random.normal();
  for (Index k = 0; k < 60; ++k) y.data()[k] = 0.5 + random.normal();
  const ExactPlan exact = exact_transport(equal(40), equal(30), squared_distance_costs(x, y), "t", two);
  const EntropicPlan near =
      entropic_transport(x, y, equal(40), equal(30), {}, 0, {.reg = 0.004, .tolerance = 1e-4}, "t", two);
  EXPECT_TRUE(near.converged);
  EXPECT_NEAR(near.cost, exact.cost, 0.05 * exact.cost);
}

TEST(Sinkhorn, EqualBytesEqualRowsAndFarRows) {
  Random random(2, "sinkhorn");
  Matrix x(300, 3);
  Matrix y(200, 3);
  for (Index k = 0; k < x.size(); ++k) x.data()[k] = random.normal();
  for (Index k = 0; k < y.size(); ++k) y.data()[k] = random.normal();
  y.row(7) *= 1000;  // alone far away
  const EntropicPlan one = entropic_transport(x, y, equal(300), equal(200), {}, 0, {}, "t", Context({.threads = 1}));
  const EntropicPlan other = entropic_transport(x, y, equal(300), equal(200), {}, 0, {}, "t", Context({.threads = 7}));
  EXPECT_EQ(one.f, other.f);
  EXPECT_EQ(one.g, other.g);
  EXPECT_TRUE(barycentric_map(x, y, {}, one, two).allFinite());
  const EntropicPlan anew =
      entropic_transport(x, y, equal(300), equal(200), {}, 0, {.most_kept = 0}, "t", Context({.threads = 2}));
  EXPECT_EQ(one.f, anew.f);  // exponentials that are not kept are the same
  EXPECT_EQ(one.g, anew.g);
  // Scales that leave the range of numbers go back to the log domain.
  const EntropicPlan sharp = entropic_transport(x, y, equal(300), equal(200), {}, 0,
                                                {.reg = 1e-4, .tolerance = 1e-7, .max_sweeps = 200'000}, "t", two);
  EXPECT_TRUE(sharp.f.allFinite() && sharp.g.allFinite());
  EXPECT_TRUE(barycentric_map(x, y, {}, sharp, two).allFinite());
  const Matrix plan = plan_of(x, y, {}, sharp);
  EXPECT_NEAR((plan.rowwise().sum() - equal(300)).cwiseAbs().sum(), sharp.residual, 1e-9);
  EXPECT_LT((plan.colwise().sum().transpose() - equal(200)).cwiseAbs().sum(), 1e-3);
  const Matrix same = Matrix::Ones(5, 2);
  EXPECT_TRUE(entropic_transport(same, same, equal(5), equal(5), {}, 0, {}, "t", two).converged);
}

}  // namespace sinkhorn_test
}  // namespace ecotone::test
