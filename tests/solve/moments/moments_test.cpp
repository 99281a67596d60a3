#include "ecotone/solve/moments/moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rank_threads.h"
#include "data/sparse_support.h"
#include "ecotone/base/error.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone {
namespace moments_test {

Context context(int threads = 2) { return Context(Context::Settings{.threads = threads, .seed = 1}); }

/// Rows of five interleaved domains, the last of which has no labels; about a third of the values are not 0.
struct Sample {
  Matrix x;
  std::vector<std::int32_t> group;
  Vector y;
  Vector weight;
  std::vector<std::string> names = {"a", "b", "c", "d", "free"};

  explicit Sample(Index rows, Index cols, Index unlabelled = 40) {
    x = test::random_sparse_matrix(rows, cols, 0.3, "moments");
    Random random(2, "labels");
    y = Vector(rows - unlabelled);
    weight = Vector(y.size());
    for (Index i = 0; i < rows; ++i) {
      group.push_back(i < y.size() ? static_cast<std::int32_t>(random.below(4)) : 4);
      if (i >= y.size()) continue;
      y[i] = random.normal();
      weight[i] = 0.5 + random.uniform();
    }
  }
  Moments moments(GramKind kind, int threads = 2, bool sparse = false, bool weighted = true) const {
    const Features features = sparse ? Features::sparse(test::to_csr(x)) : Features::dense(x);
    return gather_moments({features, group, names, y, weighted ? weight : Vector()}, kind, context(threads));
  }
  /// The rows of one part of them.
  Sample part(const std::vector<Index>& rows) const {
    Sample result = *this;
    result.x.resize(static_cast<Index>(rows.size()), x.cols());
    result.group.clear();
    Index labelled = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      result.x.row(static_cast<Index>(i)) = x.row(rows[i]);
      result.group.push_back(group[static_cast<std::size_t>(rows[i])]);
      if (rows[i] < y.size()) ++labelled;
    }
    result.y = Vector(labelled);
    result.weight = Vector(labelled);
    for (Index i = 0; i < labelled; ++i) {
      result.y[i] = y[rows[static_cast<std::size_t>(i)]];
      result.weight[i] = weight[rows[static_cast<std::size_t>(i)]];
    }
    return result;
  }
};

std::string bytes(const Moments& m) { return moments_tensors(m).bytes(); }

/// X_g' W X_g in one product: rows of other groups weigh nothing.
Matrix plain_gram(const Sample& s, std::int32_t g) {
  Vector weight = s.weight;
  for (Index i = 0; i < weight.size(); ++i)
    if (s.group[static_cast<std::size_t>(i)] != g) weight[i] = 0;
  const auto labelled = s.x.topRows(weight.size());
  return labelled.transpose() * (weight.asDiagonal() * labelled);
}

