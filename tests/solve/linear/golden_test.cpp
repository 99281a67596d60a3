// The golden cases of tests/golden/logistic that concern linear models, with every solver that can solve them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/solve/linear/linear.h"
#include "source_dir.h"

namespace ecotone {
namespace linear_golden_test {

Matrix read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
  }
  Matrix x(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
  return x;
}

double number(const Json& cell) {
  return cell.is_string() ? std::numeric_limits<double>::quiet_NaN() : cell.get<double>();
}

Matrix read_inline(const Json& rows) {
  const auto cols = rows.at(0).is_array() ? rows.at(0).size() : std::size_t{1};
  Matrix x(static_cast<Index>(rows.size()), static_cast<Index>(cols));
  for (Index i = 0; i < x.rows(); ++i) {
    const Json& row = rows[static_cast<std::size_t>(i)];
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = number(row.is_array() ? row[static_cast<std::size_t>(j)] : row);
  }
  return x;
}

class Case {
 public:
  explicit Case(const std::string& name) : folder_(source_dir() / "tests/golden/logistic" / name) {
    std::ifstream file(folder_ / "case.json");
    EXPECT_TRUE(file) << folder_;
    json_ = Json::parse(file);
  }

  /// The tasks of one kind.
  std::vector<Json> tasks(const std::string& op) const {
    std::vector<Json> result;
    for (const Json& task : json_.at("tasks")) {
      if (task.at("op") == op) result.push_back(task);
    }
    return result;
  }
  double tolerance(const std::string& field) const { return json_.at("tol").at(field).get<double>(); }

  Matrix values(const Json& task, const std::string& field) const {
    if (task.contains(field + "_inline")) return read_inline(task.at(field + "_inline"));
    if (task.contains(field)) return read_csv(folder_ / task.at(field).get<std::string>());
    return {};
  }

  Vector vector(const Json& task, const std::string& field) const {
    const Matrix all = values(task, field);
    return Eigen::Map<const Vector>(all.data(), all.size());
  }
  std::vector<std::int32_t> classes(const Json& task, const std::string& field) const {
    std::vector<std::int32_t> cls;
    const Vector y = vector(task, field);
    // -1 and +1 are classes 0 and 1; anything else stays wrong.
    for (Index i = 0; i < y.size(); ++i)
      cls.push_back(field == "r" ? static_cast<std::int32_t>(y[i]) : y[i] == -1 ? 0 : y[i] == 1 ? 1 : 2);
    return cls;
  }

  LinearFit fit(const Json& task, LinearSolver solver, LinearFamily family = LinearFamily::logistic) const {
    const bool softmax = task.contains("r");
    const bool numbers = family == LinearFamily::poisson || family == LinearFamily::least_squares;
    const Vector y = numbers ? vector(task, "y") : Vector();
    const auto cls = numbers ? std::vector<std::int32_t>() : classes(task, softmax ? "r" : "y");
    const Vector weight = vector(task, "weights");
    LinearProblem problem{.x = Features::dense(values(task, "X")),
                          .cls = cls,
                          .classes = softmax ? task.at("R").get<Index>() : 2,
                          .weight = weight,
                          .l2 = task.at("rho").get<double>(),
                          .offset = task.value("offset", true),
                          .norm_by_weights = task.value("norm", "count") == "sum"};
    problem.l1 = task.value("alpha", 0.0);
    problem.family = family;
    problem.value = {y.data(), static_cast<std::size_t>(y.size())};
    problem.solver = solver;
    return fit_linear(problem, Context(Context::Settings{.threads = 2}));
  }

