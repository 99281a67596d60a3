#include "ecotone/methods/categories.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"

namespace ecotone {

namespace {

Features coded_features(const Features& x, const Schema& schema, const Origin& origin, const Context& context) {
  const BadCode bad = find_bad_code(x, schema, context);
  if (bad.row >= 0) {
    const Column& column = schema.columns[bad.column];
    data_error("bad_category", "row {} of column '{}' holds {}, which is no code of its {} categories",
               origin_of(origin, bad.row) + 1, column.name, bad.value, column.levels.size());
  }
  return to_codes(x, schema, context);
}

}  // namespace

Index first_stage_cols(const Pipeline& pipeline, const Schema& schema) {
  return pipeline.takes_categories() ? std::ssize(schema.columns) : static_cast<Index>(schema.first_features().back());
}

void require_form(const Pipeline& pipeline, const Schema& schema) {
  const Method& first = *pipeline.stages().front().method;
  if (first.takes_categories || !first.reads_features) return;
  const auto coded = std::ranges::find_if(schema.columns, &Column::coded);
  if (coded != schema.columns.end())
    data_error(
        "coded_columns",
        "{}: column '{}' holds codes of categories, which would be numbers to it; read the data with one feature "
        "per category, or begin the pipeline with a method that takes categories, such as 'trees'",
        first.name, coded->name);
}

TrainView first_stage_view(const Pipeline& pipeline, const Schema& schema, TrainView view, const Context& context) {
  view.categories.clear();
  if (!pipeline.takes_categories()) return view;
  view.x = coded_features(view.x, schema, view.origin, context);
  for (std::size_t c = 0; c < schema.columns.size(); ++c)
    if (schema.columns[c].kind == ColumnKind::categorical) view.categories.push_back(static_cast<Index>(c));
  return view;
}

Batch first_stage_batch(const Pipeline& pipeline, const Schema& schema, Batch batch, const Context& context) {
  if (pipeline.takes_categories()) batch.x = coded_features(batch.x, schema, batch.origin, context);
  return batch;
}

}  // namespace ecotone
