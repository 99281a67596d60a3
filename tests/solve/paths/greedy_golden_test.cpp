// The golden cases of tests/golden/tgreedy, with every route to the columns of the Gram matrices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "data/sparse_support.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/solve/paths/auroc.h"
#include "ecotone/solve/paths/stopping.h"
#include "source_dir.h"

namespace ecotone {
namespace greedy_golden_test {

const std::filesystem::path folder = source_dir() / "tests/golden/tgreedy";

enum class Route { grams, dense_rows, sparse_rows, sparse_grams };

Context context() { return Context(Context::Settings{.threads = 2}); }

double number(const Json& cell) {
  if (cell.is_null()) return std::nan("");
  if (!cell.is_string()) return cell.get<double>();
  return cell == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

/// Numbers to 1e-9 relative, 1e-10 absolute; p-values to 1e-7 relative.
void expect_near(const Json& expected, double found, const std::string& what, double relative = 1e-9) {
  const double wanted = number(expected);
  if (!std::isfinite(wanted)) {
    EXPECT_TRUE(std::isnan(wanted) ? std::isnan(found) : found == wanted) << what << ": " << found;
    return;
  }
  EXPECT_NEAR(found, wanted, std::max(1e-10, relative * std::abs(wanted))) << what;
}

class Case {
 public:
  explicit Case(const std::string& name) {
    std::ifstream file(folder / (name + ".json"));
    EXPECT_TRUE(file) << name;
    json = Json::parse(file);
    std::ifstream table(folder / json.at("csv").get<std::string>());
    std::string line;
    std::getline(table, line);
    std::vector<std::vector<double>> rows;
    while (std::getline(table, line)) {
      std::istringstream cells(line);
      std::string cell;
      std::getline(cells, cell, ',');
      const auto found = std::find(names_.begin(), names_.end(), cell);
      group_.push_back(static_cast<std::int32_t>(found - names_.begin()));
      if (found == names_.end()) names_.push_back(cell);
      auto& row = rows.emplace_back();
      while (std::getline(cells, cell, ',')) row.push_back(std::stod(cell));
    }
    Matrix x(static_cast<Index>(rows.size()), json.at("p").get<Index>());
    y_.resize(x.rows());
    for (Index i = 0; i < x.rows(); ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];
      y_[i] = row[0];
      for (Index j = 0; j < x.cols(); ++j) x(i, j) = row[static_cast<std::size_t>(j) + 1];
    }
    dense_ = Features::dense(x);
    sparse_ = Features::sparse(test::to_csr(x));
    EXPECT_EQ(names_, json.at("domains").get<std::vector<std::string>>());
  }

  MomentRows rows(Route route) const {
    const bool sparse = route == Route::sparse_rows || route == Route::sparse_grams;
    return {sparse ? sparse_ : dense_, group_, names_, y_, none_};
  }
  Selection select(const PathOptions& options, const StopOptions& stop, Route route) const {
    const bool grams = route == Route::grams || route == Route::sparse_grams;
    const MomentRows data = rows(route);
    const Moments moments = gather_moments(data, grams ? GramKind::double_precision : GramKind::none, context());
    const auto columns = grams ? columns_of_grams(moments) : columns_of_rows(data, moments);
    return select_features(moments, *columns, options, stop, context());
  }

  Json json;

 private:
  std::vector<std::string> names_;
  std::vector<std::int32_t> group_;
  Vector y_;
  Vector none_;
  Features dense_, sparse_;
};

PathOptions options_of(const Json& run) {
  const Json& given = run.at("options");
  PathOptions options;
  options.steps = run.at("steps").get<Index>();
  options.rule = given.at("rule") == "greedy" ? PathRule::greedy : PathRule::tgreedy;
  const std::map<std::string, PathMode> modes = {{"stagewise", PathMode::stagewise},
                                                 {"stepwise", PathMode::stepwise},
                                                 {"ortho", PathMode::ortho},
                                                 {"ortho_resid", PathMode::ortho_resid}};
  options.mode = modes.at(given.value("mode", "stagewise"));
  options.absolute = given.value("absolute", true);
  options.shares = given.value("weights", "domain") == "pooled" ? GroupShares::pooled : GroupShares::equal;
  options.min_gain = given.value("min_gain", 0.0);
  if (given.contains("ex2")) {
    const auto values = given.at("ex2").get<std::vector<double>>();
    options.ex2 = Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
  }
  return options;
}

void compare(const Json& run, const PathResult& path, const std::vector<std::optional<double>>& auroc, Index features) {
  ASSERT_EQ(path.indices, run.at("selected").get<std::vector<Index>>());
  EXPECT_EQ(path.stopped_early, run.at("stopped_early").get<bool>());
  for (Index k = 0; k < path.steps(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const std::string step = fmt::format(" of step {}", k + 1);
    expect_near(run.at("T")[i], path.t[i], "T" + step);
    expect_near(run.at("mu")[i], path.mu[i], "mu" + step);
    expect_near(run.at("sigma")[i], path.sigma[i], "sigma" + step);
    expect_near(run.at("gain")[i], path.gain[i], "gain" + step);
    expect_near(run.at("pvalue")[i], path.pvalue[i], "pvalue" + step, 1e-7);
    expect_near(run.at("loss")[i], path.loss[i], "loss" + step);
    for (std::size_t d = 0; d < path.group_loss[i].size(); ++d)
      expect_near(run.at("domain_loss")[i][d], path.group_loss[i][d], "domain_loss" + step);
    Vector all = Vector::Zero(features);
    const Vector w = path.weights_after(k + 1);
    for (Index s = 0; s < w.size(); ++s) all[path.support[static_cast<std::size_t>(s)]] = w[s];
    for (Index j = 0; j < features; ++j)
      expect_near(run.at("weights")[i][static_cast<std::size_t>(j)], all[j], "weight" + step);
    if (!run.at("auroc").is_null()) expect_near(run.at("auroc")[i], auroc[i].value(), "auroc" + step);
  }
}

class Golden : public testing::TestWithParam<std::tuple<std::string, Route>> {
 protected:
  Case golden{std::get<0>(GetParam())};
  Route route = std::get<1>(GetParam());
};

TEST_P(Golden, Runs) {
  for (const Json& run : golden.json.at("runs")) {
    SCOPED_TRACE(run.at("run").get<std::string>());
    if (run.contains("error")) {
      try {
        golden.select(options_of(run), {}, route);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), run.at("error").get<std::string>());
      }
      continue;
    }
    const Selection found = golden.select(options_of(run), {}, route);
    EXPECT_EQ(found.taken, found.path.steps());
    const MomentRows rows = golden.rows(route);
    compare(run, found.path, path_auroc(rows.x, rows.y, found.path, context()), golden.json.at("p").get<Index>());
  }
}

TEST_P(Golden, Stopping) {
  if (!golden.json.contains("stopping")) return;
  const Json& stopping = golden.json.at("stopping");
  const Json& theory = stopping.at("theorem1");
  PathOptions options = options_of(golden.json.at("runs")[0]);
  StopOptions stop{.stop = PathStop::student, .delta = stopping.at("delta").get<double>()};
  const Selection found = golden.select(options, stop, route);
  EXPECT_EQ(found.taken, stopping.at("student_bonferroni_count").get<Index>());
  EXPECT_EQ(found.above_threshold, stopping.at("theorem1_heuristic_count").get<Index>());
  EXPECT_EQ(found.above_exact, stopping.at("theorem1_exact_count").get<Index>());
  expect_near(theory.at("threshold"), found.theorem1.threshold, "threshold");
  expect_near(theory.at("exact"), found.theorem1.exact, "exact");
  EXPECT_EQ(found.theorem1.valid, theory.at("valid").get<double>() != 0);
  EXPECT_EQ(found.theorem1.n_paper, theory.at("n_paper").get<Index>());
  EXPECT_EQ(found.theorem1.n_exact, theory.at("n_exact").get<Index>());
  EXPECT_EQ(found.theorem1.n_sign, theory.at("n_sign").get<Index>());
}

TEST_P(Golden, LeaveOneDomainOut) {
  if (!golden.json.contains("stopping")) return;
  const Json& expected = golden.json.at("stopping").at("lodo");
  PathOptions options = options_of(golden.json.at("runs")[0]);
  options.steps = expected.at("steps").get<Index>();
  const StopOptions stop{.stop = PathStop::lodo, .size = SizeRule::best};
  if (expected.contains("error")) {
    try {
      golden.select(options, stop, route);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), expected.at("error").get<std::string>());
    }
    return;
  }
  const Selection found = golden.select(options, stop, route);
  ASSERT_TRUE(found.left_out);
  EXPECT_EQ(found.left_out->best, expected.at("best").get<Index>());
  EXPECT_EQ(found.left_out->best_one_se, expected.at("best_one_se").get<Index>());
  for (std::size_t k = 0; k < found.left_out->curve.size(); ++k) {
    expect_near(expected.at("curve")[k], found.left_out->curve[k], "curve");
    for (std::size_t d = 0; d < found.left_out->table.size(); ++d)
      expect_near(expected.at("table")[d][k], found.left_out->table[d][k], "table");
  }
}