 private:
  std::filesystem::path folder_;
  Json json_;
};

std::string label(const Json& task) {
  return task.value("note", "") + " rho=" + task.at("rho").dump() + " " + task.value("weights", "");
}

/// Solvers that reach the optimum of such a risk.
std::vector<LinearSolver> solvers_for(double alpha) {
  if (alpha > 0) return {LinearSolver::automatic, LinearSolver::prox_newton};
  return {LinearSolver::automatic, LinearSolver::irls, LinearSolver::newton, LinearSolver::lbfgs,
          LinearSolver::prox_newton};
}

void expect_weights(const Case& golden, const Json& expect, const LinearFit& fit) {
  const auto w = expect.at("w").get<std::vector<double>>();
  ASSERT_EQ(fit.weights.cols(), static_cast<Index>(w.size()));
  for (std::size_t j = 0; j < w.size(); ++j)
    EXPECT_NEAR(fit.weights(0, static_cast<Index>(j)), w[j], golden.tolerance("w"));
  EXPECT_NEAR(-fit.offset[0], expect.at("theta").get<double>(), golden.tolerance("theta"));
}

void expect_support(const Json& expect, const LinearFit& fit) {
  std::vector<Index> support;
  for (Index j = 0; j < fit.weights.cols(); ++j) {
    if (fit.weights(0, j) != 0) support.push_back(j);
  }
  EXPECT_EQ(support, expect.at("support").get<std::vector<Index>>());
}

/// Returns how many fits were checked.
int expect_published(const Case& golden, const Json& task) {
  int checked = 0;
  const Json& expect = task.at("expect");
  for (const LinearSolver solver : solvers_for(task.at("alpha").get<double>())) {
    SCOPED_TRACE(label(task) + " " + std::string(solver_name(solver)));
    const LinearFit fit = golden.fit(task, solver);
    EXPECT_TRUE(fit.converged);
    EXPECT_LT(fit.kkt, 1e-10);
    expect_weights(golden, expect, fit);
    EXPECT_NEAR(fit.risk, expect.at("risk").get<double>(), golden.tolerance("risk"));
    if (expect.contains("support")) expect_support(expect, fit);
    const Matrix test = golden.values(task, "Xtest");
    for (Index i = 0; i < test.rows(); ++i) {
      const double score = test.row(i).dot(fit.weights.row(0)) + fit.offset[0];
      EXPECT_NEAR(1 / (1 + std::exp(-score)), expect.at("prob_test")[static_cast<std::size_t>(i)].get<double>(),
                  golden.tolerance("prob_test"));
    }
    ++checked;
  }
  return checked;
}

int expect_all(const Case& golden) {
  int checked = 0;
  for (const Json& task : golden.tasks("logistic_fit")) checked += expect_published(golden, task);
  return checked;
}

TEST(LinearGolden, L2) { EXPECT_EQ(expect_all(Case("01_l2")), 5 * 5); }

TEST(LinearGolden, ElasticNet) { EXPECT_EQ(expect_all(Case("02_elastic_net")), 5 * 2); }

TEST(LinearGolden, LargestL1) {
  const Case golden("02_elastic_net");
  const Json task = golden.tasks("alpha_max").at(0);
  const auto cls = golden.classes(task, "y");
  const Vector none;
  const double found =
      largest_l1({.x = Features::dense(golden.values(task, "X")), .cls = cls, .weight = none}, Context());
  EXPECT_NEAR(found, task.at("expect").at("alpha_max").get<double>(), golden.tolerance("alpha_max"));
}

TEST(LinearGolden, Weighted) {
  const Case golden("03_weighted");
  EXPECT_EQ(expect_all(golden), 6 * 5 + 2 * 2);
  const Json task = golden.tasks("ess").at(0);
  EXPECT_NEAR(effective_sample_size(golden.vector(task, "weights")), task.at("expect").at("ess").get<double>(),
              golden.tolerance("ess"));
}

TEST(LinearGolden, Softmax) {
  const Case golden("04_softmax");
  int checked = 0;
  for (const Json& task : golden.tasks("softmax_fit")) {
    for (const LinearSolver solver : solvers_for(0)) {
      // Prox-Newton models classes one by one, which needs a penalty to stay put.
      if (solver == LinearSolver::prox_newton && task.at("rho").get<double>() == 0) continue;
      for (const LinearFamily family : {LinearFamily::softmax, LinearFamily::logistic}) {
        SCOPED_TRACE(label(task) + " " + std::string(solver_name(solver)));
        const LinearFit fit = golden.fit(task, solver, family);
        const Json& expect = task.at("expect");
        const Matrix w = read_inline(expect.at("W"));
        EXPECT_TRUE(fit.converged);
        EXPECT_LT((fit.weights.transpose() - w).cwiseAbs().maxCoeff(), golden.tolerance("W"));
        const auto theta = expect.at("theta").get<std::vector<double>>();
        for (std::size_t k = 0; k < theta.size(); ++k)
          EXPECT_NEAR(-fit.offset[static_cast<Index>(k)], theta[k], golden.tolerance("theta"));
        EXPECT_NEAR(fit.risk, expect.at("risk").get<double>(), golden.tolerance("risk"));
        const Matrix x = golden.values(task, "X").topRows(5);
        Matrix p = ((x * fit.weights.transpose()).rowwise() + fit.offset.transpose()).array().exp();
        for (Index i = 0; i < 5; ++i) p.row(i) /= p.row(i).sum();
        EXPECT_LT((p - read_inline(expect.at("prob_first5"))).cwiseAbs().maxCoeff(), golden.tolerance("prob_first5"));
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 2 * (3 * 5 - 1));
}

TEST(LinearGolden, ProbitAndGeneralisedLinearModels) {
  const Case golden("05_probit_glm");
  const std::map<std::string, LinearFamily> families = {{"poisson", LinearFamily::poisson},
                                                        {"gaussian", LinearFamily::least_squares},
                                                        {"bernoulli", LinearFamily::logistic}};
  int checked = 0;
  for (const std::string op : {"probit_fit", "glm_fit"}) {
    for (const Json& task : golden.tasks(op)) {
      const LinearFamily family =
          op == "probit_fit" ? LinearFamily::probit : families.at(task.at("family").get<std::string>());
      for (const LinearSolver solver : solvers_for(0)) {
        SCOPED_TRACE(label(task) + " " + task.value("family", op) + " " + std::string(solver_name(solver)));
        const LinearFit fit = golden.fit(task, solver, family);
        EXPECT_TRUE(fit.converged);
        expect_weights(golden, task.at("expect"), fit);
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 12 * 5);
}

std::unique_ptr<Loss> step_loss(const std::string& op, const std::vector<std::int32_t>& cls, const Vector& weight) {
  return op == "probit_sgd" ? probit_loss(cls, weight, 1) : logistic_loss(cls, weight, 1);
}

TEST(LinearGolden, StochasticTrajectories) {
  const Case golden("09_sgd_trajectory");
  int checked = 0;
  for (const std::string op : {"sgd", "minibatch_sgd", "probit_sgd"}) {
    for (const Json& task : golden.tasks(op)) {
      SCOPED_TRACE(op + " " + label(task) + " " + task.value("reduce", ""));
      const Matrix x = golden.values(task, "X");
      const auto cls = golden.classes(task, "y");
      const auto loss = step_loss(op, cls, golden.vector(task, "weights"));
      SgdOptions options;
      options.l1 = task.value("alpha", 0.0);
      options.l2 = task.at("rho").get<double>();
      options.reduce_sum = task.value("reduce", "mean") == "sum";
      StochasticDescent descent(*loss, x.cols(), options);
      const Vector order = golden.vector(task, "order");
      const Json& expect = task.at("expect");
      const Index batch = task.value("batch", 1);
      for (Index at = 0; at < order.size(); at += batch) {
        std::vector<Index> rows;
        for (Index i = at; i < std::min(at + batch, order.size()); ++i) rows.push_back(static_cast<Index>(order[i]));
        descent.step(x(rows, Eigen::all), rows, task.at("mu").get<double>());
        if (at >= 10 || !expect.contains("first10_minus_theta_then_w")) continue;
        const auto now =
            expect.at("first10_minus_theta_then_w")[static_cast<std::size_t>(at)].get<std::vector<double>>();
        EXPECT_NEAR(descent.offset()[0], now[0], golden.tolerance("first10_minus_theta_then_w"));
        for (std::size_t j = 1; j < now.size(); ++j)
          EXPECT_NEAR(descent.weights()(0, static_cast<Index>(j) - 1), now[j],
                      golden.tolerance("first10_minus_theta_then_w"));
      }
      const auto w = expect.at("w").get<std::vector<double>>();
      for (std::size_t j = 0; j < w.size(); ++j)
        EXPECT_NEAR(descent.weights()(0, static_cast<Index>(j)), w[j], golden.tolerance("w"));
      EXPECT_NEAR(-descent.offset()[0], expect.at("theta").get<double>(), golden.tolerance("theta"));
      ++checked;
    }
  }
  EXPECT_EQ(checked, 6);
}

TEST(LinearGolden, EdgeCases) {
  const Case golden("11_edge_cases");
  int errors = 0;
  int values = 0;
  for (const Json& task : golden.tasks("logistic_fit")) {
    SCOPED_TRACE(label(task));
    const Json& expect = task.at("expect");
    if (expect.contains("error")) {
      try {
        golden.fit(task, LinearSolver::automatic);
        ADD_FAILURE() << "not refused";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), expect.at("error").get<std::string>()) << error.what();
      }
      ++errors;
      continue;
    }
    const LinearFit fit = golden.fit(task, LinearSolver::automatic);
    EXPECT_TRUE(fit.converged);
    const double absolute = task.at("abs_tol").get<double>();
    const double relative = task.at("rel_tol").get<double>();
    const auto near = [&](double x, double e) {
      EXPECT_LE(std::abs(x - e), absolute + relative * std::abs(e)) << x << " for " << e;
    };
    const auto w = expect.at("w").get<std::vector<double>>();
    for (std::size_t j = 0; j < w.size(); ++j) near(fit.weights(0, static_cast<Index>(j)), w[j]);
    near(-fit.offset[0], expect.at("theta").get<double>());
    EXPECT_NEAR(fit.risk, expect.at("risk").get<double>(), golden.tolerance("risk"));
    ++values;
  }
  EXPECT_EQ(errors, 8);
  EXPECT_EQ(values, 9);
}

}  // namespace linear_golden_test
}  // namespace ecotone
