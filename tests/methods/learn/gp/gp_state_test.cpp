#include "methods/learn/gp/gp_support.h"

namespace ecotone::test {
namespace gp_state_test {

bool same_state(const StageState& a, const StageState& b) {
  if (a.info != b.info || a.arrays().size() != b.arrays().size()) return false;
  for (const auto& [name, array] : a.arrays()) {
    if (!b.has(name) || b.arrays().at(name).shape != array.shape || b.arrays().at(name).values != array.values)
      return false;
  }
  return true;
}

const StageInput input{2, Task::regress, {}};

TEST(GpState, ALoadedStageAnswersAndSavesTheSame) {
  const TrainView view = waves(80, 2);
  const Batch fresh{waves(30, 9).x, dealt_domains(30, 2)};
  for (const bool distributional : {false, true})
    for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank})
      for (const GpMean mean : {GpMean::zero, GpMean::constant, GpMean::linear})
        for (const bool variance : {true, false}) {
          GpOptions options{.mean = mean, .route = route, .rank = 40, .variance = variance};
          options.distributional = distributional;
          const auto first = fitted(view, options).fitted;
          const StageState state = first->save();
          const auto again = Gp::load(state, options, input);
          EXPECT_TRUE(same_state(again->save(), state));
          const Prediction a = first->predict(fresh, context()), b = again->predict(fresh, context());
          EXPECT_TRUE(same_bytes(a.value, b.value));
          EXPECT_TRUE(same_bytes(a.variance, b.variance));
          EXPECT_EQ(first->needs_domain_sample(), distributional);
          EXPECT_EQ(again->needs_domain_sample(), distributional);
        }
}

TEST(GpState, HoldsTheLowerTriangleAlone) {
  const StageState state = fitted(waves(80, 2), {}).fitted->save();
  EXPECT_EQ(state.vector("factor", -1).size(), 80 * 81 / 2);
}

TEST(GpState, RefusesHostileStates) {
  for (const bool distributional : {false, true})
    for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank}) {
      GpOptions options{.mean = GpMean::linear, .route = route};
      options.distributional = distributional;
      const StageState good = fitted(waves(40, 2), options).fitted->save();
      const auto code = [&](const auto& spoil) {
        StageState state = good;
        spoil(state);
        return code_of([&] { Gp::load(state, options, input); });
      };
      EXPECT_EQ(code([](StageState&) {}), "none");
      for (const auto& [name, array] : good.arrays()) {
        EXPECT_EQ(code([&name = name](StageState& s) { s.set(name, Matrix(Matrix::Ones(3, 7))); }), "bad_model")
            << name;
        StageState::Array empty{std::vector<Index>(array.shape.size(), 0), {}};
        EXPECT_EQ(code([&name = name, &empty](StageState& s) { s.set(name, empty); }), "bad_model") << name;
      }
      for (const auto& [name, value] : good.info.items())
        EXPECT_EQ(code([&name = name](StageState& s) { s.info.erase(name); }), "bad_model") << name;
      EXPECT_EQ(code([](StageState& s) { s.info["amplitude"] = 0; }), "bad_model");
      EXPECT_EQ(code([](StageState& s) { s.info["noise"] = -1; }), "bad_model");
      EXPECT_EQ(code([](StageState& s) { s.info["route"] = "other"; }), "bad_model");
      EXPECT_EQ(code([](StageState& s) { s.info["sigma"] = 0; }), "bad_model");
      GpOptions other = options;
      other.route = GpRoute::automatic;
      EXPECT_EQ(code_of([&] { Gp::load(good, other, input); }), "none");
      other.route = route == GpRoute::exact ? GpRoute::low_rank : GpRoute::exact;
      EXPECT_TRUE(message_of([&] { Gp::load(good, other, input); }).find("the options say") != std::string::npos);
      EXPECT_EQ(code([](StageState& s) {
                  Vector factor = s.vector("factor", -1);
                  factor[0] = 0;
                  s.set("factor", factor);
                }),
                "bad_model");
      EXPECT_EQ(code([](StageState& s) { s.set("spread", Vector(Vector::Constant(2, -1))); }), "bad_model");
    }
}

}  // namespace gp_state_test
}  // namespace ecotone::test
