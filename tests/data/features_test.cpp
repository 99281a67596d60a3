#include "ecotone/data/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "data/sparse_support.h"
#include "ecotone/base/error.h"
#include "ecotone/data/storage/derived_storage.h"
#include "ecotone/data/storage/replaced_storage.h"

namespace ecotone {
namespace features_test {

using test::random_sparse_matrix;
using test::to_csr;

Context with_threads(int threads) { return Context(Context::Settings{.threads = threads, .seed = 5}); }

/// Stands for a file: values come into the scratch, and nothing may be kept in memory.
class StreamedStorage final : public FeatureStorage {
 public:
  explicit StreamedStorage(Matrix x) : x_(std::move(x)) {}
  Index rows() const override { return x_.rows(); }
  Index cols() const override { return x_.cols(); }
  RowBlock block(Index b, Scratch& scratch) const override {
    const Index first = b * block_rows();
    const Index count = std::min(block_rows(), rows() - first);
    auto out = scratch.reserve(count, cols());
    out = x_.middleRows(first, count);
    return {first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(out.outerStride()))};
  }

 private:
  Matrix x_;
};

Features streamed(const Matrix& x) { return Features(std::make_shared<StreamedStorage>(x), {}); }

/// Everything that Features promises, against a plain matrix of the same values.
void expect_same(const Features& features, const Matrix& x) {
  ASSERT_EQ(features.rows(), x.rows());
  ASSERT_EQ(features.cols(), x.cols());
  const Matrix w = random_sparse_matrix(x.cols(), 3, 1, "w");
  const Vector w1 = w.col(1);
  Matrix acc = Matrix::Zero(x.cols(), 3);
  Vector acc1 = Vector::Zero(x.cols());
  Scratch scratch;
  Index next = 0;
  for (Index b = 0; b < features.blocks(); ++b) {
    ASSERT_EQ(features.first_row(b), next);
    const RowBlock block = features.block(b, scratch);
    ASSERT_EQ(block.first, next);
    ASSERT_EQ(block.x.rows(), features.rows_in(b));
    const Matrix part = x.middleRows(next, block.x.rows());
    EXPECT_EQ(Matrix(block.x), part) << "block " << b;
    Matrix out(part.rows(), 3);
    features.multiply(b, w, out);
    EXPECT_LT((out - part * w).cwiseAbs().maxCoeff(), 1e-12);
    Vector out1(part.rows());
    features.multiply(b, w1, out1);
    EXPECT_LT((out1 - part * w1).cwiseAbs().maxCoeff(), 1e-12);
    features.multiply_transposed(b, out, acc);
    features.multiply_transposed(b, out1, acc1);
    next += part.rows();
  }
  EXPECT_EQ(next, x.rows());
  const Matrix expected = x.transpose() * (x * w);
  EXPECT_LT((acc - expected).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((acc1 - expected.col(1)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(features.to_matrix(), x);
}

TEST(Features, ReplacedColumnsHideThoseBelow) {
  const Matrix x = random_sparse_matrix(1100, 5, 0.5, "replaced");
  const Matrix values = random_sparse_matrix(1100, 2, 1, "values");
  Matrix expected = x;
  expected.middleCols(2, 2) = values;
  for (const Features& below : {Features::dense(x), Features::sparse(to_csr(x)), streamed(x)}) {
    const Features replaced = with_values(below, 2, values);
    EXPECT_EQ(replaced.to_matrix(), expected);
    EXPECT_EQ(below.to_matrix(), x);
    const std::vector<Index> rows = {1099, 3, 3, 512};
    EXPECT_EQ(replaced.take(rows).to_matrix(), expected(rows, Eigen::all));
    EXPECT_EQ(values_of_columns(replaced, 1, 2, with_threads(3)), expected.middleCols(1, 2));
  }
  EXPECT_THROW(with_values(Features::dense(x), 4, values), Error);
}

TEST(BlockRows, DependOnColumnsAlone) {
  EXPECT_EQ(block_rows_for(0), 512);
  EXPECT_EQ(block_rows_for(1), 512);
  EXPECT_EQ(block_rows_for(2048), 512);
  EXPECT_EQ(block_rows_for(4096), 256);
  EXPECT_EQ(block_rows_for(1'000'000), 16);
  EXPECT_LE(block_rows_for(3000) * 3000 * 8, 8 << 20);
}

class StoragesTest : public testing::TestWithParam<Index> {};

TEST_P(StoragesTest, AgreeWithTheirMatrix) {
  const Matrix x = random_sparse_matrix(GetParam(), 11, 0.3, "x");
  expect_same(Features::dense(x), x);
  expect_same(Features::sparse(to_csr(x)), x);
  expect_same(streamed(x), x);
  EXPECT_FALSE(Features::dense(x).is_sparse());
  EXPECT_TRUE(Features::sparse(to_csr(x)).is_sparse());
}

TEST_P(StoragesTest, HeadsAgree) {
  const Matrix x = random_sparse_matrix(GetParam(), 11, 0.3, "x");
  for (const Index rows : {Index{0}, Index{1}, GetParam() / 2, GetParam() - 1, GetParam()}) {
    const Matrix top = x.topRows(rows);
    expect_same(Features::dense(x).head(rows), top);
    expect_same(streamed(x).head(rows), top);
    const Features sparse = Features::sparse(to_csr(x)).head(rows);
    expect_same(sparse, top);
    ASSERT_TRUE(sparse.is_sparse());
    EXPECT_EQ(sparse.storage().csr()->rows, rows);
    EXPECT_EQ(sparse.storage().csr()->value, to_csr(top).value);
    EXPECT_EQ(sparse.storage().csr()->row_start, to_csr(top).row_start);
  }
}

TEST_P(StoragesTest, TakeAnyRowsInAnyOrder) {
  const Matrix x = random_sparse_matrix(GetParam(), 11, 0.3, "x");
  Random random(3, "rows");
  std::vector<Index> rows;
  for (int i = 0; i < 700; ++i)
    rows.push_back(static_cast<Index>(random.below(static_cast<std::uint64_t>(GetParam()))));
  Matrix expected(700, 11);
  for (std::size_t i = 0; i < rows.size(); ++i) expected.row(static_cast<Index>(i)) = x.row(rows[i]);
  expect_same(Features::dense(x).take(rows), expected);
  expect_same(streamed(x).take(rows), expected);
  const Features sparse = Features::sparse(to_csr(x)).take(rows);
  expect_same(sparse, expected);
  EXPECT_TRUE(sparse.is_sparse());
  expect_same(streamed(x).take(std::vector<Index>{}), Matrix(0, 11));
}

TEST_P(StoragesTest, ColumnsAreChosenRepeatedAndZero) {
  const Matrix x = random_sparse_matrix(GetParam(), 11, 0.3, "x");
  const std::vector<Index> columns{7, -1, 0, 7, 3};
  Matrix expected = Matrix::Zero(GetParam(), 5);
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j] >= 0) expected.col(static_cast<Index>(j)) = x.col(columns[j]);
  const std::vector<std::string> names{"a", "b", "c", "d", "e"};
  const Context context = with_threads(2);
  for (const Features& f : {Features::dense(x), Features::sparse(to_csr(x)), streamed(x)}) {
    const Features chosen = f.columns(columns, names, context);
    expect_same(chosen, expected);
    EXPECT_EQ(chosen.is_sparse(), f.is_sparse());
    EXPECT_EQ(chosen.storage().resident(), f.storage().resident());
    EXPECT_EQ(chosen.names(), names);
  }
}

TEST_P(StoragesTest, ScaledColumns) {
  const Matrix x = random_sparse_matrix(GetParam(), 11, 0.3, "x");
  const Vector factor = random_sparse_matrix(11, 1, 1, "factor").col(0);
  const Matrix expected = x * factor.asDiagonal();
  const Context context = with_threads(2);
  for (const Features& f : {Features::dense(x), Features::sparse(to_csr(x)), streamed(x)}) {
    const Features scaled = f.scaled(factor, context);
    expect_same(scaled, expected);
    EXPECT_EQ(scaled.is_sparse(), f.is_sparse());
  }
}

// Sizes about the block of 512 rows.
INSTANTIATE_TEST_SUITE_P(Rows, StoragesTest, testing::Values(1, 511, 512, 513, 1300));

// 11, 3,000 and 9,000 columns have blocks of 512, 349 and 116 rows: maps between them cross block borders both ways.
class MapTest : public testing::TestWithParam<std::pair<Index, Index>> {};

TEST_P(MapTest, LazyAndResidentMapsAgreeAcrossBlockSizes) {
  const auto [from, to] = GetParam();
  const Matrix x = random_sparse_matrix(600, from, 0.3, "x");
  Matrix expected(600, to);
  for (Index i = 0; i < 600; ++i)
    for (Index j = 0; j < to; ++j) expected(i, j) = 2 * x(i, j % from) + static_cast<double>(j);
  auto map = [](ConstMatrixMap in, MatrixView out) {
    for (Index i = 0; i < out.rows(); ++i)
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = 2 * in(i, j % in.cols()) + static_cast<double>(j);
  };
  const Context context = with_threads(2);
  const Features resident = Features::dense(x).map(to, {}, map, context);
  const Features from_sparse = Features::sparse(to_csr(x)).map(to, {}, map, context);
  const Features lazy = streamed(x).map(to, {}, map, context);
  EXPECT_TRUE(resident.storage().resident());
  EXPECT_FALSE(lazy.storage().resident());
  EXPECT_EQ(resident.to_matrix(), expected);
  EXPECT_EQ(from_sparse.to_matrix(), expected);
  EXPECT_EQ(lazy.to_matrix(), expected);

  const std::vector<Index> rows{599, 0, 513, 348, 349, 0};
  Matrix taken(6, to);
  for (std::size_t i = 0; i < rows.size(); ++i) taken.row(static_cast<Index>(i)) = expected.row(rows[i]);
  EXPECT_EQ(lazy.take(rows).to_matrix(), taken);
  EXPECT_EQ(lazy.head(300).to_matrix(), expected.topRows(300));
}

INSTANTIATE_TEST_SUITE_P(Columns, MapTest,
                         testing::Values(std::pair<Index, Index>{11, 3000}, std::pair<Index, Index>{3000, 11},
                                         std::pair<Index, Index>{3000, 9000}, std::pair<Index, Index>{9000, 3000},
                                         std::pair<Index, Index>{11, 12}));

TEST(Map, SeesTheSamePiecesWhereverItsInputLies) {
  // A map whose bytes depend on how many rows it is given at once.
  auto map = [](ConstMatrixMap x, MatrixView out) { out.setConstant(static_cast<double>(x.rows())); };
  const Matrix x = random_sparse_matrix(1100, 3000, 0.01, "x");
  const Context context = with_threads(2);
  EXPECT_EQ(Features::dense(x).map(3, {}, map, context).to_matrix(), streamed(x).map(3, {}, map, context).to_matrix());
}

TEST(Map, ChainsOfLazyMapsUseTheirOwnScratch) {
  const Matrix x = random_sparse_matrix(1100, 5, 1, "x");
  auto plus_one = [](ConstMatrixMap in, MatrixView out) { out = in.array() + 1; };
  const Context context = with_threads(1);
  Features chain = streamed(x);
  for (int i = 0; i < 4; ++i) chain = chain.map(5, {}, plus_one, context);
  EXPECT_FALSE(chain.storage().resident());
  Matrix expected = x;
  for (int i = 0; i < 4; ++i) expected = (expected.array() + 1).matrix().eval();
  expect_same(chain, expected);
}

TEST(Features, NamesAreKeptOrMadeUp) {
  const Matrix x = random_sparse_matrix(4, 2, 1, "x");
  EXPECT_EQ(Features::dense(x).names(), (std::vector<std::string>{"x1", "x2"}));
  const Features named = Features::dense(x, {"age", "bmi"});
  const std::vector<Index> rows{1, 2};
  EXPECT_EQ(named.take(rows).name(1), "bmi");
  EXPECT_EQ(named.head(1).name(0), "age");
  EXPECT_EQ(named.scaled(Vector::Ones(2), with_threads(1)).names(), named.names());
  EXPECT_EQ(Features().rows(), 0);
  EXPECT_EQ(Features().blocks(), 0);
}

TEST(Features, RefusesWhatDoesNotFit) {
  const Matrix x = random_sparse_matrix(4, 2, 1, "x");
  EXPECT_THROW(Features::dense(x, {"a"}), Error);
  const Features f = Features::dense(x);
  EXPECT_THROW(f.take(std::vector<Index>{4}), Error);
  EXPECT_THROW(f.take(std::vector<Index>{-1}), Error);
  EXPECT_THROW(f.head(5), Error);
  EXPECT_THROW(f.columns(std::vector<Index>{2}, {}, with_threads(1)), Error);
  EXPECT_THROW(f.scaled(Vector::Ones(3), with_threads(1)), Error);
}

TEST(Features, RefusesBrokenSparseArrays) {
  const Csr good{2, 3, {0, 1, 3}, {2, 0, 1}, {1, 2, 3}};
  EXPECT_NO_THROW(Features::sparse(good));
  auto broken = [&](auto change) {
    Csr csr = good;
    change(csr);
    return csr;
  };
  EXPECT_THROW(Features::sparse(broken([](Csr& c) { c.row_start = {0, 3}; })), Error);
  EXPECT_THROW(Features::sparse(broken([](Csr& c) { c.row_start = {0, 4, 3}; })), Error);
  EXPECT_THROW(Features::sparse(broken([](Csr& c) { c.column = {2, 1, 0}; })), Error);
  EXPECT_THROW(Features::sparse(broken([](Csr& c) { c.column = {3, 0, 1}; })), Error);
  EXPECT_THROW(Features::sparse(broken([](Csr& c) { c.value.pop_back(); })), Error);
}

TEST(FindNonFinite, GivesTheFirstInRowOrder) {
  const Matrix clean = random_sparse_matrix(3000, 7, 0.5, "x");
  const Context one = with_threads(1), many = with_threads(3);
  EXPECT_EQ(find_non_finite(Features::dense(clean), many).row, -1);
  EXPECT_EQ(find_non_finite(Features::sparse(to_csr(clean)), many).row, -1);
  Matrix x = clean;
  x(2900, 0) = std::numeric_limits<double>::quiet_NaN();
  x(1024, 6) = -std::numeric_limits<double>::infinity();
  x(1024, 3) = std::numeric_limits<double>::infinity();
  for (const Features& f : {Features::dense(x), Features::sparse(to_csr(x)), streamed(x)}) {
    for (const Context* context : {&one, &many}) {
      const NonFinite found = find_non_finite(f, *context);
      EXPECT_EQ(found.row, 1024);
      EXPECT_EQ(found.column, 3);
      EXPECT_EQ(found.value, std::numeric_limits<double>::infinity());
    }
  }
  const NonFinite head = find_non_finite(Features::sparse(to_csr(x)).head(1024), many);
  EXPECT_EQ(head.row, -1);
}

}  // namespace features_test
}  // namespace ecotone
