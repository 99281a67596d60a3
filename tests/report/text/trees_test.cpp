#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/report/text/text.h"
#include "ecotone/solve/trees/tree.h"

namespace ecotone {
namespace tree_text_test {

const std::vector<std::string> names{"age", "site", "blood\npressure"};
const std::vector<std::vector<std::string>> levels{{}, {"Linz", "Graz", "Bern"}, {}};

std::vector<TreeColumn> columns_of_trees() {
  std::vector<TreeColumn> columns(3);
  columns[1].categorical = true;
  columns[1].level = TreeLevels({1, 0, 2, 7});  // the most frequent first; 7 has no text
  return columns;
}

TEST(TreeText, SaysEverySplitAndLeaf) {
  TreeNode by_age{.feature = 0, .threshold = 54.5, .missing_left = true, .left = 1, .right = 2, .gain = 12.345678};
  TreeNode by_site{.feature = 1, .categorical = true, .left = -1, .right = -3, .gain = 2};
  for (const int code : {0, 2, 3}) add_level(by_site.levels, code);
  TreeNode if_there{.feature = 2, .threshold = HUGE_VAL, .left = -2, .right = -4, .gain = 0.5};
  const DecisionTree tree{.nodes = {by_age, by_site, if_there}, .value = {0.25, -1, 2, 1e-9}, .cover = {31, 1, 40, 5}};
  EXPECT_EQ(tree_text(tree, columns_of_trees(), names, levels),
            "age <= 54.5 (missing left), gain 12.35\n"
            "  site is Graz, Bern, 7, gain 2\n"
            "    0.25 (31 rows)\n"
            "    2 (40 rows)\n"
            "  blood\\npressure is not missing, gain 0.5\n"
            "    -1 (1 row)\n"
            "    1e-09 (5 rows)\n");
}

TEST(TreeText, OfOneLeafIsOneLine) {
  const DecisionTree tree{.nodes = {}, .value = {0.5}, .cover = {7}};
  EXPECT_EQ(tree_text(tree, columns_of_trees(), names, levels), "0.5 (7 rows)\n");
}

}  // namespace tree_text_test
}  // namespace ecotone
