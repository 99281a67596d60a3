// The golden case 06_tca through the stage. Its task tca_lowrank gives the low-rank factor of the kernel, which a stage
// makes itself: it is compared in solve/components.
#include <cmath>

#include "methods/align_golden.h"

namespace ecotone::test {
namespace tca_stage_test {

/// Rows of 06_tca: source and target, or three source domains.
TrainView tca_view(const Json& inputs, const std::string& groups) {
  TrainView view = view_of(Features::dense(matrix_of(inputs.at("X"))), no_labels());
  view.domain.index = indices_of(inputs.at(groups));
  const bool two = groups == "two";
  view.domain.names = two ? std::vector<std::string>{"s", "t"} : dealt_domains(0, 3).names;
  view.role.assign(view.domain.names.size(), Role::source);
  if (two) view.role[1] = Role::target;
  return view;
}

std::string tca_text(const Json& params) {
  const bool two = params.at("groups") == "two";
  // k(x, z) = exp(-gamma |x - z|^2), gamma = 1 / (2 sigma^2)
  return fmt::format("tca components={} mu={} sigma={} groups={}", params.at("m").get<int>(),
                     params.at("mu").get<double>(), std::sqrt(0.5 / params.at("gamma").get<double>()),
                     two ? "two" : "domain");
}

TEST(TcaStage, GoldenExact) {
  const AlignGolden golden("06_tca");
  const Matrix fresh = matrix_of(golden.inputs().at("new"));
  for (const Json& task : golden.tasks("tca")) {
    const TrainView view = tca_view(golden.inputs(), task.at("params").at("groups"));
    const Model model = reloaded(fitted(tca_text(task.at("params")) + " route=exact", view));
    golden.expect(task, "eigenvalues", vector_of(model.inspect()["stages"][0].at("gamma")));
    golden.expect(task, "train", model.transform({view.x, std::nullopt}, context()).to_matrix());
    golden.expect(task, "new", model.transform({Features::dense(fresh), std::nullopt}, context()).to_matrix());
  }
}

/// Landmarks at all rows give the same kernel, up to what is left of one that is nearly singular.
TEST(TcaStage, GoldenLowRank) {
  const AlignGolden golden("06_tca");
  const Matrix fresh = matrix_of(golden.inputs().at("new"));
  for (const Json& task : golden.tasks("tca")) {
    const TrainView view = tca_view(golden.inputs(), task.at("params").at("groups"));
    const Model model = fitted(tca_text(task.at("params")) + " route=low_rank map=greedy rank=21", view);
    const auto apart = [&](const Matrix& ours, const char* field) {
      return (ours - matrix_of(task.at("expect").at(field))).cwiseAbs().maxCoeff();
    };
    const Vector gamma = vector_of(model.inspect()["stages"][0].at("gamma"));
    EXPECT_LT((gamma - vector_of(task.at("expect").at("eigenvalues"))).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT(apart(model.transform({view.x, std::nullopt}, context()).to_matrix(), "train"), 1e-5);
    EXPECT_LT(apart(model.transform({Features::dense(fresh), std::nullopt}, context()).to_matrix(), "new"), 1e-5);
  }
}

}  // namespace tca_stage_test
}  // namespace ecotone::test
