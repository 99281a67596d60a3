#include "ecotone/solve/transport/network_simplex.h"

#include <algorithm>
#include <numeric>

#include "ecotone/base/random.h"
#include "error_code.h"
#include "golden_json.h"

namespace ecotone::test {
namespace network_simplex_test {

Matrix normal_rows(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, "network_simplex_test");
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
  return x;
}

Matrix plan_matrix(const ExactPlan& plan, Index n, Index m) {
  Matrix result = Matrix::Zero(n, m);
  for (const TransportMass& each : plan.moved) result(each.from, each.to) += each.mass;
  return result;
}

const Context two({.threads = 2});

TEST(NetworkSimplex, Golden) {
  const Json file = golden_file("align", "11_transport");
  const Matrix x = matrix_of(file.at("inputs").at("Xs"));
  const Matrix y = matrix_of(file.at("inputs").at("Xt"));
  const Json& task = file.at("tasks").front();
  ASSERT_EQ(task.at("op"), "emd");
  const ExactPlan plan = exact_transport(Vector::Constant(9, 1.0 / 9), Vector::Constant(7, 1.0 / 7),
                                         squared_distance_costs(x, y), "transport", two);
  const double most = task.at("tol").get<double>();
  EXPECT_NEAR(plan.cost, task.at("expect").at("cost").get<double>(), most);
  EXPECT_LT((plan_matrix(plan, 9, 7) - matrix_of(task.at("expect").at("plan"))).cwiseAbs().maxCoeff(), most);
}

/// Whole numbers cannot tell them apart, so any plan is as good.
TEST(NetworkSimplex, CostsNearTheSmallestNumberCountAsNothing) {
  const Matrix y = normal_rows(7, 2, 2);
  for (const double scale : {1e-148, 1e-155, 0.0}) {
    const Matrix x = scale * normal_rows(9, 2, 1), to = scale * y;
    const ExactPlan plan = exact_transport(Vector::Constant(9, 1.0 / 9), Vector::Constant(7, 1.0 / 7),
                                           squared_distance_costs(x, to), "t", two);
    const Matrix p = plan_matrix(plan, 9, 7);
    EXPECT_LT((p.rowwise().sum().array() - 1.0 / 9).abs().maxCoeff(), 1e-15) << scale;
    EXPECT_LT((p.colwise().sum().array() - 1.0 / 7).abs().maxCoeff(), 1e-15) << scale;
    EXPECT_EQ(plan.rounding, 0) << scale;
    EXPECT_LT(plan.cost, 1e-290) << scale;
  }
}

/// In one dimension the plan sorts both sides.
TEST(NetworkSimplex, SortsInOneDimension) {
  for (const Index n : {1, 2, 5, 40, 333}) {
    const Index m = 3 * n / 2 + 1;
    const Matrix x = normal_rows(n, 1, 1);
    const Matrix y = normal_rows(m, 1, 2);
    const ExactPlan plan =
        exact_transport(Vector::Constant(n, 1.0 / static_cast<double>(n)),
                        Vector::Constant(m, 1.0 / static_cast<double>(m)), squared_distance_costs(x, y), "t", two);
    std::vector<double> a(x.data(), x.data() + n);
    std::vector<double> b(y.data(), y.data() + m);
    std::ranges::sort(a);
    std::ranges::sort(b);
    double cost = 0;
    const Index steps = n * m;
    for (Index s = 0; s < steps; ++s) {
      const double apart = a[at(s / m)] - b[at(s / n)];
      cost += apart * apart / static_cast<double>(steps);
    }
    EXPECT_NEAR(plan.cost, cost, 1e-9 * std::max(1.0, cost)) << n;
  }
}

/// Optimal by duality: potentials from the plan leave no arc that would lower the cost; masses are kept.
TEST(NetworkSimplex, WeightsTiesAndZeroMasses) {
  Random random(5, "masses");
  for (const bool ties : {false, true}) {
    const Index n = 60;
    const Index m = 45;
    Matrix x = normal_rows(n, 2, 3);
    Matrix y = normal_rows(m, 2, 4);
    if (ties) {
      x = x.array().round();
      y = y.array().round();
    }
    Vector a(n);
    Vector b(m);
    for (Index i = 0; i < n; ++i) a[i] = i % 7 == 0 ? 0 : random.uniform();
    for (Index j = 0; j < m; ++j) b[j] = j % 5 == 0 ? 0 : random.uniform();
    a /= a.sum();
    b /= b.sum();
    const ExactPlan plan = exact_transport(a, b, squared_distance_costs(x, y), "t", two);
    const Matrix p = plan_matrix(plan, n, m);
    EXPECT_LT((p.rowwise().sum() - a).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LT((p.colwise().sum().transpose() - b).cwiseAbs().maxCoeff(), 1e-13);
    // No cycle of moved masses can be turned around with a gain: Bellman-Ford on the residual network.
    Vector distance = Vector::Zero(n + m);
    bool changed = true;
    int rounds = 0;
    for (; changed && rounds < n + m + 1; ++rounds) {
      changed = false;
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j) {
          const double cost = (x.row(i) - y.row(j)).squaredNorm();
          if (distance[i] + cost < distance[n + j] - 1e-9) {
            distance[n + j] = distance[i] + cost;
            changed = true;
          }
          if (p(i, j) > 1e-13 && distance[n + j] - cost < distance[i] - 1e-9) {
            distance[i] = distance[n + j] - cost;
            changed = true;
          }
        }
    }
    EXPECT_FALSE(changed) << "a cycle of negative cost";
  }
}

TEST(NetworkSimplex, EqualBytesAndWithoutKeptCosts) {
  const Matrix x = normal_rows(200, 3, 7);
  const Matrix y = normal_rows(150, 3, 8);
  const Vector a = Vector::Constant(200, 1.0 / 200);
  const Vector b = Vector::Constant(150, 1.0 / 150);
  const ExactPlan one = exact_transport(a, b, squared_distance_costs(x, y), "t", Context({.threads = 1}));
  const ExactPlan other = exact_transport(a, b, squared_distance_costs(x, y), "t", Context({.threads = 7}));
  EXPECT_EQ(plan_matrix(one, 200, 150), plan_matrix(other, 200, 150));
  EXPECT_EQ(one.cost, other.cost);
  // Few sources and many sinks: beyond the limit up to which costs are kept.
  const Matrix many = normal_rows(most_kept_transport + 1, 1, 9);
  const Vector c = Vector::Constant(many.rows(), 1.0 / static_cast<double>(many.rows()));
  const ExactPlan lazy =
      exact_transport(Vector::Constant(3, 1.0 / 3), c, squared_distance_costs(x.topLeftCorner(3, 1), many), "t", two);
  EXPECT_NEAR(std::accumulate(lazy.moved.begin(), lazy.moved.end(), 0.0,
                              [](double sum, const TransportMass& each) { return sum + each.mass; }),
              1, 1e-12);
}

TEST(NetworkSimplex, RefusesByName) {
  const Matrix x = Matrix::Zero(1, 1);
  const Matrix y = Matrix::Zero(most_exact_transport + 1, 1);
  const Vector b = Vector::Constant(y.rows(), 1.0 / static_cast<double>(y.rows()));
  EXPECT_EQ(code_of([&] { exact_transport(Vector::Ones(1), b, squared_distance_costs(x, y), "t", two); }),
            "too_many_rows");
  const Matrix far = Matrix::Constant(1, 1, 1e200);
  EXPECT_EQ(
      code_of([&] { exact_transport(Vector::Ones(1), Vector::Ones(1), squared_distance_costs(x, far), "t", two); }),
      "non_finite");
}

}  // namespace network_simplex_test
}  // namespace ecotone::test
