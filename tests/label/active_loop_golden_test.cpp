// The loops of the golden case 10_active_queries: asking, refitting from a warm start, asking again.
#include <filesystem>
#include <fstream>
#include <numeric>

#include "ecotone/label/growing_model.h"
#include "ecotone/label/questions.h"
#include "methods/support.h"
#include "source_dir.h"

namespace ecotone::test {
namespace active_loop_golden_test {

std::filesystem::path folder() { return source_dir() / "tests/golden/logistic/10_active_queries"; }

Json read_case() {
  std::ifstream file(folder() / "case.json");
  return Json::parse(file);
}

std::vector<std::vector<double>> read_csv(const std::string& name) {
  std::ifstream file(folder() / name);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(Json::parse("[" + line + "]"));
  return rows;
}

Dataset dataset(const Json& task) {
  const auto rows = read_csv(task.at("X"));
  Matrix x(std::ssize(rows), std::ssize(rows.front()));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = rows[at(i)][at(j)];
  Labels y{Task::classify, {"-1", "1"}, {}, {}};
  for (const auto& row : read_csv(task.at("y"))) y.index.push_back(row[0] > 0 ? 1 : 0);
  Dataset data;
  data.domain = dealt_domains(x.rows(), 1);
  data.role = {Role::source};
  data.x = Features::dense(std::move(x));
  data.y = std::move(y);
  return data;
}

Strategy strategy_of(const Json& task) {
  const auto name = task.at("strategy").get<std::string>();
  return Strategy::parse(fmt::format("{} batch={} explore=0 apart=0", name == "knn3" ? "neighbours k=3" : name,
                                     task.at("batch").get<Index>()));
}

struct LoopResult {
  std::vector<Index> queries;
  Model model;
};

LoopResult run_loop(const Json& task, const Dataset& data) {
  const Context run = context();
  const Strategy strategy = strategy_of(task);
  GrowingModel growing(data, Pipeline::parse(fmt::format("logistic l2={} tol=1e-11", task.at("rho").get<double>())));
  auto learned = task.at("seed").get<std::vector<Index>>();
  std::vector<Index> left(at(data.rows()));
  std::iota(left.begin(), left.end(), Index{0});
  for (const Index row : learned) std::erase(left, row);
  Random random(1, "unused");
  LoopResult result{{}, growing.fit(*data.y, learned, {}, run)};
  while (std::ssize(result.queries) < task.at("budget").get<Index>()) {
    const Ranked ranked = rank_rows(data, result.model, strategy, left, learned, *data.y, run);
    for (const Query& query : pick({ranked.score, ranked.coordinates}, strategy, strategy.options.batch, random)) {
      const Index row = ranked.rows[at(query.place)];
      result.queries.push_back(row);
      learned.push_back(row);
      std::erase(left, row);
    }
    result.model = growing.fit(*data.y, learned, {}, run);
  }
  return result;
}

TEST(ActiveLoopGolden, AsksTheSameRowsAndEndsAtTheSameModel) {
  const Json golden = read_case();
  int loops = 0;
  for (const Json& task : golden.at("tasks")) {
    if (task.at("op") != "active_loop") continue;
    SCOPED_TRACE(fmt::format("{} batch={}", task.at("strategy").get<std::string>(), task.at("batch").get<int>()));
    ++loops;
    const Dataset data = dataset(task);
    const LoopResult result = run_loop(task, data);
    const Json& expect = task.at("expect");
    EXPECT_EQ(result.queries, expect.at("queries").get<std::vector<Index>>());
    const Json stage = result.model.inspect().at("stages").at(0);
    const auto weights = expect.at("w").get<std::vector<double>>();
    for (std::size_t j = 0; j < weights.size(); ++j)
      EXPECT_NEAR(stage.at("weights")[j].get<double>(), weights[j], golden.at("tol").at("w").get<double>());
    EXPECT_NEAR(-stage.at("offset").get<double>(), expect.at("theta").get<double>(),
                golden.at("tol").at("theta").get<double>());
  }
  EXPECT_EQ(loops, 4);
}

}  // namespace active_loop_golden_test
}  // namespace ecotone::test
