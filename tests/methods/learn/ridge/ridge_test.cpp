#include "ecotone/methods/learn/ridge/ridge.h"

#include <gtest/gtest.h>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/cross_fit.h"
#include "methods/support.h"

namespace ecotone::test {
namespace ridge_test {

Json stage_of(const std::string& pipeline, const TrainView& view) {
  return fitted(pipeline, view).inspect().at("stages")[0];
}

TEST(Ridge, ShowsWhatItChoseAndFromWhat) {
  const Json stage = stage_of("ridge", overlapping(600, 5, 2, 4));
  EXPECT_EQ(stage.at("weights").size(), 5U);
  EXPECT_EQ(stage.at("lodo_lam").size(), 9U);
  EXPECT_EQ(stage.at("lodo").at("criterion"), "log_loss");
  EXPECT_EQ(stage.at("left_out"), "domains");
  EXPECT_EQ(stage.at("route"), "features");
  const auto best = stage.at("lodo").at("best").get<std::size_t>();
  EXPECT_EQ(stage.at("lam"), stage.at("lodo_lam")[best]);
  EXPECT_EQ(stage_of("ridge lam=0.2", overlapping(600, 5, 2, 4)).at("lam"), 0.2);
}

TEST(Ridge, IsJudgedByTheLogLossOfPredictionsByStagesThatHaveNotSeenTheDomain) {
  const TrainView view = overlapping(300, 5, 2, 4);
  for (const std::string before : {"", "scale | ", "greedy steps=2 intercept=true | "}) {
    const Json stage = fitted(before + "ridge rule=best", view).inspect().at("stages").back();
    const auto lam = stage.at("lodo_lam").get<std::vector<double>>();
    const auto value = stage.at("lodo_value").get<std::vector<double>>();
    for (std::size_t c = 1; c < lam.size(); ++c) {
      double mean = 0;
      for (std::int32_t d = 0; d < 4; ++d) {
        std::vector<Index> in, out;
        for (Index i = 0; i < 300; ++i) (view.domain.index[at(i)] == d ? out : in).push_back(i);
        const Model model = fitted(fmt::format("{}ridge lam={}", before, lam[c]), view_of_rows(view, in));
        const Prediction p = model.predict({view.x.take(out), {}}, context());
        mean += log_loss(view.y.take(out).index, p.probability) / 4;
      }
      EXPECT_NEAR(value[c], mean, 1e-9) << before << lam[c];
    }
    EXPECT_EQ(stage.at("lodo").at("best").get<std::ptrdiff_t>(),
              std::min_element(value.begin(), value.end()) - value.begin());
  }
}

TEST(Ridge, RowsOfOneDomainAreLeftOutByTheSameFoldsAsTheStagesBefore) {
  const TrainView view = overlapping(200, 4, 2, 1);
  const Json alone = stage_of("ridge rule=best", view);
  // Ridge centres and scales itself, so that scale before it changes nothing but rounding.
  const Json scaled = fitted("scale | ridge rule=best", view).inspect().at("stages").back();
  EXPECT_EQ(scaled.at("left_out"), "rows");
  for (std::size_t c = 0; c < alone.at("lodo_value").size(); ++c)
    EXPECT_NEAR(alone.at("lodo_value")[c].get<double>(), scaled.at("lodo_value")[c].get<double>(), 1e-9);
}

TEST(Ridge, PrefersTheLargestPenaltyWithinOneStandardError) {
  const auto lam = [](const char* text, const TrainView& view) { return stage_of(text, view).at("lam").get<double>(); };
  // Columns are many for the rows, so that a penalty pays off, and domains enough for a standard error.
  int larger = 0;
  for (const Index rows : {120, 160, 240}) {
    const TrainView wide = overlapping(rows, 40, 2, 8);
    EXPECT_GE(lam("ridge", wide), lam("ridge rule=best", wide)) << rows;
    larger += lam("ridge", wide) > lam("ridge rule=best", wide) ? 1 : 0;
  }
  EXPECT_GT(larger, 0);
  const TrainView view = overlapping(300, 5, 2, 4);
  EXPECT_EQ(lam("ridge", view), lam("ridge rule=best", view));  // four domains tell no standard error
  EXPECT_EQ(stage_of("ridge score=auroc", view).at("lodo").at("criterion"), "auroc");
  TrainView numbers = view;
  numbers.y = {Task::regress, {}, {}, Vector(view.x.to_matrix().col(1))};
  EXPECT_EQ(stage_of("ridge", numbers).at("lodo").at("criterion"), "squared_loss");
  EXPECT_EQ(stage_of("ridge score=rmse", numbers).at("lodo").at("criterion"), "rmse");
  EXPECT_EQ(code_of([&] { fitted("ridge score=log_loss", numbers); }), "bad_option");
}

TEST(Ridge, MixesOfAuto) {
  const Json stage = stage_of("ridge penalty=auto", overlapping(600, 5, 2, 5));
  // The empty model, and 8 penalties of 3 mixes.
  EXPECT_EQ(stage.at("lodo_lam").size(), 25U);
  EXPECT_EQ(code_of([] { fitted("ridge penalty=auto", overlapping(600, 5, 2, 4)); }), "needs_five_domains");
  EXPECT_EQ(code_of([] { fitted("ridge penalty=variance", overlapping(600, 5, 2, 4)); }), "needs_five_domains");
}

TEST(Ridge, LearnsNumbersAndAnOffset) {
  TrainView view = overlapping(500, 6, 2, 3);
  const Matrix x = view.x.to_matrix();
  view.y = {Task::regress, {}, {}, 3 * x.col(1) - 2 * x.col(4) + Vector::Constant(500, 17)};
  const Vector value = fitted("ridge lam=1e-9", view).predict({view.x, {}}, context()).value;
  EXPECT_LT((value - view.y.value).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Ridge, SeveralClassesAreOneAgainstAll) {
  const TrainView view = overlapping(900, 6, 3, 4);
  const Prediction prediction = fitted("ridge", view).predict({view.x, {}}, context());
  EXPECT_EQ(prediction.probability.cols(), 3);
  Index right = 0;
  for (Index i = 0; i < 900; ++i) right += prediction.index[static_cast<std::size_t>(i)] == i % 3 ? 1 : 0;
  EXPECT_GT(right, 400);
}

TEST(Ridge, OneDomainLeavesRowsOut) {
  const TrainView view = overlapping(600, 5, 2, 1);
  const Json stage = stage_of("ridge", view);
  EXPECT_EQ(stage.at("left_out"), "rows");
  EXPECT_EQ(stage.at("lodo").at("folds"), 5);
}

TEST(Ridge, RowsWithoutWeightDoNotCount) {
  TrainView view = overlapping(400, 5, 2, 3);
  view.weight = Vector::Ones(400);
  view.weight.tail(100).setZero();
  TrainView head = view;
  std::vector<Index> rows;
  for (Index i = 0; i < 300; ++i) rows.push_back(i);
  head.x = view.x.take(rows);
  head.y = view.y.take(rows);
  head.domain.index.resize(300);
  head.weight = Vector();
  const Json a = stage_of("ridge lam=0.1", view);
  const Json b = stage_of("ridge lam=0.1", head);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(a.at("weights")[k].get<double>(), b.at("weights")[k].get<double>(), 1e-10);
}

TEST(Ridge, MoreColumnsThanRowsAreSolvedByRows) {
  const TrainView view = overlapping(60, 100, 2, 3);
  const Model model = fitted("ridge", view);
  EXPECT_EQ(model.inspect().at("stages")[0].at("route"), "rows");
  EXPECT_EQ(reloaded(model).inspect(), model.inspect());
}

}  // namespace ridge_test
}  // namespace ecotone::test
