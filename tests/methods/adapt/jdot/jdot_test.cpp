#include <ranges>

#include "methods/align_golden.h"

namespace ecotone::test {
namespace jdot_test {

TEST(AdaptJdot, Golden) {
  const AlignGolden golden("11_transport");
  const Json task = golden.task("jdot_ridge");
  const Json stage = fitted(fmt::format("adapt.jdot alpha={} l2={}", task.at("params").at("alpha").get<double>(),
                                        task.at("params").at("l2").get<double>()),
                            golden.transport_view(true))
                         .inspect()["stages"][0];
  golden.expect(task, "weights", vector_of(stage.at("weights")));
  golden.expect(task, "offset", stage.at("offset").get<double>());
  golden.expect(task, "history", vector_of(stage.at("history")));
}

/// On a target that is the source moved, the model moves along; the objective never rises.
TEST(AdaptJdot, FollowsATargetThatMoved) {
  for (const Index classes : {2, 3}) {
    TrainView view = overlapping(150, 3, classes, 2, 150);
    Matrix x = view.x.to_matrix();
    for (Index i = 0; i < 150; ++i) x.row(i)[view.y.index[at(i)]] += 4;
    x.bottomRows(150) = (x.topRows(150).array() + 1.5).matrix();
    view.x = Features::dense(x);
    const Model model = fitted("adapt.jdot", view);
    const Prediction answer = model.predict({Features::dense(Matrix(x.bottomRows(150))), std::nullopt}, context());
    EXPECT_GT(std::ranges::count_if(std::views::iota(0, 150),
                                    [&](int i) { return answer.index[at(i)] == view.y.index[at(i)]; }),
              140);
    const std::vector<double> history = numbers_of(model.inspect()["stages"][0].at("history"));
    for (std::size_t k = 1; k < history.size(); ++k) EXPECT_LE(history[k], history[k - 1] * (1 + 1e-9));
  }
}

TEST(AdaptJdot, SaysWhenItsRoundsDidNotSettle) {
  const TrainView view = overlapping(60, 2, 2, 2, 30);
  const auto status = [&](const std::string& text) {
    const Stage stage = Pipeline::parse(text).stages().front();
    FitCache cache;
    return stage.method->fit(view, stage.options, context(), cache).status;
  };
  EXPECT_TRUE(status("adapt.jdot rounds=1000").converged);
  for (const char* rounds : {"1", "2"}) {
    const Status cut = status(fmt::format("adapt.jdot rounds={}", rounds));
    EXPECT_FALSE(cut.converged) << rounds;
    EXPECT_NE(cut.text.find(fmt::format("not settled after {} round", rounds)), std::string::npos) << cut.text;
  }
}

TEST(AdaptJdot, TellsOfATargetOfFewRows) {
  for (const Index rows : {1, 2, 3}) {
    Recorder recorder;
    fitted("adapt.jdot rounds=2", overlapping(60, 2, 2, 2, rows), context().observed_by(&recorder));
    EXPECT_EQ(std::ranges::count(recorder.warnings, "few_target_rows", &std::pair<std::string, std::string>::first),
              rows < 3 ? 1 : 0)
        << rows;
  }
}

/// A domain of one row has one class, whatever the shares are there.
TEST(AdaptJdot, DoesNotTellClassSharesOfSmallDomains) {
  TrainView view = overlapping(60, 2, 2, 2, 30);
  view.domain.names.emplace_back("one row");
  view.role.push_back(Role::source);
  view.domain.index[7] = 3;
  Recorder recorder;
  fitted("adapt.jdot rounds=2", view, context().observed_by(&recorder));
  for (const auto& each : recorder.warnings) EXPECT_NE(each.first, "class_shares_differ") << each.second;
  const auto of_shares = [](const std::string& note) { return note.find("of the rows of the source") != note.npos; };
  const auto told = std::ranges::find_if(recorder.notes, of_shares);
  if (told != recorder.notes.end()) {
    EXPECT_NE(told->find("with 20 rows or more"), std::string::npos) << *told;
  }
}

TEST(AdaptJdot, TellsOfClassShares) {
  TrainView view = overlapping(60, 2, 2, 2, 30);
  for (std::size_t i = 0; i < 60; ++i) view.domain.index[i] = view.y.index[i] == 0 || i % 20 == 1 ? 0 : 1;
  Recorder recorder;
  fitted("adapt.jdot rounds=2", view, context().observed_by(&recorder));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "class_shares_differ");
  EXPECT_NE(recorder.warnings[0].second.find("adapt.jdot"), std::string::npos) << recorder.warnings[0].second;
}

}  // namespace jdot_test
}  // namespace ecotone::test