TEST_P(Golden, Corollary3) {
  if (!golden.json.contains("corollary3")) return;
  const Json& expected = golden.json.at("corollary3");
  PathOptions options;
  options.mode = PathMode::ortho;
  options.steps = 3;
  const Selection found = golden.select(options, {}, route);
  const Corollary3 bound = corollary3(found.path.sigma, golden.json.at("p").get<Index>(),
                                      static_cast<Index>(golden.json.at("domains").size()),
                                      golden.json.at("stopping").at("delta").get<double>());
  ASSERT_EQ(bound.sigma.size(), expected.at("sigma_S").size());
  for (std::size_t k = 0; k < bound.sigma.size(); ++k)
    expect_near(expected.at("sigma_S")[k], bound.sigma[k], "sigma_S");
  expect_near(expected.at("paper"), bound.paper, "paper");
  expect_near(expected.at("corrected"), bound.corrected, "corrected");
  expect_near(expected.at("tight"), bound.tight, "tight");
  EXPECT_EQ(bound.valid, expected.at("valid").get<double>() != 0);
  EXPECT_EQ(bound.n_needed, expected.at("n_needed").get<Index>());
}

std::string route_name(const testing::TestParamInfo<std::tuple<std::string, Route>>& info) {
  const std::map<Route, std::string> names = {{Route::grams, "grams"},
                                              {Route::dense_rows, "dense_rows"},
                                              {Route::sparse_rows, "sparse_rows"},
                                              {Route::sparse_grams, "sparse_grams"}};
  return std::get<0>(info.param) + "_" + names.at(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(
    Greedy, Golden,
    testing::Combine(testing::Values("g1_basic", "g2_unequal", "g3_infinite_T", "g4_constant", "g5_duplicates",
                                     "g6_one_domain", "g7_two_domains", "g8_modes"),
                     testing::Values(Route::grams, Route::dense_rows, Route::sparse_rows, Route::sparse_grams)),
    route_name);

}  // namespace greedy_golden_test
}  // namespace ecotone
