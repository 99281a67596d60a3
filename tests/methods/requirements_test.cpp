#include "ecotone/methods/requirements.h"

#include <limits>

#include "methods/support.h"

namespace ecotone::test {
namespace requirements_test {

TrainView two_rows(Labels y) { return view_of(Features::dense(Matrix::Ones(2, 1)), std::move(y)); }

TEST(Requirements, OfLabels) {
  const TrainView numbers = two_rows(number_labels({1, 2}));
  const TrainView one = two_rows(class_labels({"a"}, {0, 0}));
  const TrainView two = two_rows(class_labels({"a", "b"}, {0, 1}));
  EXPECT_EQ(message_of([&] { require_classes("svm", numbers); }),
            "svm: the label is a number to predict, not a class; use --task classify to treat its values as classes");
  EXPECT_EQ(code_of([&] { require_classes("svm", numbers); }), "needs_classes");
  EXPECT_EQ(message_of([&] { require_two_classes("svm", one); }),
            "svm: all labelled rows are of class 'a'; at least two classes are needed");
  EXPECT_EQ(code_of([&] { require_two_classes("svm", one); }), "one_class");
  EXPECT_NO_THROW(require_classes("svm", one));
  EXPECT_NO_THROW(require_two_classes("svm", two));
  EXPECT_NO_THROW(require_two_classes("svm", numbers));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_of([&] {
              require_finite_labels("gp", number_labels({1, infinity}));
            }),
            "gp: the labels hold an infinite value");
  EXPECT_NO_THROW(require_finite_labels("gp", two.y));
}

TEST(Requirements, OfTargetRows) {
  TrainView view = two_rows(class_labels({"a", "b"}, {0, 1}));
  EXPECT_EQ(message_of([&] { require_target("dasvm", view); }),
            "dasvm: no target domain; name one with --target (fit) or use --protocol adapt (evaluate)");
  EXPECT_EQ(code_of([&] { require_target("dasvm", view); }), "no_target");
  EXPECT_NO_THROW(require_target("dasvm", view, 1));
  view.y.index.pop_back();
  EXPECT_NO_THROW(require_target("dasvm", view));
}

TEST(Requirements, OfFiniteNumbersNameTheRowOfTheFile) {
  Matrix x = Matrix::Zero(3, 2);
  x(1, 1) = nan;
  const Features features = Features::dense(x, {"age", "dose"});
  EXPECT_EQ(message_of([&] { require_finite_features("dbn", features, {}, context()); }),
            "dbn: column 'dose' is not a number in row 2; add impute before it");
  const Batch batch{features, std::nullopt};
  EXPECT_EQ(message_of([&] { require_finite_scores("svm", x, batch); }),
            "svm: the values of row 2 are too large to predict from");
  EXPECT_EQ(message_of([&] { require_finite_scores("svm", x.bottomRows(2), batch, 1); }),
            "svm: the values of row 2 are too large to predict from");
  EXPECT_NO_THROW(require_finite_scores("svm", x.topRows(1), batch));
}

TEST(Requirements, OfSavedModels) {
  const StageInput regression{2, Task::regress, {}};
  const StageInput three{2, Task::classify, {"a", "b", "c"}};
  const StageInput two{2, Task::classify, {"a", "b"}};
  for (const StageInput& input : {regression, three})
    EXPECT_EQ(code_of([&] { require_binary_model(input); }), "bad_model");
  EXPECT_EQ(message_of([&] { require_binary_or_regression_model(three); }), "it needs two classes, got 3");
  EXPECT_NO_THROW(require_binary_model(two));
  EXPECT_NO_THROW(require_binary_or_regression_model(regression));
}

}  // namespace requirements_test
}  // namespace ecotone::test
