// The golden cases of tests/golden/logistic whose penalty is smooth (alpha = 0).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/solve/logistic.h"

namespace ecotone {
namespace {

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
  explicit Case(const std::string& name)
      : folder_(std::filesystem::path(ECOTONE_SOURCE_DIR) / "tests/golden/logistic" / name) {
    std::ifstream file(folder_ / "case.json");
    EXPECT_TRUE(file) << folder_;
    json_ = Json::parse(file);
  }

  /// The smooth fits of the case.
  std::vector<Json> tasks() const {
    std::vector<Json> result;
    for (const Json& task : json_.at("tasks")) {
      if (task.at("op") == "logistic_fit" && task.at("alpha").get<double>() == 0) result.push_back(task);
    }
    return result;
  }
  double tolerance(const std::string& field) const { return json_.at("tol").at(field).get<double>(); }

  Matrix values(const Json& task, const std::string& field) const {
    if (task.contains(field + "_inline")) return read_inline(task.at(field + "_inline"));
    if (task.contains(field)) return read_csv(folder_ / task.at(field).get<std::string>());
    return {};
  }

  LogisticFit fit(const Json& task) const {
    const Matrix y = values(task, "y");
    std::vector<std::int32_t> cls;
    for (Index i = 0; i < y.size(); ++i) cls.push_back(y.data()[i] == -1 ? 0 : y.data()[i] == 1 ? 1 : 2);
    const Matrix weights = values(task, "weights");
    const Vector weight = Eigen::Map<const Vector>(weights.data(), weights.size());
    return fit_logistic({.x = Features::dense(values(task, "X")),
                         .cls = cls,
                         .weight = weight,
                         .l2 = task.at("rho").get<double>(),
                         .offset = task.value("offset", true),
                         .norm_by_weights = task.value("norm", "count") == "sum"},
                        Context(Context::Settings{.threads = 2}));
  }

 private:
  std::filesystem::path folder_;
  Json json_;
};

std::string label(const Json& task) {
  return task.value("note", "") + " rho=" + task.at("rho").dump() + " " + task.value("weights", "");
}

void expect_published(const Case& golden, const Json& task, int& checked) {
  SCOPED_TRACE(label(task));
  const LogisticFit fit = golden.fit(task);
  const Json& expect = task.at("expect");
  EXPECT_TRUE(fit.converged);
  const auto w = expect.at("w").get<std::vector<double>>();
  ASSERT_EQ(fit.weights.cols(), static_cast<Index>(w.size()));
  for (std::size_t j = 0; j < w.size(); ++j)
    EXPECT_NEAR(fit.weights(0, static_cast<Index>(j)), w[j], golden.tolerance("w"));
  EXPECT_NEAR(-fit.offset[0], expect.at("theta").get<double>(), golden.tolerance("theta"));
  EXPECT_NEAR(fit.risk, expect.at("risk").get<double>(), golden.tolerance("risk"));
  const Matrix test = golden.values(task, "Xtest");
  for (Index i = 0; i < test.rows(); ++i) {
    const double score = test.row(i).dot(fit.weights.row(0)) + fit.offset[0];
    EXPECT_NEAR(1 / (1 + std::exp(-score)), expect.at("prob_test")[static_cast<std::size_t>(i)].get<double>(),
                golden.tolerance("prob_test"));
  }
  ++checked;
}

TEST(LogisticGolden, L2) {
  const Case golden("01_l2");
  int checked = 0;
  for (const Json& task : golden.tasks()) expect_published(golden, task, checked);
  EXPECT_EQ(checked, 5);
}

TEST(LogisticGolden, Weighted) {
  const Case golden("03_weighted");
  int checked = 0;
  for (const Json& task : golden.tasks()) expect_published(golden, task, checked);
  EXPECT_EQ(checked, 6);
}

TEST(LogisticGolden, EdgeCases) {
  const Case golden("11_edge_cases");
  int errors = 0;
  int values = 0;
  for (const Json& task : golden.tasks()) {
    SCOPED_TRACE(label(task));
    const Json& expect = task.at("expect");
    if (expect.contains("error")) {
      try {
        golden.fit(task);
        ADD_FAILURE() << "not refused";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), expect.at("error").get<std::string>()) << error.what();
      }
      ++errors;
      continue;
    }
    const LogisticFit fit = golden.fit(task);
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
  EXPECT_EQ(values, 8);
}

}  // namespace
}  // namespace ecotone
