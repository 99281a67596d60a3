#include "ecotone/methods/one_answer.h"

#include "methods/support.h"

namespace ecotone::test {
namespace one_answer_test {

/// Codes of the warnings about the fitted pipeline.
std::vector<std::string> warned(const TrainView& view, const std::string& pipeline) {
  const Model model = fitted(pipeline, view);
  Recorder recorder;
  warn_one_answer(model, view, Context({.threads = 1, .observer = &recorder}));
  std::vector<std::string> codes;
  for (const auto& [code, message] : recorder.warnings) codes.push_back(code);
  return codes;
}

const std::vector<std::string> none;
const std::vector<std::string> one = {"one_class_predicted"};

/// Two of three rows have the second class.
TrainView lopsided() {
  TrainView view = overlapping(120, 2, 2, 3);
  for (std::size_t i = 0; i < view.y.index.size(); i += 3) view.y.index[i] = 1;
  return view;
}

TEST(OneAnswer, IsReportedWhereTheModelKnowsSeveralClasses) {
  EXPECT_EQ(warned(lopsided(), "scale | logistic l2=1000"), one);
  EXPECT_EQ(warned(lopsided(), "scale | logistic l2=0.001"), none);
}

TEST(OneAnswer, LooksAtClassifiersThatReadFeaturesAlone) {
  EXPECT_EQ(warned(lopsided(), "constant"), none);
  EXPECT_EQ(warned(lopsided(), "scale"), none);
  TrainView numbers = view_of(Features::dense(Matrix::Random(4, 2)), number_labels({1, 2, 3, 4}));
  EXPECT_EQ(warned(numbers, "least_squares l2=1000"), none);
}

TEST(OneAnswer, LooksBeyondTheFirstBlock) {
  Matrix x = Matrix::Zero(6000, 1);
  std::vector<std::int32_t> index(6000, 0);
  for (Index i = 5000; i < 6000; ++i) {
    x(i, 0) = 1;
    index[static_cast<std::size_t>(i)] = 1;
  }
  const TrainView view = view_of(Features::dense(std::move(x)), class_labels({"a", "b"}, std::move(index)));
  EXPECT_EQ(warned(view, "logistic l2=0.001"), none);
  EXPECT_EQ(warned(view, "logistic l2=100"), one);
}

}  // namespace one_answer_test
}  // namespace ecotone::test
