// What the refusal of separable classes says.
#include "ecotone/methods/learn/linear/separation.h"

#include "methods/support.h"

namespace ecotone::test {
namespace separation_test {

/// The message of a fit without a penalty.
std::string refusal(const TrainView& view, const std::string& text = "logistic l2=0") {
  EXPECT_EQ(code_of([&] { fitted(text, view); }), "separable");
  return message_of([&] { fitted(text, view); });
}

TrainView named(TrainView view, Matrix x, std::vector<std::string> names) {
  view.x = Features::dense(std::move(x), std::move(names));
  return view;
}

TEST(Separation, NamesARareIndicatorColumn) {
  TrainView view = overlapping(200, 2, 2, 2);
  Matrix x(200, 3);
  x.leftCols(2) = view.x.to_matrix();
  x.col(2).setZero();
  // Rows 1, 5 and 9 are of the second class.
  for (const Index row : {1, 5, 9}) x(row, 2) = 1;
  view = named(std::move(view), x, {"age", "pressure", "drug=b"});
  const std::string expected = "column 'drug=b' has the same value in all rows but 3, which are all of class 'c1'";
  EXPECT_NE(refusal(view).find(expected), std::string::npos) << refusal(view);
  EXPECT_EQ(refusal(view).find("'age'"), std::string::npos) << refusal(view);
  // Centred and scaled it is the same column, and of several classes the same class.
  EXPECT_NE(refusal(view, "scale | probit l2=0").find(expected), std::string::npos);
  EXPECT_NE(refusal(view, "softmax l2=0").find("'drug=b'"), std::string::npos);
  // A single row of the first class.
  x.col(2).setZero();
  x(0, 2) = -1;
  view.x = Features::dense(x, {"age", "pressure", "rare"});
  EXPECT_NE(refusal(view).find("column 'rare' has the same value in all rows but 1, which is of class 'c0'"),
            std::string::npos);
}

TEST(Separation, NamesAColumnThatSeparatesAlone) {
  TrainView view = overlapping(100, 2, 2, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 100; ++i) x(i, 1) = view.y.index[at(i)] == 1 ? 5.0 + static_cast<double>(i) : -1.0;
  EXPECT_NE(refusal(named(view, x, {"noise", "answer"})).find("column 'answer' alone separates class 'c1'"),
            std::string::npos);
}

TEST(Separation, SaysWhenColumnsAreTooManyForTheRows) {
  const std::string message = refusal(overlapping(20, 30, 2, 2));
  EXPECT_NE(message.find("30 columns are enough to separate any 20 rows"), std::string::npos) << message;
}

TEST(Separation, NamesTheColumnsWhoseWeightsGrow) {
  // The sum of two columns decides, neither does alone; a third is noise.
  TrainView view = overlapping(300, 3, 2, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 300; ++i) view.y.index[at(i)] = x(i, 0) + x(i, 2) > 20 ? 1 : 0;
  const std::string message = refusal(named(view, x, {"left", "noise", "right"}));
  const auto says = [&](const char* names) {
    return message.find(fmt::format("a combination of columns separates them; the weights of {} grow most", names)) !=
           std::string::npos;
  };
  EXPECT_TRUE(says("'left', 'right'") || says("'right', 'left'")) << message;
}

TEST(Separation, RowsWithoutWeightDoNotCount) {
  TrainView view = overlapping(100, 2, 2, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 100; ++i) x(i, 1) = view.y.index[at(i)];
  x(0, 1) = 1;
  view = named(view, x, {"noise", "answer"});
  view.weight = Vector::Ones(100);
  view.weight[0] = 0;
  EXPECT_NE(refusal(view).find("'answer'"), std::string::npos);
}

}  // namespace separation_test
}  // namespace ecotone::test
