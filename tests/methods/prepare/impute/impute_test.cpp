#include "ecotone/methods/prepare/impute/impute.h"

#include <limits>

#include "methods/support.h"

namespace ecotone::test {
namespace impute_test {

/// Columns a (mean 2, median 1 of 1, 1, 4), b (mean 15, median 15 of 10, 20) and c (no value).
Matrix holes() {
  Matrix x(4, 3);
  x << 1, 10, nan, nan, 20, nan, 1, nan, nan, 4, nan, nan;
  return x;
}

Features named(Matrix x) { return Features::dense(std::move(x), {"a", "b", "c"}); }

Matrix imputed(const Model& model, const Features& x) {
  return model.transform({x, std::nullopt}, context()).to_matrix();
}

TEST(Impute, FillsWithMeanMedianOrConstant) {
  const TrainView view = view_of(named(holes()), no_labels());
  EXPECT_EQ(fitted("impute", view).inspect()["stages"][0]["fill"], Json({2.0, 15.0, 0.0}));
  EXPECT_EQ(fitted("impute strategy=median", view).inspect()["stages"][0]["fill"], Json({1.0, 15.0, 0.0}));
  EXPECT_EQ(fitted("impute strategy=constant value=-7", view).inspect()["stages"][0]["fill"], Json({-7.0, -7.0, -7.0}));
  const Matrix z = imputed(fitted("impute", view), named(holes()));
  Matrix expected(4, 3);
  expected << 1, 10, 0, 2, 20, 0, 1, 15, 0, 4, 15, 0;
  EXPECT_EQ(z, expected);
}

TEST(Impute, WarnsOfAColumnWithoutValues) {
  Recorder recorder;
  const Context run({.threads = 1, .observer = &recorder});
  fitted("impute", view_of(named(holes()), no_labels()), run);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "no_values");
  EXPECT_EQ(recorder.warnings[0].second, "impute: column 'c' has no value in the training rows and is filled with 0");
}

TEST(Impute, LearnsFromLabelledRowsOnly) {
  Matrix x(3, 1);
  x << 1, 3, 100;
  TrainView view = view_of(Features::dense(x), class_labels({"a", "b"}, {0, 1}));
  view.domain.names.push_back("t");
  view.domain.index[2] = 1;
  view.role.push_back(Role::target);
  EXPECT_EQ(fitted("impute", view).inspect()["stages"][0]["fill"], Json({2.0}));
  view.y = no_labels();
  EXPECT_NEAR(fitted("impute", view).inspect()["stages"][0]["fill"][0].get<double>(), 104.0 / 3, 1e-13);
}

TEST(Impute, IndicatorsMarkWhatWasMissing) {
  Matrix x = holes();
  x.col(1) << 10, 20, 30, 40;  // complete in training: no indicator
  const Model model = fitted("impute indicator=true", view_of(named(x), no_labels()));
  const Features z = model.transform({named(holes()), std::nullopt}, context());
  EXPECT_EQ(z.names(), (std::vector<std::string>{"a", "b", "c", "a_missing", "c_missing"}));
  Matrix flags(4, 2);
  flags << 0, 1, 1, 1, 0, 1, 0, 1;
  EXPECT_EQ(z.to_matrix().rightCols(2), flags);
  EXPECT_EQ(z.to_matrix()(2, 1), 25.0);
  EXPECT_EQ(imputed(reloaded(model), named(holes())), z.to_matrix());
  EXPECT_EQ(model.inspect()["stages"][0]["indicator_columns"], Json({0.0, 2.0}));
}

TEST(Impute, AnIndicatorDoesNotTakeTheNameOfAColumn) {
  Matrix x(2, 2);
  x << 1, 0, nan, 1;
  const TrainView view = view_of(Features::dense(x, {"a", "a_missing"}), no_labels());
  EXPECT_EQ(code_of([&] { fitted("impute indicator=true", view); }), "duplicate_column");
  const std::string message = message_of([&] { fitted("impute indicator=true", view); });
  EXPECT_NE(message.find("'a'"), std::string::npos) << message;
  EXPECT_NE(message.find("'a_missing'"), std::string::npos) << message;
  EXPECT_EQ(code_of([&] { fitted("impute", view); }), "none");
}

TEST(Impute, SparseRowsStaySparseAndZerosAreValues) {
  Matrix x(4, 3);
  x << 0, 5, 0, nan, 0, 0, 6, 0, nan, 0, 0, 9;
  const Features sparse = Features::sparse(to_csr(x));
  const Model model = fitted("impute indicator=true", view_of(sparse, no_labels()));
  // Column 1: 0, 6, 0 -> 2; column 3: 0, 0, 9 -> 3.
  EXPECT_EQ(model.inspect()["stages"][0]["fill"], Json({2.0, 1.25, 3.0}));
  const Features z = model.transform({sparse, std::nullopt}, context());
  EXPECT_TRUE(z.is_sparse());
  EXPECT_EQ(z.cols(), 5);
  EXPECT_EQ(z.to_matrix(), imputed(model, Features::dense(x)));
  EXPECT_EQ(z.to_matrix()(1, 0), 2.0);
  EXPECT_EQ(z.to_matrix()(1, 3), 1.0);
  EXPECT_EQ(z.to_matrix()(2, 4), 1.0);
}

TEST(Impute, MediansOfSparseAndDenseRowsAgree) {
  Random random(9, "medians");
  for (const Index rows : {1, 2, 7, 1201}) {
    Matrix x(rows, 4);
    for (Index i = 0; i < rows; ++i) {
      x(i, 0) = random.normal();
      x(i, 1) = random.uniform() < 0.4 ? 0 : random.normal();
      x(i, 2) = random.uniform() < 0.7 ? 0 : random.normal() - 3;
      x(i, 3) = random.uniform() < 0.3 ? nan : std::round(2 * random.normal());
    }
    const Json dense = fitted("impute strategy=median", view_of(Features::dense(x), no_labels())).inspect();
    const Json sparse = fitted("impute strategy=median", view_of(Features::sparse(to_csr(x)), no_labels())).inspect();
    EXPECT_EQ(dense["stages"][0]["fill"], sparse["stages"][0]["fill"]) << rows;
    std::vector<double> column(x.rows());
    for (Index i = 0; i < rows; ++i) column[static_cast<std::size_t>(i)] = x(i, 1);
    std::sort(column.begin(), column.end());
    const double middle =
        (column[static_cast<std::size_t>((rows - 1) / 2)] + column[static_cast<std::size_t>(rows / 2)]) / 2;
    EXPECT_EQ(dense["stages"][0]["fill"][1], middle) << rows;
  }
}

TEST(Impute, RefusesAnInfiniteMeanByColumn) {
  Matrix x = holes();
  x(0, 1) = std::numeric_limits<double>::infinity();
  const auto fit = [&] { fitted("impute", view_of(named(x), no_labels())); };
  EXPECT_EQ(code_of(fit), "non_finite");
  EXPECT_NE(message_of(fit).find("impute: column 'b'"), std::string::npos) << message_of(fit);
}

TEST(Impute, LetsALearnerSeeNewHoles) {
  // Nothing is missing in training; a hole in the new rows is still filled.
  const TrainView view = overlapping(200, 2, 2, 1);
  const Model model = fitted("impute | constant", view);
  Matrix x(1, 2);
  x << nan, 1;
  EXPECT_EQ(model.predict({Features::dense(x), std::nullopt}, context()).index.size(), 1U);
}

}  // namespace impute_test
}  // namespace ecotone::test
