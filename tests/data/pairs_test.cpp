#include "ecotone/data/pairs.h"

#include <set>

#include "data/formats/read_support.h"
#include "ecotone/data/formats/eco.h"

namespace ecotone {
namespace pairs_test {

using namespace test;

/// `rows` rows of three columns in four classes; class "d" is rare.
Dataset rows_of_classes(int rows) {
  Random random(5, "pairs");
  std::string text = "x,y,z,class\n";
  for (int i = 0; i < rows; ++i)
    text += fmt::format("{},{},{},{}\n", random.normal(), random.normal(), random.normal(),
                        i % 40 == 7  ? "d"
                        : i % 3 == 0 ? "a"
                        : i % 3 == 1 ? "b"
                                     : "c");
  return csv(text, {.label = "class"});
}

std::string name_of(const Dataset& data, std::int32_t c) { return data.y->classes[static_cast<std::size_t>(c)]; }

const PairStorage& storage_of(const Dataset& pairs) { return dynamic_cast<const PairStorage&>(pairs.x.storage()); }

TEST(Pairs, AreProductsOfRowsWithTheirClassesAsDomains) {
  const Dataset data = rows_of_classes(600);
  const Dataset pairs = draw_pairs(data, {.per_class = 200}, context_of(2));
  const Matrix x = data.x.to_matrix(), products = pairs.x.to_matrix();
  const PairRows& rows = storage_of(pairs).pairs();
  EXPECT_EQ(pairs.x.name(1), "pair(y)");
  EXPECT_EQ(pairs.domain.names, data.y->classes);
  std::vector<int> alike(4, 0), other(4, 0);
  std::set<std::pair<Index, Index>> seen;
  for (std::size_t k = 0; k < rows.first.size(); ++k) {
    const Index i = rows.first[k], j = rows.second[k];
    EXPECT_EQ(products.row(static_cast<Index>(k)), (x.row(i).array() * x.row(j).array()).matrix());
    const std::int32_t a = data.y->index[static_cast<std::size_t>(i)], b = data.y->index[static_cast<std::size_t>(j)];
    EXPECT_NE(i, j);
    EXPECT_EQ(pairs.domain.index[k], a);
    EXPECT_EQ(pairs.domain.partner[k], a == b ? -1 : b);
    EXPECT_EQ(name_of(pairs, pairs.y->index[k]), a == b ? "same" : "different");
    ++(a == b ? alike : other)[static_cast<std::size_t>(a)];
    EXPECT_TRUE(seen.emplace(a == b ? std::min(i, j) : i, a == b ? std::max(i, j) : j).second) << "drawn twice";
  }
  // 15 rows of the rare class have 105 pairs.
  EXPECT_EQ(alike, (std::vector<int>{200, 200, 200, 105}));
  EXPECT_EQ(other, alike);
}

TEST(Pairs, TheRareClassIsSaidAndNegativesComeFromAllOthers) {
  Recorder said;
  const Dataset data = rows_of_classes(600);
  const Dataset pairs = draw_pairs(data, {.per_class = 5000}, context_of(1, &said));
  EXPECT_TRUE(said.warned("fewer_pairs"));
  std::vector<std::set<std::int32_t>> partners(4);
  for (std::size_t k = 0; k < pairs.domain.index.size(); ++k)
    if (pairs.domain.partner[k] >= 0)
      partners[static_cast<std::size_t>(pairs.domain.index[k])].insert(pairs.domain.partner[k]);
  for (const auto& of_class : partners) EXPECT_EQ(of_class.size(), 3u);
}

TEST(Pairs, ComeBackFromTheFileWithoutTheirProducts) {
  const Folder folder;
  const Dataset data = rows_of_classes(600);
  const Dataset pairs = draw_pairs(data, {.per_class = 3000}, context_of(2));
  write_eco(pairs, folder.path("p.eco"), context_of(2));
  const Dataset back = read_dataset({folder.path("p.eco")}, {}, context_of(1));
  expect_same(back, pairs);
  EXPECT_EQ(back.domain.partner, pairs.domain.partner);
  EXPECT_EQ(storage_of(back).base()->rows(), 600) << "the file holds the rows once, not the products";
  const Dataset part = read_dataset({folder.path("p.eco")}, {.where = {"class!=d"}}, context_of(1));
  EXPECT_EQ(storage_of(part).base()->rows(), 600) << "chosen pairs still share the rows";
  EXPECT_EQ(part.domain.count(), 3);
  for (std::size_t k = 0; k < part.domain.partner.size(); ++k) EXPECT_LT(part.domain.partner[k], 3);
}

TEST(Pairs, OfSparseRowsAreSparse) {
  const Folder folder;
  const auto path = folder.write("d.svm", "1 1:2 3:4\n1 3:5\n2 2:1 3:3\n2 1:7 2:2\n");
  const Dataset data = read_dataset({path}, {.task = Task::classify}, context_of(1));
  const Dataset pairs = listed_pairs(data, {{0, 0, 2}, {1, 3, 3}}, context_of(1));
  ASSERT_TRUE(pairs.x.is_sparse());
  Matrix wanted(3, 3);
  wanted << 0, 0, 20, 14, 0, 0, 0, 2, 0;
  EXPECT_EQ(pairs.x.to_matrix(), wanted);
  write_eco(pairs, folder.path("p.eco"), context_of(1));
  const Dataset back = read_dataset({folder.path("p.eco")}, {}, context_of(1));
  EXPECT_EQ(back.x.to_matrix(), wanted);
  EXPECT_EQ(back.domain.partner, (std::vector<std::int32_t>{-1, 1, -1}));
}

TEST(Pairs, LabelsOfTargetsStayHidden) {
  Dataset pairs = draw_pairs(rows_of_classes(600), {.per_class = 100}, context_of(1));
  set_targets(pairs, {"c"});
  const TrainView view = train_view(pairs, context_of(1));
  // Pairs of "a" with "c" would say which rows are not of class "c".
  for (Index i = 0; i < view.labelled(); ++i) {
    const std::int32_t partner = view.domain.partner_of(i);
    if (partner >= 0) {
      EXPECT_NE(view.domain.names[static_cast<std::size_t>(partner)], "c");
    }
  }
  EXPECT_EQ(view.x.rows() - view.labelled(), 200);
}

TEST(Pairs, OfRowsWithoutLabelsAreOneDomain) {
  const Dataset data = csv("x,y\n1,2\n3,4\n5,6\n", {});
  const Dataset pairs = listed_pairs(data, {{0, 2}, {1, 0}}, context_of(1));
  EXPECT_FALSE(pairs.y);
  EXPECT_EQ(pairs.domain.count(), 1);
  EXPECT_EQ(pairs.x.to_matrix()(1, 1), 12);
}

TEST(Pairs, BadInputIsRefusedByName) {
  const auto draw = [](const std::string& text, const ReadOptions& options) {
    return [=] { draw_pairs(csv(text, options), {.per_class = 10}, context_of(1)); };
  };
  message_of("no_labels", ErrorKind::data, draw("x\n1\n2\n", {}));
  message_of("needs_two_classes", ErrorKind::data, draw("x,c\n1,a\n2,a\n", {.label = "c"}));
  message_of("needs_two_classes", ErrorKind::data, draw("x,c\n1,0.5\n2,1.5\n", {.label = "c", .task = Task::regress}));
  message_of("one_row_class", ErrorKind::data, draw("x,c\n1,a\n2,a\n3,b\n", {.label = "c"}));
  const Dataset data = csv("x,c\n1,a\n2,\n3,b\n", {.label = "c"});
  message_of("bad_row", ErrorKind::data, [&] { listed_pairs(data, {{0}, {3}}, context_of(1)); });
  message_of("no_labels", ErrorKind::data, [&] { listed_pairs(data, {{0}, {1}}, context_of(1)); });
}

}  // namespace pairs_test
}  // namespace ecotone
