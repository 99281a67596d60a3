#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ecotone/report/json/json.h"
#include "ecotone/report/text/simulation_words.h"
#include "ecotone/report/text/text.h"
#include "report/simulation_support.h"

namespace ecotone::test {
namespace simulation_text_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(SimulationText, BeginsWithTheAnswer) {
  const std::string text = simulation_text(simulated_labelling());
  EXPECT_THAT(text, StartsWith("least_confidence reaches 95% of the accuracy with all labels after 34 labels"));
  EXPECT_THAT(text, HasSubstr("  A  least_confidence\n  B  entropy batch=5\n  C  random\n"));
  EXPECT_THAT(text, HasSubstr("0.600  0.570 0.620"));
  EXPECT_THAT(text, HasSubstr("2 of 3"));
  EXPECT_THAT(text, HasSubstr("90%  90%  90%"));
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    if (text.find("\u2500", begin) > end) {
      EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
    }
    begin = end + 1;
  }
}

TEST(SimulationText, SaysWhoDoesNotReachTheGoal) {
  LabelSimulation simulation = simulated_labelling();
  simulation.curves[2].median_reached = 20;
  EXPECT_THAT(simulation_summary(simulation),
              StartsWith("Rows at random do as well as chosen ones: random reaches 95% of the accuracy"));
  simulation.curves[2].median_reached = 10;
  EXPECT_EQ(simulation_summary(simulation),
            "Labels gain little here: 95% of the accuracy with all labels is reached after the first 10 labels (median "
            "of 3 runs).");
  simulation.curves[2].median_reached.reset();
  EXPECT_THAT(simulation_summary(simulation), HasSubstr("random not within 60."));
  simulation.curves[0].median_reached = simulation.curves[1].median_reached = {};
  EXPECT_THAT(simulation_summary(simulation), StartsWith("No strategy reaches"));
  simulation.task = Task::regress;
  EXPECT_THAT(simulation_summary(simulation), HasSubstr("1.05 times the RMSE with all labels"));
}

TEST(SimulationText, ShowsTheFirstAndTheLastPoint) {
  const LabelSimulation simulation = simulated_labelling();
  EXPECT_EQ(shown_label_counts(simulation, 3), (std::vector<Index>{10, 35, 60}));
  EXPECT_EQ(shown_label_counts(simulation, 100).size(), 11U);
}

TEST(SimulationText, JsonHasEveryPointAndRun) {
  const Json json = to_json(simulated_labelling());
  EXPECT_EQ(json.at("options").at("budget"), 60);
  EXPECT_EQ(json.at("curves").size(), 3U);
  const Json& curve = json.at("curves")[0];
  EXPECT_EQ(curve.at("points").size(), 11U);
  EXPECT_FALSE(curve.at("points")[0].contains("audit"));
  EXPECT_EQ(curve.at("points")[1].at("audit").at("rows"), 1);
  EXPECT_EQ(curve.at("reached").at("runs"), Json::parse("[30, 34, null]"));
  EXPECT_TRUE(curve.at("reached").at("high").is_null());
}

}  // namespace simulation_text_test
}  // namespace ecotone::test
