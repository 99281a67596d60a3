#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/data/features.h"
#include "ecotone/measure/metrics.h"
#include "golden_json.h"
#include "source_dir.h"

/// The golden case 08_importance_weights and how its numbers are compared.
namespace ecotone::test {

inline Matrix read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<double> values;
  Index rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(std::stod(cell));
  }
  return Eigen::Map<const Matrix>(values.data(), rows, static_cast<Index>(values.size()) / rows);
}

class WeightsGolden : public testing::Test {
 protected:
  WeightsGolden() {
    const auto folder = source_dir() / "tests/golden/logistic/08_importance_weights";
    std::ifstream file(folder / "case.json");
    json_ = Json::parse(file);
    const Matrix source = read_csv(folder / "XS.csv");
    const Matrix target = read_csv(folder / "XT.csv");
    Matrix both(source.rows() + target.rows(), source.cols());
    both << source, target;
    x_ = Features::dense(both);
    sources_ = source.rows();
    const Matrix y = read_csv(folder / "yS.csv");
    for (Index i = 0; i < y.size(); ++i) cls_.push_back(y(i, 0) > 0 ? 1 : 0);
  }

  std::vector<Json> tasks(const std::string& op) const {
    std::vector<Json> found;
    for (const Json& task : json_.at("tasks")) {
      if (task.at("op") == op) found.push_back(task);
    }
    EXPECT_FALSE(found.empty()) << op;
    return found;
  }

  void expect_near(const Vector& found, const Json& expected, const char* field, double sign = 1) const {
    const Vector wanted = sign * vector_of(expected.at(field));
    ASSERT_EQ(found.size(), wanted.size()) << field;
    EXPECT_LE((found - wanted).cwiseAbs().maxCoeff(), tolerance(field)) << field;
  }
  void expect_near(double found, const Json& expected, const char* field, double sign = 1) const {
    EXPECT_NEAR(found, sign * expected.at(field).get<double>(), tolerance(field)) << field;
  }
  double tolerance(const char* field) const { return json_.at("tol").at(field).get<double>(); }

  void expect_weights(const Vector& weights, const Json& expected) const {
    expect_near(weights, expected, "weights");
    expect_near(effective_sample_size(weights), expected, "ess");
  }

  const Context context_{Context::Settings{.threads = 2}};
  Json json_;
  Features x_;
  Index sources_ = 0;
  std::vector<std::int32_t> cls_;
};

}  // namespace ecotone::test
