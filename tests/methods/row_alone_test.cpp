// An answer depends on its row alone, to the last digit: not on which rows are asked with it, in which order or how
// often. Every registered method promises it unless it needs the sample of a domain.
#include <algorithm>
#include <numeric>

#include "ecotone/methods/registry.h"
#include "methods/each_method.h"
#include "methods/support.h"

namespace ecotone::test {
namespace row_alone_test {

/// All that a model answers for rows, side by side.
Matrix answers(const Model& model, const Matrix& x) {
  const Batch batch{Features::dense(x), std::nullopt};
  std::vector<Matrix> parts;
  if (model.pipeline().predicts()) {
    const Prediction found = model.predict(batch, context());
    parts = {found.probability, found.value, found.variance, found.score};
  } else {
    parts = {model.transform(batch, context()).to_matrix()};
  }
  Index cols = 0;
  for (const Matrix& part : parts) cols += part.cols() * (part.rows() > 0 ? 1 : 0);
  Matrix all(x.rows(), cols);
  cols = 0;
  for (const Matrix& part : parts) {
    if (part.rows() == 0) continue;
    all.middleCols(cols, part.cols()) = part;
    cols += part.cols();
  }
  return all;
}

Matrix rows_at(const Matrix& x, const std::vector<Index>& rows) {
  Matrix result(std::ssize(rows), x.cols());
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = x.row(rows[at(i)]);
  return result;
}

/// Rows alone, all rows in another order, and copies of one row in different places.
void expect_alone(const std::string& text, const TrainView& view) {
  const Model model = fitted(text, view);
  if (model.needs_domain_sample()) return;
  const Matrix x = overlapping(531, view.x.cols(), 2, 1).x.to_matrix();  // a whole block and a few rows
  const Matrix whole = answers(model, x);
  for (const Index row : {0, 1, 2, 7, 511, 512, 530})
    EXPECT_TRUE(same_bytes(answers(model, rows_at(x, {row})), Matrix(whole.row(row)))) << text << ", row " << row;
  std::vector<Index> order(531);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::reverse(order);
  for (int copy = 0; copy < 9; ++copy) order.push_back(3);
  EXPECT_TRUE(same_bytes(answers(model, rows_at(x, order)), rows_at(whole, order))) << text << ", reordered";
}

class RowAlone : public testing::TestWithParam<std::string> {};

TEST_P(RowAlone, IsAnsweredTheSame) {
  const Method& tested = method(GetParam());
  const TrainView two = overlapping(150, 5, 2, 3, 40);
  std::vector<std::string> texts = {alone(tested)};
  if (with_defaults(tested) != texts.front() && tested.name != "dbn") texts.push_back(with_defaults(tested));
  for (const std::string& text : texts) {
    expect_alone(text, suited(tested, two));
    if (tested.combines_classes() || tested.follows_learner()) expect_alone(text, overlapping(150, 5, 3, 3, 40));
    if (!tested.can_predict()) expect_alone(text + " | logistic l2=0.1", two);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMethod, RowAlone, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Method& each : methods()) names.push_back(each.name);
                           return names;
                         }()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

/// Routes that the defaults do not take.
class RowAloneRoutes : public testing::TestWithParam<const char*> {};

TEST_P(RowAloneRoutes, OfClassesAreAnsweredTheSame) {
  expect_alone(GetParam(), overlapping(150, 5, 2, 3, 40));
  expect_alone(GetParam(), overlapping(150, 5, 3, 3, 40));
}

INSTANTIATE_TEST_SUITE_P(All, RowAloneRoutes,
                         testing::Values("scale | svm kernel=poly C=0.01", "svm kernel=laplacian", "svm kernel=linear",
                                         "svm route=low_rank rank=20", "svm kernel=linear route=low_rank",
                                         "svm probability=true", "scale | logistic l2=0.1 multiclass=softmax",
                                         "logistic l2=0.1 multiclass=ovo", "logistic l2=0.1 multiclass=ecoc",
                                         "adaboost rounds=9 base=tree", "daboost rounds=9 vote=2 smooth=knn",
                                         "svm | calibrate method=isotonic", "kpca kernel=poly | svm",
                                         "kpca route=low_rank rank=20 map=fourier | svm",
                                         "kpca kernel=laplacian | ridge"));

class RowAloneNumbers : public testing::TestWithParam<const char*> {};

TEST_P(RowAloneNumbers, AreAnsweredTheSame) {
  expect_alone(GetParam(), suited(method("gp"), overlapping(150, 5, 2, 3, 40)));
}

INSTANTIATE_TEST_SUITE_P(All, RowAloneNumbers,
                         testing::Values("gp mean=linear sigma=3", "gp kernel=linear",
                                         "gp route=low_rank rank=20 sigma=3 mean=linear", "ridge", "svm",
                                         "tgreedy steps=2", "step", "coir output_kernel=rbf | gp sigma=3"));

}  // namespace row_alone_test
}  // namespace ecotone::test
