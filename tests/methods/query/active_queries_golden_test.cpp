// The query orders of the golden case 10_active_queries; tests/label/active_loop_golden_test.cpp has its loops, and
// tests/methods/multiclass/multiclass_golden_test.cpp its decoding.
#include <filesystem>
#include <fstream>

#include "ecotone/methods/query/pick.h"
#include "ecotone/methods/query/uncertainty.h"
#include "methods/support.h"
#include "source_dir.h"

namespace ecotone::test {
namespace active_queries_golden_test {

class ActiveQueriesGolden : public ::testing::Test {
 protected:
  const Json& task(const std::string& op) const {
    for (const Json& task : json_.at("tasks"))
      if (task.at("op") == op) return task;
    throw std::out_of_range("no task " + op);
  }
  double tolerance(const std::string& field) const { return json_.at("tol").at(field).get<double>(); }

 private:
  static Json read() {
    std::ifstream file(source_dir() / "tests/golden/logistic/10_active_queries/case.json");
    return Json::parse(file);
  }
  Json json_ = read();
};

/// All rows in the order in which they are asked.
std::vector<Index> order_of(QueryRule rule, const Vector& score) {
  Strategy strategy{.rule = rule, .options = {.explore = 0, .apart = 0}};
  Random random(1, "unused");
  std::vector<Index> order;
  for (const Query& query : pick({score, Matrix()}, strategy, score.size(), random)) {
    EXPECT_EQ(query.why, Why::uncertain);
    EXPECT_EQ(query.probability, 1.0);
    order.push_back(query.place);
  }
  return order;
}

Prediction three_classes(const Json& rows) {
  Prediction prediction;
  prediction.probability.resize(static_cast<Index>(rows.size()), 3);
  for (Index i = 0; i < prediction.probability.rows(); ++i)
    for (Index k = 0; k < 3; ++k) prediction.probability(i, k) = rows[at(i)][at(k)];
  prediction.index.assign(rows.size(), 0);
  return prediction;
}

TEST_F(ActiveQueriesGolden, OrderOfThreeClasses) {
  const Json& golden = task("query_order_multiclass");
  const Prediction prediction = three_classes(golden.at("P"));
  for (const auto& [rule, name] :
       {std::pair(QueryRule::least_confidence, "least_confidence"), std::pair(QueryRule::entropy, "entropy")})
    EXPECT_EQ(order_of(rule, uncertainty(rule, prediction)), golden.at("expect").at(name).get<std::vector<Index>>());
  const Vector entropy = entropy_bits(prediction.probability);
  const auto expected = golden.at("expect").at("H").get<std::vector<double>>();
  ASSERT_EQ(entropy.size(), std::ssize(expected));
  for (Index i = 0; i < entropy.size(); ++i) EXPECT_NEAR(entropy[i], expected[at(i)], tolerance("H"));
}

/// Scores of 40 and -50 have probabilities that are 1 in floating point, and 0.5 and -0.5 tie.
TEST_F(ActiveQueriesGolden, OrderOfTwoClasses) {
  const Json& golden = task("query_order_binary");
  const auto scores = golden.at("ghat").get<std::vector<double>>();
  Prediction prediction;
  prediction.score = Eigen::Map<const Vector>(scores.data(), std::ssize(scores));
  prediction.probability.resize(std::ssize(scores), 2);
  for (Index i = 0; i < std::ssize(scores); ++i) {
    const double p = 1 / (1 + std::exp(-scores[at(i)]));
    prediction.probability.row(i) << 1 - p, p;
    prediction.index.push_back(scores[at(i)] >= 0);
  }
  const auto expected = golden.at("expect").at("least_confidence").get<std::vector<Index>>();
  for (const QueryRule rule :
       {QueryRule::least_confidence, QueryRule::entropy, QueryRule::margin, QueryRule::hyperplane})
    EXPECT_EQ(order_of(rule, uncertainty(rule, prediction)), expected);
}

}  // namespace active_queries_golden_test
}  // namespace ecotone::test
