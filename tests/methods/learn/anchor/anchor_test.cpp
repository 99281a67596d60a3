#include "ecotone/solve/moments/anchor.h"

#include "ecotone/methods/sums/row_sums.h"
#include "methods/align_golden.h"

namespace ecotone::test {
namespace anchor_test {

std::string pipeline_of(const Json& task) {
  const Json& params = task.at("params");
  return fmt::format("anchor gamma={} l2={}", params.at("gamma").get<double>(), params.at("l2").get<double>());
}

Vector weights_of(const Json& stage) { return vector_of(stage.at("weights")); }

TEST(Anchor, GoldenFromRowsAndFromSums) {
  const AlignGolden golden("13_anchor");
  const TrainView view = golden.numbers("y_regress");
  const RowSums sums = gather_sums(view, context());
  Schema schema;
  schema.columns = {{.name = "x1", .levels = {}}, {.name = "x2", .levels = {}}};
  for (const Json& task : golden.tasks("anchor")) {
    for (const Model& model : {fitted(pipeline_of(task), view), Model::from_sums(Pipeline::parse(pipeline_of(task)),
                                                                                 sums, schema, nullptr, context())}) {
      const Json stage = model.inspect()["stages"][0];
      golden.expect(task, "weights", weights_of(stage));
      golden.expect(task, "offset", stage.at("offset").get<double>());
    }
  }
}

TEST(Anchor, ValuesFarFromZeroKeepTheirDigits) {
  const AlignGolden golden("13_anchor");
  const Json task = golden.tasks("anchor").back();
  TrainView view = golden.numbers("y_regress");
  view.x = Features::dense((view.x.to_matrix().array() + 1e6).matrix());
  view.y.value.array() -= 1e5;
  const Json stage = fitted(pipeline_of(task), view).inspect()["stages"][0];
  EXPECT_LT((weights_of(stage) - vector_of(task.at("expect").at("weights"))).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(Anchor, AutoTakesTheGammaThatDoesBestInLeftOutDomains) {
  const AlignGolden golden("13_anchor");
  const Json stage = fitted("anchor gamma=auto", golden.numbers("y_regress")).inspect()["stages"][0];
  const std::vector<double> gammas = numbers_of(stage.at("left_out_gamma"));
  const std::vector<double> losses = numbers_of(stage.at("left_out_loss"));
  const auto best = static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
  EXPECT_EQ(stage.at("gamma").get<double>(), gammas[best]);
}

TEST(Anchor, AutoNeedsThreeDomains) {
  TrainView view = overlapping(60, 2, 2, 2);
  view.y = Labels{Task::regress, {}, {}, Vector::LinSpaced(60, 0, 1)};
  const Json stage = fitted("anchor gamma=auto", view).inspect()["stages"][0];
  EXPECT_EQ(stage.at("gamma"), 1.0);
  EXPECT_EQ(stage.at("status"), "gamma=1: auto needs three domains");
  EXPECT_EQ(stage.at("weights"), fitted("anchor gamma=1", view).inspect()["stages"][0].at("weights"));
  EXPECT_FALSE(stage.contains("left_out_loss"));
}

TEST(Anchor, AutoStaysAtOneWhereGammaMakesNoDifference) {
  // Three domains with the same rows: their means do not differ.
  TrainView view = overlapping(60, 2, 2, 3);
  Matrix x = view.x.to_matrix();
  Vector y(60);
  for (Index i = 0; i < 60; ++i) {
    const Index row = i / 3;
    view.domain.index[at(i)] = static_cast<std::int32_t>(i % 3);
    x(i, 0) = std::sin(static_cast<double>(7 * row));
    x(i, 1) = std::cos(static_cast<double>(5 * row));
    y[i] = x(i, 0) + 0.3 * x(i, 1) * x(i, 1);
  }
  view.x = Features::dense(x);
  view.y = Labels{Task::regress, {}, {}, y};
  const Json stage = fitted("anchor gamma=auto", view).inspect()["stages"][0];
  EXPECT_EQ(stage.at("gamma"), 1.0);
  EXPECT_EQ(stage.at("left_out_gamma").size(), 6U);
}

/// Three domains; the second column has one value in each.
TrainView constant_within_domains() {
  TrainView view = overlapping(60, 2, 2, 3);
  view.y = Labels{Task::regress, {}, {}, Vector::LinSpaced(60, 0, 1)};
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 60; ++i) x(i, 1) = view.domain.index[at(i)];
  view.x = Features::dense(x);
  return view;
}

TEST(Anchor, AutoPassesOverAGammaWhoseFitIsSingular) {
  const Model model = fitted("anchor gamma=auto l2=0", constant_within_domains());
  const Json stage = model.inspect()["stages"][0];
  EXPECT_GT(stage.at("gamma").get<double>(), 0);
  EXPECT_EQ(numbers_of(stage.at("left_out_gamma")), (std::vector<double>{0.5, 1, 2, 5, 20}));
  EXPECT_EQ(stage.at("left_out_loss").size(), 5U);
  EXPECT_TRUE(reloaded(model).bytes() == model.bytes());
}

TEST(Anchor, AColumnThatIsConstantWithinDomainsNeedsAPenalty) {
  const TrainView view = constant_within_domains();
  EXPECT_EQ(code_of([&] { fitted("anchor gamma=0 l2=0", view); }), "singular");
  EXPECT_EQ(code_of([&] { fitted("anchor gamma=0 l2=0.01", view); }), "none");
}

}  // namespace anchor_test
}  // namespace ecotone::test
