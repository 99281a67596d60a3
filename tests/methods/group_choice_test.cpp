#include "ecotone/base/random.h"
#include "methods/support.h"

/// Every choice within the training rows keeps groups on one side: a method that is chosen or calibrated on rows of
/// patients that it was fitted on believes in what it has learned by heart.
namespace ecotone::test {
namespace group_choice_test {

constexpr Index patients = 36, visits = 4, columns = 12;

/// Patients with a label that no column has anything to do with, and visits that hardly differ. `domains` > 1: visits
/// of a patient alternate between two of them.
TrainView patients_by_heart(Index domains, Task task) {
  Random random(4, "patients");
  Matrix x(patients * visits, columns);
  Labels y{task, {}, {}, {}};
  if (task == Task::classify) y.classes = {"no", "yes"};
  if (task == Task::regress) y.value.resize(x.rows());
  TrainView view;
  for (Index p = 0; p < patients; ++p) {
    Vector mean(columns);
    for (double& value : mean) value = random.normal();
    for (Index v = 0; v < visits; ++v) {
      const Index row = p * visits + v;
      for (Index j = 0; j < columns; ++j) x(row, j) = mean[j] + 0.05 * random.normal();
      if (task == Task::classify) y.index.push_back(p % 2);
      if (task == Task::regress) y.value[row] = p % 2 == 0 ? -1.5 : 1.5;
      view.group.push_back(static_cast<std::int32_t>(p));
      view.domain.index.push_back(static_cast<std::int32_t>((p / 2 + v % 2) % domains));
    }
  }
  view.domain.names = dealt_domains(0, domains).names;
  view.role.assign(static_cast<std::size_t>(domains), Role::source);
  view.x = Features::dense(std::move(x));
  view.y = std::move(y);
  return view;
}

/// How far predictions for the training rows are from knowing nothing: the mean distance of probabilities from 1/2, or
/// the mean size of values.
double confidence(const std::string& pipeline, const TrainView& view) {
  const Context quiet = context().observed_by(nullptr);
  const Model model = Model::fit(Pipeline::parse(pipeline), view, Schema{}, quiet);
  const Prediction found = model.predict({view.x, view.domain}, quiet);
  if (view.y.task == Task::regress) return found.value.cwiseAbs().mean();
  return (found.probability.col(1).array() - 0.5).abs().mean();
}

class GroupChoice : public testing::TestWithParam<std::string> {};

TEST_P(GroupChoice, DoesNotBelieveWhatWasLearnedByHeart) {
  const bool regresses = GetParam().starts_with("gp") || GetParam().find("least_squares") != std::string::npos;
  for (const Index domains : {1, 4}) {
    TrainView view = patients_by_heart(domains, regresses ? Task::regress : Task::classify);
    const double aware = confidence(GetParam(), view);
    view.group.clear();
    const double blind = confidence(GetParam(), view);
    EXPECT_LT(aware, 0.7 * blind) << domains << " domains";
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, GroupChoice,
                         testing::Values("scale | logistic l2=auto", "scale | logistic l1=auto",
                                         "scale | least_squares", "ridge", "scale | ridge", "step | logistic l2=0.01",
                                         "step", "scale | svm C=10 probability=true", "gp fit=cv",
                                         "scale | logistic l2=0.001 | calibrate"));

}  // namespace group_choice_test
}  // namespace ecotone::test
