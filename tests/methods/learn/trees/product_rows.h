#pragma once

#include "ecotone/base/random.h"
#include "ecotone/methods/model.h"
#include "methods/support.h"

/// Rows that trees learn and sums of columns do not.
namespace ecotone::test {

/// Classes that depend on a product, so that no sum of columns tells them apart, with missing values.
inline TrainView product_view(Index rows, Index domains, Index classes = 2) {
  TrainView view = overlapping(rows, 4, classes, domains);
  Random random(5, "product");
  Matrix x(rows, 4);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 4; ++j) x(i, j) = random.normal();
    const double score = 3 * x(i, 0) * x(i, 1) + 0.5 * random.normal();
    view.y.index[at(i)] = static_cast<std::int32_t>(classes == 2 ? score > 0 : (score > -1) + (score > 1));
    if (i % 9 == 0) x(i, 2) = nan;
  }
  view.x = Features::dense(std::move(x));
  return view;
}

inline TrainView number_view(Index rows, Index domains) {
  TrainView view = product_view(rows, domains);
  const Matrix x = view.x.to_matrix();
  Random random(6, "numbers");
  view.y = {Task::regress, {}, {}, Vector(rows)};
  for (Index i = 0; i < rows; ++i) view.y.value[i] = 2 + x(i, 0) * x(i, 1) + 0.3 * random.normal();
  return view;
}

/// A model of three columns of numbers and one with codes of categories.
inline Model fitted_with_categories(std::string_view pipeline, const TrainView& view, int levels) {
  Schema schema;
  for (const char* name : {"a", "b", "c"}) schema.columns.push_back({.name = name, .levels = {}});
  schema.columns.push_back({.name = "ward", .kind = ColumnKind::categorical, .levels = {}, .coded = true});
  for (int level = 0; level < levels; ++level) schema.columns.back().levels.push_back(fmt::format("w{:02}", level));
  return Model::fit(Pipeline::parse(pipeline), view, schema, context());
}

inline double accuracy(const Model& model, const TrainView& view) {
  const Prediction p = model.predict({view.x, std::nullopt}, context());
  Index right = 0;
  for (Index i = 0; i < view.labelled(); ++i) right += p.index[at(i)] == view.y.index[at(i)];
  return static_cast<double>(right) / static_cast<double>(view.labelled());
}

inline Json state_of(const Model& model) { return model.inspect()["stages"][0]; }

}  // namespace ecotone::test