TEST(Moments, AreTheSumsOverTheRowsOfEachGroup) {
  const Sample s(700, 600);
  for (const bool sparse : {false, true}) {
    const Moments m = s.moments(GramKind::double_precision, 2, sparse);
    ASSERT_EQ(m.group_count(), 5);
    EXPECT_EQ(m.rows.sum(), 700);
    EXPECT_EQ(m.labelled, (std::vector<std::uint8_t>{1, 1, 1, 1, 0}));
    for (std::int32_t g = 0; g < 4; ++g) {
      Vector x1 = Vector::Zero(600), xy = Vector::Zero(600);
      double weight = 0, y1 = 0, yy = 0;
      for (Index i = 0; i < s.y.size(); ++i) {
        if (s.group[static_cast<std::size_t>(i)] != g) continue;
        x1 += s.weight[i] * s.x.row(i).transpose();
        xy += s.weight[i] * s.y[i] * s.x.row(i).transpose();
        weight += s.weight[i];
        y1 += s.weight[i] * s.y[i];
        yy += s.weight[i] * s.y[i] * s.y[i];
      }
      EXPECT_LT((m.x1.row(g).transpose() - x1).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_LT((m.xy.row(g).transpose() - xy).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_NEAR(m.weight[g], weight, 1e-10);
      EXPECT_NEAR(m.y1[g], y1, 1e-10);
      EXPECT_NEAR(m.yy[g], yy, 1e-10);
      const Matrix gram = plain_gram(s, g);
      EXPECT_LT((m.xx.row(g).transpose() - gram.diagonal()).cwiseAbs().maxCoeff(), 1e-11);
      Vector column(600);
      for (const Index j : {0, 137, 511, 512, 599}) {
        m.gram_column(g, j, column.data());
        EXPECT_LT((column * weight - gram.col(j)).cwiseAbs().maxCoeff(), 1e-10) << j;
      }
    }
  }
}

TEST(Moments, EqualBytesForAnyNumberOfThreads) {
  // With Gram matrices that are summed block by block, and larger ones.
  for (const Sample& s : {Sample(21 * 512, 12), Sample(3 * 512, 300)})
    for (const bool sparse : {false, true}) {
      for (const GramKind kind : {GramKind::none, GramKind::double_precision, GramKind::single_precision}) {
        const std::string one = bytes(s.moments(kind, 1, sparse));
        EXPECT_TRUE(bytes(s.moments(kind, 2, sparse)) == one);
        EXPECT_TRUE(bytes(s.moments(kind, 7, sparse)) == one);
      }
    }
}

TEST(Moments, SmallGramsOfBlocksAreThoseOfAllRows) {
  const Sample s(21 * 512, 12);
  for (const GramKind kind : {GramKind::double_precision, GramKind::single_precision}) {
    const Moments m = s.moments(kind, 2);
    for (std::int32_t g = 0; g < 4; ++g) {
      const Matrix gram = plain_gram(s, g);
      Vector column(12);
      for (Index j = 0; j < 12; ++j) {
        m.gram_column(g, j, column.data());
        const double allowed = (kind == GramKind::double_precision ? 1e-12 : 1e-4) * gram.diagonal().maxCoeff();
        EXPECT_LT((column * m.weight[g] - gram.col(j)).cwiseAbs().maxCoeff(), allowed) << g << ' ' << j;
      }
    }
  }
}

TEST(Moments, EqualBytesForAnyNumberOfRanksThatShareTheirSums) {
  const Sample s(21 * 512, 12);
  for (const bool sparse : {false, true})
    for (const GramKind kind : {GramKind::none, GramKind::double_precision}) {
      const std::string alone = bytes(s.moments(kind, 1, sparse));
      for (const int size : {2, 3})
        RankThreads(size).run([&](Communicator& ranks) {
          const Context shared({.threads = 1, .ranks = &ranks});
          const Features features = sparse ? Features::sparse(test::to_csr(s.x)) : Features::dense(s.x);
          const Moments moments = gather_moments({features, s.group, s.names, s.y, s.weight}, kind, shared);
          EXPECT_TRUE(bytes(moments) == alone);
          EXPECT_EQ(shared.ranks().traffic().messages, 1U);
        });
    }
}

TEST(Moments, LargeGramsAreSummedByEveryRank) {
  const Sample s(3 * 512, 300);
  const std::string alone = bytes(s.moments(GramKind::double_precision, 1));
  RankThreads(2).run([&](Communicator& ranks) {
    const Context shared({.threads = 1, .ranks = &ranks});
    const Features x = Features::dense(s.x);
    const Moments moments = gather_moments({x, s.group, s.names, s.y, s.weight}, GramKind::double_precision, shared);
    EXPECT_TRUE(bytes(moments) == alone);
    EXPECT_EQ(shared.ranks().traffic().messages, 0U);
  });
}

TEST(Moments, SingleGramIsNearTheDouble) {
  const Sample s(900, 30);
  const Moments wide = s.moments(GramKind::double_precision);
  const Moments narrow = s.moments(GramKind::single_precision);
  EXPECT_TRUE(narrow.xy == wide.xy) << "X'y stays double";
  Vector a(30), b(30);
  for (Index g = 0; g < 4; ++g) {
    wide.gram_column(g, 7, a.data());
    narrow.gram_column(g, 7, b.data());
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_GT((a - b).cwiseAbs().maxCoeff(), 0);
  }
}

TEST(Moments, OfPartsMergedAreThoseOfAll) {
  const Sample s(600, 20);
  std::vector<std::vector<Index>> parts(7);
  Random random(5, "parts");
  for (Index i = 0; i < 600; ++i) parts[random.below(7)].push_back(i);
  const Moments all = s.moments(GramKind::double_precision);
  for (const bool backwards : {false, true}) {
    std::vector<Moments> some;
    for (const auto& rows : parts) some.push_back(s.part(rows).moments(GramKind::double_precision));
    if (backwards) std::reverse(some.begin(), some.end());
    Moments sum = some.front();
    for (std::size_t k = 1; k < some.size(); ++k) sum.merge(some[k]);
    EXPECT_EQ(sum.groups, all.groups);
    EXPECT_LT((sum.xy - all.xy).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LT((sum.xx - all.xx).cwiseAbs().maxCoeff(), 1e-11);
    for (std::size_t g = 0; g < 4; ++g) EXPECT_NEAR(sum.gram[g].at(3, 11), all.gram[g].at(3, 11), 1e-11);
  }
}

TEST(Moments, MergeAppendsNewGroupsAndRefusesOtherData) {
  Moments north = Sample(100, 3, 0).moments(GramKind::double_precision);
  Moments south = north;
  south.groups = {"d", "e", "a", "f", "g"};
  const double a = north.xy(0, 1), d = north.xy(3, 1);
  north.merge(south);
  EXPECT_EQ(north.groups, (std::vector<std::string>{"a", "b", "c", "d", "free", "e", "f", "g"}));
  EXPECT_DOUBLE_EQ(north.xy(0, 1), a + south.xy(2, 1));
  EXPECT_DOUBLE_EQ(north.xy(3, 1), d + south.xy(0, 1));
  EXPECT_DOUBLE_EQ(north.gram[5].at(0, 1), south.gram[1].at(0, 1));
  const auto code = [&](auto change) {
    Moments other = south;
    change(other);
    try {
      Moments copy = north;
      copy.merge(other);
    } catch (const Error& error) {
      return error.code();
    }
    return std::string("none");
  };
  EXPECT_EQ(code([](Moments&) {}), "none");
  EXPECT_EQ(code([](Moments& m) { m.features[0] = "other"; }), "different_moments");
  EXPECT_EQ(code([](Moments& m) { m.classes = {"no", "yes"}; }), "different_moments");
  EXPECT_EQ(code([](Moments& m) { m.gram.clear(); }), "different_moments");
  EXPECT_EQ(code([](Moments& m) { m.labelled[0] = 0; }), "different_moments");
}

TEST(Moments, SaysWhereAValueIsNotFinite) {
  Sample s(600, 4);
  s.x(530, 2) = std::nan("");
  try {
    s.moments(GramKind::none);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "non_finite");
    EXPECT_NE(std::string(error.what()).find("'x3' is not a number in row 531; add impute before it"),
              std::string::npos)
        << error.what();
  }
}

TEST(MomentsFile, IsReadAsItWasWritten) {
  for (const GramKind kind : {GramKind::none, GramKind::double_precision, GramKind::single_precision}) {
    Moments m = Sample(200, 5).moments(kind);
    m.classes = {"no", "yes"};
    const std::string text = bytes(m);
    const Moments back = moments_from(TensorFile::parse(text, "m.eco"));
    EXPECT_EQ(back.classes, m.classes);
    EXPECT_EQ(back.gram_kind(), kind);
    EXPECT_TRUE(bytes(back) == text);
  }
}

TEST(Moments, OtherLabelsNeedNoNewGramMatrices) {
  // 530,000 rows are more than a chunk of them.
  for (const Index rows : {700, 530'000}) {
    const Sample s(rows, 3);
    Sample other = s;
    Random random(5, "other labels");
    for (double& y : other.y) y = random.uniform() < 0.3 ? 1 : -1;
    for (const bool sparse : {false, true}) {
      const Features x = sparse ? Features::sparse(test::to_csr(s.x)) : Features::dense(s.x);
      for (const GramKind kind : {GramKind::none, GramKind::double_precision, GramKind::single_precision}) {
        Moments moments = s.moments(kind, 2, sparse);
        relabel_moments(moments, {x, s.group, s.names, other.y, s.weight}, context(7));
        EXPECT_TRUE(bytes(moments) == bytes(other.moments(kind, 2, sparse))) << rows << (sparse ? " sparse" : "");
      }
    }
  }
}

/// Squares of tiny values vanish where their sums do not; such moments are as good as any.
TEST(MomentsFile, OfTinyAndOfConstantValuesReadsBack) {
  for (const double unit : {1e-300, 1e-160, 1.0, 1e140}) {
    const Features x = Features::dense(Matrix::Constant(6, 2, 0.1 * unit));
    const Vector y = Vector::Constant(6, -unit), none;
    const std::vector<std::int32_t> group = {0, 0, 0, 1, 1, 1};
    const Moments moments = gather_moments({x, group, {"u", "v"}, y, none}, GramKind::double_precision, Context());
    EXPECT_NO_THROW(moments_from(TensorFile::parse(moments_tensors(moments).bytes(), "m.eco"))) << unit;
  }
}

TEST(MomentsFile, RefusesWhatDoesNotFit) {
  const Moments good = Sample(200, 5).moments(GramKind::double_precision);
  const auto code = [](const TensorWriter& writer) {
    try {
      moments_from(TensorFile::parse(writer.bytes(), "m.eco"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::file);
      return error.code();
    }
    return std::string("none");
  };
  const auto changed = [&](auto change) {
    TensorWriter writer = moments_tensors(good);
    change(writer);
    return code(writer);
  };
  EXPECT_EQ(changed([](TensorWriter&) {}), "none");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("format", "ecotone-data"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("format_version", "2"); }), "newer_format");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("gram", "none"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("gram", "single"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("features", "[\"a\"]"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("features", "[1,2,3,4,5]"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("groups", "[\"a\",\"a\",\"b\",\"c\",\"d\"]"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.set_meta("classes", "[\"one\"]"); }), "bad_moments");
  EXPECT_EQ(changed([](TensorWriter& w) { w.add("extra", std::vector<double>{1}, {1}); }), "bad_moments");
  const auto wrong = [&](auto change) {
    Moments moments = good;
    change(moments);
    return code(moments_tensors(moments));
  };
  EXPECT_EQ(wrong([](Moments& m) { m.rows[4] = -5; }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.rows[4] = 2.5; }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.rows[4] = 1e300; }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.yy[1] = std::nan(""); }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.gram[0] = SymmetricTiles<double>(3); }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.gram[0].add(1, 2, std::nan("")); }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.gram.pop_back(); }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.labelled[2] = 7; }), "bad_moments");
  // Sums that no rows have.
  EXPECT_EQ(wrong([](Moments& m) { m.y1[1] = 1e308; }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.weight.setConstant(1e-300); }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.x1(0, 3) *= 1e9; }), "bad_moments");
  EXPECT_EQ(wrong([](Moments& m) { m.xy(0, 3) = -1e9; }), "bad_moments");
}

}  // namespace moments_test
}  // namespace ecotone
