#include "ecotone/methods/one_answer.h"

#include "evaluate/support.h"

namespace ecotone::test {
namespace one_answer_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> warnings(const Dataset& data, const std::string& pipeline) {
  const TrainView view = train_view(data, on(1));
  const Model model = Model::fit(Pipeline::parse(pipeline), view, data.schema, on(1));
  Recorder recorder;
  warn_one_answer(model, view, Context({.threads = 1, .observer = &recorder}));
  return recorder.warnings;
}

TEST(OneAnswer, IsReportedWhereTheModelKnowsSeveralClasses) {
  Dataset data = tiny(3, 40);
  // Two of three rows have the second class.
  for (std::size_t i = 0; i < data.y->index.size(); i += 2) data.y->index[i] = 1;
  EXPECT_THAT(warnings(data, "scale | logistic l2=1000"),
              ElementsAre(HasSubstr("one_class_predicted: fit: the model gives all 120 training rows the class 'c1'")));
  EXPECT_THAT(warnings(data, "scale | logistic l2=0.001"), ElementsAre());
  EXPECT_THAT(warnings(data, "scale | logistic l2=1000 class_weight=balanced"), ElementsAre());
}

TEST(OneAnswer, LooksAtClassifiersThatReadFeaturesAlone) {
  EXPECT_THAT(warnings(tiny(3, 20), "constant"), ElementsAre());
  EXPECT_THAT(warnings(tiny(3, 20), "scale"), ElementsAre());
  EXPECT_THAT(warnings(tiny_regression(3, 20), "scale | least_squares l2=1000"), ElementsAre());
}

TEST(OneAnswer, LooksBeyondTheFirstBlock) {
  Dataset data = tiny(1, 6000);
  Matrix x = Matrix::Zero(6000, 2);
  for (Index i = 0; i < 6000; ++i) {
    data.y->index[static_cast<std::size_t>(i)] = i >= 5000;
    x(i, 0) = i >= 5000 ? 1 : 0;
  }
  data.x = Features::dense(std::move(x), {"a", "b"});
  EXPECT_THAT(warnings(data, "logistic l2=0.001"), ElementsAre());
}

}  // namespace one_answer_test
}  // namespace ecotone::test
