#include "ecotone/diagnose/represented.h"

#include "ecotone/diagnose/diagnose.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace represented_test {

/// Three domains whose first column is moved; labels by the second.
Dataset moved_domains() {
  Dataset data;
  constexpr Index rows = 150;
  Matrix x(rows, 2);
  Random random(1, "represented");
  std::vector<std::int32_t> classes;
  for (Index i = 0; i < rows; ++i) {
    x(i, 0) = random.normal() + 2.0 * static_cast<double>(i % 3);
    x(i, 1) = random.normal();
    classes.push_back(x(i, 1) > 0 ? 1 : 0);
    data.domain.index.push_back(static_cast<std::int32_t>(i % 3));
  }
  data.domain.names = {"a", "b", "c"};
  data.role = {Role::source, Role::source, Role::source};
  data.y = Labels{Task::classify, {"no", "yes"}, classes, {}};
  data.x = Features::dense(x, {"moved", "steady"});
  data.schema.columns = {{"moved", ColumnKind::numeric, {}}, {"steady", ColumnKind::numeric, {}}};
  data.schema.label = "y";
  return data;
}

TEST(Represented, DomainsComeNearerUnderInvariance) {
  const Dataset data = moved_domains();
  const DiagnoseOptions options{.permutations = 19, .sample = 100, .targets = {}};
  const auto variance = [&](const char* pipeline) {
    const Dataset z = represented(data, Pipeline::parse(pipeline), {}, on(2, 1));
    EXPECT_EQ(z.rows(), data.rows());
    EXPECT_EQ(z.schema.columns.size(), static_cast<std::size_t>(z.x.cols()));
    EXPECT_EQ(z.schema.columns.front().name, "z1");
    return diagnose(z, options, on(2, 1)).variance;
  };
  const double plain = variance("scale | udica weight=0 components=1");
  const double invariant = variance("scale | udica weight=10000 components=1");
  EXPECT_LT(invariant, 0.1 * plain);
}

TEST(Represented, LabelsOfTargetsAreNotSeen) {
  Dataset data = moved_domains();
  const Pipeline pipeline = Pipeline::parse("scale | dica components=1");
  const Matrix before = represented(data, pipeline, {"c"}, on(2, 1)).x.to_matrix();
  for (std::size_t i = 2; i < data.y->index.size(); i += 3) data.y->index[i] = 1 - data.y->index[i];
  EXPECT_EQ(represented(data, pipeline, {"c"}, on(2, 1)).x.to_matrix(), before);
  EXPECT_NE(represented(data, pipeline, {}, on(2, 1)).x.to_matrix(), before);
}

TEST(Represented, ALearnerHasNoFeatures) {
  const Dataset data = moved_domains();
  EXPECT_EQ(error_of([&] { represented(data, Pipeline::parse("scale | logistic"), {}, on(2, 1)); }).code(),
            "unexpected_learner");
  EXPECT_EQ(error_of([&] { represented(data, Pipeline::parse("scale"), {"nowhere"}, on(2, 1)); }).code(),
            "unknown_domain");
}

}  // namespace represented_test
}  // namespace ecotone::test
