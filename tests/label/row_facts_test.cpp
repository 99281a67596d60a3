#include "ecotone/label/row_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ecotone/data/categories.h"
#include "ecotone/label/column_facts.h"

namespace ecotone::test {
namespace {

using ::testing::ElementsAre;

/// Two domains; `size` runs from 0 to 99 in each, `noise` is always the same, `colour` is text, and the label follows
/// the size.
Dataset table() {
  const Index rows = 200;
  Dataset data;
  data.schema.columns = {{"noise", ColumnKind::numeric, {}},
                         {"size", ColumnKind::numeric, {}},
                         {"colour", ColumnKind::categorical, {"blue", "red"}}};
  data.schema.label = "y";
  Matrix x(rows, 4);
  Labels y{Task::classify, {"no", "yes"}, {}, {}};
  data.domain.names = {"north", "south"};
  for (Index i = 0; i < rows; ++i) {
    const Index size = i % 100;
    x.row(i) << 7, static_cast<double>(size), i % 4 == 0 ? 0 : 1, i % 4 == 0 ? 1 : 0;
    data.domain.index.push_back(i < 100 ? 0 : 1);
    y.index.push_back(size >= 50 ? 1 : 0);
  }
  x(3, 1) = NAN;
  data.x = Features::dense(x, {"noise", "size", "colour=blue", "colour=red"});
  data.y = y;
  data.role = {Role::source, Role::target};
  return data;
}

Model model_of(const Dataset& data) {
  const Context context;
  return Model::fit(Pipeline::parse("impute | scale | logistic l2=0.01"), train_view(data, context), data.schema,
                    context);
}

const FieldFact& named(const std::vector<FieldFact>& fields, const std::string& name) {
  return *std::ranges::find(fields, name, &FieldFact::name);
}

TEST(RowFacts, TheFieldThatMovesTheAnswerComesFirst) {
  const Dataset data = table();
  const Context context;
  const RowFacts facts(data, context);
  const Model model = model_of(data);
  const auto fields = facts.fields(195, &model, context);
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].name, "size");
  EXPECT_TRUE(fields[0].important);
  EXPECT_FALSE(named(fields, "noise").important);
  // Without a model the order is that of the table.
  EXPECT_EQ(facts.fields(195, nullptr, context)[0].name, "noise");
}

/// A column of codes says what its levels say.
TEST(RowFacts, CodesAreTexts) {
  const Context context;
  const Dataset levels = table();
  const Dataset codes = to_codes(levels, context);
  const RowFacts first(levels, context), second(codes, context);
  for (const Index row : {0, 189}) {
    const auto expected = first.fields(row, nullptr, context), fields = second.fields(row, nullptr, context);
    const FieldFact& colour = named(fields, "colour");
    EXPECT_EQ(colour.value, row == 0 ? "red" : "blue");
    ASSERT_EQ(colour.levels.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(colour.levels[k].here, named(expected, "colour").levels[k].here);
      EXPECT_EQ(colour.levels[k].in_domain, named(expected, "colour").levels[k].in_domain);
    }
  }
  const ColumnFacts columns(codes, context);
  Matrix x = codes.x.to_matrix().topRows(1);
  columns.make_usual(2, 0, x, 0);
  EXPECT_EQ(columns.text(2, x.row(0)), "blue");
  x(0, 2) = NAN;
  EXPECT_TRUE(columns.missing(2, x.row(0)));
}

TEST(RowFacts, ValuesStandAgainstTheirDomain) {
  const Dataset data = table();
  const Context context;
  const RowFacts facts(data, context);
  const auto fields = facts.fields(189, nullptr, context);
  const FieldFact& size = named(fields, "size");
  EXPECT_EQ(size.value, "89");
  EXPECT_NEAR(*size.percentile, 89.5, 1e-9);
  EXPECT_NEAR(std::accumulate(size.in_domain.begin(), size.in_domain.end(), 0.0), 1, 1e-9);
  // Of the sources, what lies in the range of the domain: all but its two ends.
  EXPECT_NEAR(std::accumulate(size.in_sources.begin(), size.in_sources.end(), 0.0), 97.0 / 99, 0.02);
  ASSERT_TRUE(size.bin);
  EXPECT_NEAR(static_cast<double>(*size.bin), 0.9 * static_cast<double>(size.in_domain.size()), 1.5);
  const FieldFact& colour = named(fields, "colour");
  EXPECT_EQ(colour.value, "blue");
  ASSERT_EQ(colour.levels.size(), 2U);
  EXPECT_TRUE(colour.levels[0].here);
  EXPECT_NEAR(colour.levels[1].in_domain, 0.25, 1e-12);
  EXPECT_FALSE(colour.percentile);
  const FieldFact missing = named(facts.fields(3, nullptr, context), "size");
  EXPECT_TRUE(missing.missing);
  EXPECT_EQ(missing.value, "");
  EXPECT_FALSE(missing.bin);
  EXPECT_FALSE(missing.percentile);
}

TEST(RowFacts, TheNearestLabelledRowsOfBothSidesWithTheirDifferences) {
  const Dataset data = table();
  const Context context;
  const RowFacts facts(data, context);
  const auto fields = facts.fields(150, nullptr, context);
  const std::vector<Index> labelled{10, 48, 51, 90, 110, 154, 185};
  const NearRows near = facts.near(150, labelled, *data.y, 2, fields);
  std::vector<Index> rows;
  for (const NeighbourFact& fact : near.rows) rows.push_back(fact.row);
  EXPECT_THAT(rows, ElementsAre(51, 48, 154, 185));
  EXPECT_EQ(near.rows[0].label, "yes");
  EXPECT_EQ(near.rows[1].label, "no");
  EXPECT_FALSE(near.rows[0].target);
  EXPECT_TRUE(near.rows[2].target);
  EXPECT_EQ(near.rows[0].fields[1].value, "51");
  EXPECT_FALSE(near.rows[0].fields[1].differs);
  EXPECT_TRUE(near.rows[3].fields[1].differs);
  EXPECT_TRUE(near.rows[1].fields[2].differs) << "another colour";
  EXPECT_FALSE(near.new_region);
  EXPECT_TRUE(facts.near(150, std::vector<Index>{10, 190}, *data.y, 2, fields).new_region);
  EXPECT_TRUE(facts.near(150, {}, *data.y, 2, fields).rows.empty());
}

}  // namespace
}  // namespace ecotone::test
