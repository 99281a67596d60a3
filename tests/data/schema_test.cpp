#include "ecotone/data/schema.h"

#include <gtest/gtest.h>

#include "ecotone/base/error.h"

namespace ecotone {
namespace schema_test {

Schema example() {
  Schema schema;
  schema.columns = {{"age", ColumnKind::numeric, {}}, {"pain", ColumnKind::categorical, {"none", "typical"}}};
  schema.label = "disease";
  schema.domain = "hospital";
  return schema;
}

TEST(Schema, FeatureNamesExpandLevelsInOrder) {
  EXPECT_EQ(example().feature_names(), (std::vector<std::string>{"age", "pain=none", "pain=typical"}));
}

TEST(Schema, SurvivesJson) {
  EXPECT_EQ(Schema::from_json(example().to_json(), "m.eco"), example());
  EXPECT_EQ(Schema::from_json(Schema{}.to_json(), "m.eco"), Schema{});
  const std::string text = example().to_json().dump();
  EXPECT_EQ(Schema::from_json(Json::parse(text), "m.eco").to_json().dump(), text);
}

TEST(Schema, FeaturesOfOneNameClash) {
  Schema schema = example();
  EXPECT_FALSE(schema.clash());
  schema.columns.insert(schema.columns.begin(), {"pain=none", ColumnKind::numeric, {}});
  ASSERT_TRUE(schema.clash());
  EXPECT_EQ(schema.clash()->feature, "pain=none");
  EXPECT_EQ(schema.clash()->first, "pain=none");
  EXPECT_EQ(schema.clash()->second, "pain");
  // Two text columns can clash too: a=b + c and a + b=c.
  schema.columns = {{"a", ColumnKind::categorical, {"b=c"}}, {"a=b", ColumnKind::categorical, {"c"}}};
  ASSERT_TRUE(schema.clash());
  EXPECT_EQ(schema.clash()->feature, "a=b=c");
  schema.columns[1].levels = {"d"};
  EXPECT_FALSE(schema.clash());
}

TEST(Schema, ACodedColumnIsOneFeature) {
  Schema schema = example();
  schema.columns[1].coded = true;
  EXPECT_EQ(schema.feature_names(), (std::vector<std::string>{"age", "pain"}));
  EXPECT_EQ(schema.first_features(), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(example().first_features(), (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_TRUE(schema.has_codes());
  EXPECT_FALSE(example().has_codes());
  EXPECT_NE(schema, example());
  EXPECT_EQ(Schema::from_json(schema.to_json(), "m.eco"), schema);
  EXPECT_FALSE(example().to_json().dump().find("coded") != std::string::npos) << "older programs read it";
  // Its levels are no features, so that they clash with none.
  schema.columns.push_back({"pain=none", ColumnKind::numeric, {}});
  EXPECT_FALSE(schema.clash());
}

TEST(Schema, TasksHaveNames) {
  EXPECT_EQ(task_name(Task::classify), "classify");
  EXPECT_EQ(task_name(Task::regress), "regress");
}

/// Each text is a schema that a damaged or hostile model file could hold.
class BadSchemaTest : public testing::TestWithParam<const char*> {};

TEST_P(BadSchemaTest, IsRefusedWithTheNameOfTheFile) {
  try {
    Schema::from_json(Json::parse(GetParam()), "m.eco");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::file);
    EXPECT_EQ(error.code(), "bad_model");
    EXPECT_EQ(std::string(error.what()).find("m.eco: "), 0U) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSchemaTest,
    testing::Values(
        "null", "[]", "3", "{}", R"({"columns":[]})", R"({"columns":{},"label":"","domain":"","weight":""})",
        R"({"columns":[],"label":3,"domain":"","weight":""})", R"({"columns":[3],"label":"","domain":"","weight":""})",
        R"({"columns":[{"kind":"numeric"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"","kind":"numeric"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":["a"],"kind":"numeric"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"text"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"numeric","levels":[]}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"numeric","coded":true}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical","levels":["b"],"coded":1}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical","levels":"b"}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical","levels":[1]}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical","levels":[""]}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical","levels":["c","b"]}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"categorical","levels":["b","b"]}],"label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"numeric"},{"name":"a","kind":"numeric"}],)"
        R"("label":"","domain":"","weight":""})",
        R"({"columns":[{"name":"a","kind":"numeric"}],"label":"a","domain":"","weight":""})",
        R"({"columns":[{"name":"a=b","kind":"numeric"},{"name":"a","kind":"categorical","levels":["b"]}],)"
        R"("label":"","domain":"","weight":""})",
        R"({"columns":[],"label":"a","domain":"a","weight":""})"));

}  // namespace schema_test
}  // namespace ecotone
