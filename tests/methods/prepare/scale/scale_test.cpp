#include "ecotone/methods/prepare/scale/scale.h"

#include <limits>

#include "methods/support.h"

namespace ecotone::test {
namespace scale_test {

Matrix scaled(const Model& model, const Features& x) {
  return model.transform({x, std::nullopt}, context()).to_matrix();
}

TEST(Scale, UsesThePopulationDeviationOfTheLabelledRows) {
  // Labelled: 1, 3, 5, 7 -> mean 4, variance (9 + 1 + 1 + 9) / 4 = 5. The last row is a target and does not count.
  Matrix x(5, 2);
  x << 1, 8, 3, 8, 5, 8, 7, 8, 1000, 9;
  TrainView view = view_of(Features::dense(x), class_labels({"a", "b"}, {0, 1, 0, 1}));
  view.domain.names.push_back("t");
  view.domain.index[4] = 1;
  view.role.push_back(Role::target);
  const Model model = fitted("scale", view);
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["mean"], Json({4.0, 8.0}));
  EXPECT_NEAR(stage["scale"][0].get<double>(), std::sqrt(5.0), 1e-15);
  EXPECT_EQ(stage["scale"][1], 1.0) << "0 becomes 1";
  const Matrix z = scaled(model, Features::dense(x));
  EXPECT_NEAR(z(0, 0), -3 / std::sqrt(5.0), 1e-15);
  EXPECT_NEAR(z(4, 0), 996 / std::sqrt(5.0), 1e-12);
  EXPECT_EQ(z(4, 1), 1.0);
}

TEST(Scale, WithoutLabelsAllRowsCount) {
  Matrix x(2, 1);
  x << 0, 2;
  EXPECT_EQ(fitted("scale", view_of(Features::dense(x), no_labels())).inspect()["stages"][0]["mean"], Json({1.0}));
}

TEST(Scale, ConstantColumnsOfAnyValueStayExact) {
  // Sums of 0.1 are not multiples of it: the deviation must still be 0, not rounding noise.
  for (const double value : {0.1, 1e9 + 0.1, -3e-7, 1e-300, 0.0}) {
    const Matrix x = Matrix::Constant(1300, 1, value);
    for (const Features& features : {Features::dense(x), Features::sparse(to_csr(x))}) {
      const Model model = fitted("scale", view_of(features, no_labels()));
      EXPECT_EQ(model.inspect()["stages"][0]["scale"], Json({1.0})) << value;
      EXPECT_EQ(scaled(model, Features::dense(x))(1299, 0), features.is_sparse() ? value : 0.0) << value;
    }
  }
}

TEST(Scale, LargeOffsetsCostNoDigits) {
  // x = 1e9 + {0, 1, 2} in turn: variance 2/3 whatever the offset.
  Matrix x(3000, 1);
  for (Index i = 0; i < 3000; ++i) x(i, 0) = 1e9 + static_cast<double>(i % 3);
  const Json stage = fitted("scale", view_of(Features::dense(x), no_labels())).inspect()["stages"][0];
  EXPECT_NEAR(stage["scale"][0].get<double>(), std::sqrt(2.0 / 3.0), 1e-12);
  EXPECT_NEAR(stage["mean"][0].get<double>(), 1e9 + 1, 1e-6);
  const Json sparse = fitted("scale", view_of(Features::sparse(to_csr(x)), no_labels())).inspect()["stages"][0];
  EXPECT_NEAR(sparse["scale"][0].get<double>(), std::sqrt(2.0 / 3.0), 1e-12);
}

TEST(Scale, MissingValuesAreLeftOutAndStay) {
  Matrix x(4, 2);
  x << 1, nan, nan, nan, 3, nan, nan, nan;
  const Model model = fitted("scale", view_of(Features::dense(x), no_labels()));
  EXPECT_EQ(model.inspect()["stages"][0]["mean"], Json({2.0, 0.0}));
  EXPECT_EQ(model.inspect()["stages"][0]["scale"], Json({1.0, 1.0}));
  const Matrix z = scaled(model, Features::dense(x));
  EXPECT_EQ(z(0, 0), -1.0);
  EXPECT_TRUE(std::isnan(z(1, 0)));
  const Model both = fitted("scale | impute", view_of(Features::dense(x), no_labels()));
  EXPECT_EQ(scaled(both, Features::dense(x))(1, 0), 0.0);
}

TEST(Scale, SparseColumnsAreScaledNotCentred) {
  Matrix x(4, 2);
  x << 0, 2, 4, 0, 0, 2, 0, 0;
  const Model model = fitted("scale", view_of(Features::sparse(to_csr(x)), no_labels()));
  // Column 1: mean 1, variance (1 + 9 + 1 + 1) / 4 = 3. Column 2: mean 1, variance 1.
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["mean"], Json({0.0, 0.0}));
  EXPECT_NEAR(stage["scale"][0].get<double>(), std::sqrt(3.0), 1e-15);
  EXPECT_EQ(stage["scale"][1], 1.0);
  const Features sparse = model.transform({Features::sparse(to_csr(x)), std::nullopt}, context());
  EXPECT_TRUE(sparse.is_sparse());
  EXPECT_NEAR(sparse.to_matrix()(1, 0), 4 / std::sqrt(3.0), 1e-15);
  // The same rows stored densely give the same numbers.
  EXPECT_TRUE(same_bytes(scaled(model, Features::dense(x)), sparse.to_matrix()));
}

TEST(Scale, AModelOfDenseRowsCentresSparseOnesToo) {
  Matrix x(4, 1);
  x << 0, 2, 4, 6;
  const Model model = fitted("scale", view_of(Features::dense(x), no_labels()));
  EXPECT_TRUE(same_bytes(scaled(model, Features::sparse(to_csr(x))), scaled(model, Features::dense(x))));
}

TEST(Scale, RefusesInfinityAndOverflowByColumn) {
  Matrix x = Matrix::Random(4, 2);
  x(2, 1) = -std::numeric_limits<double>::infinity();
  const auto fit = [](const Matrix& rows) {
    return [rows] { fitted("scale", view_of(Features::dense(rows, {"age", "chol"}), no_labels())); };
  };
  EXPECT_EQ(code_of(fit(x)), "non_finite");
  EXPECT_EQ(message_of(fit(x)), "scale: column 'chol' holds an infinite value");
  x.col(1) << 1e308, -1e308, 1e308, -1e308;
  EXPECT_EQ(code_of(fit(x)), "non_finite");
  EXPECT_NE(message_of(fit(x)).find("'chol'"), std::string::npos);
}

TEST(Scale, AgreesWithTwoPassesInOneOrderOnManyBlocks) {
  const TrainView view = overlapping(5000, 3, 2, 2);
  const Matrix x = view.x.to_matrix();
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Json stage = fitted("scale", view).inspect()["stages"][0];
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(stage["mean"][static_cast<std::size_t>(j)].get<double>(), x.col(j).mean(), 1e-12);
    EXPECT_NEAR(stage["scale"][static_cast<std::size_t>(j)].get<double>(),
                std::sqrt(centred.col(j).squaredNorm() / 5000), 1e-13);
  }
}

}  // namespace scale_test
}  // namespace ecotone::test
