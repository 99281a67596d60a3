#include "ecotone/data/categories.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/encode.h"

namespace ecotone {

namespace {

/// Where the features of a column are in one form, and where they go in the other.
struct FormChange {
  bool changes = false;
  Index from = 0;
  Index from_width = 1;
  Index to = 0;
  Index to_width = 1;
};

/// What becomes of the columns of one schema in another that differs in forms alone.
std::vector<FormChange> form_changes(const Schema& from, const Schema& to) {
  const std::vector<std::size_t> first_from = from.first_features(), first_to = to.first_features();
  std::vector<FormChange> changes;
  for (std::size_t c = 0; c < from.columns.size(); ++c)
    changes.push_back({from.columns[c].coded != to.columns[c].coded, static_cast<Index>(first_from[c]),
                       static_cast<Index>(from.columns[c].width()), static_cast<Index>(first_to[c]),
                       static_cast<Index>(to.columns[c].width())});
  return changes;
}

/// The index of the level that is 1; NaN if none is.
double code_of(ConstMatrixMap x, Index row, const FormChange& change) {
  for (Index k = 0; k < change.from_width; ++k)
    if (x(row, change.from + k) > 0.5) return static_cast<double>(k);
  return std::numeric_limits<double>::quiet_NaN();
}

void collapse_rows(const std::vector<FormChange>& changes, ConstMatrixMap x, MatrixView out) {
  for (Index i = 0; i < x.rows(); ++i)
    for (const FormChange& change : changes)
      out(i, change.to) = change.changes ? code_of(x, i, change) : x(i, change.from);
}

void expand_rows(const std::vector<FormChange>& changes, ConstMatrixMap x, MatrixView out) {
  for (Index i = 0; i < x.rows(); ++i)
    for (const FormChange& change : changes) {
      if (!change.changes) {
        out.row(i).segment(change.to, change.to_width) = x.row(i).segment(change.from, change.from_width);
        continue;
      }
      const double code = x(i, change.from);
      for (Index k = 0; k < change.to_width; ++k) out(i, change.to + k) = code == static_cast<double>(k) ? 1 : 0;
    }
}

bool is_crowded(const Column& column) { return column.coded && column.levels.size() > most_levels; }

void require_few_levels(const Schema& schema, const std::string& origin) {
  const auto crowded = std::ranges::find_if(schema.columns, is_crowded);
  if (crowded != schema.columns.end())
    data_error("too_many_levels",
               "{}: column '{}' holds {} categories, and more than {} are too many for one feature each; leave it out "
               "with --ignore {}; 'trees' takes such columns as they are",
               origin, crowded->name, crowded->levels.size(), most_levels, crowded->name);
}

}  // namespace

std::string_view level_text(const std::vector<std::string>& levels, double code) {
  const bool known = code >= 0 && code < static_cast<double>(levels.size());
  return known ? std::string_view(levels[static_cast<std::size_t>(code)]) : std::string_view();
}

Schema with_codes(Schema schema) {
  for (Column& column : schema.columns) column.coded = column.kind == ColumnKind::categorical;
  return schema;
}

Features to_codes(const Features& x, const Schema& schema, const Context& context) {
  if (std::ranges::none_of(schema.columns, &Column::one_hot)) return x;
  const Schema coded = with_codes(schema);
  const auto collapse = [changes = form_changes(schema, coded)](ConstMatrixMap from, MatrixView out) {
    collapse_rows(changes, from, out);
  };
  return x.map(std::ssize(coded.columns), coded.feature_names(), collapse, context);
}

Dataset to_codes(Dataset data, const Context& context) {
  data.x = to_codes(data.x, data.schema, context);
  data.schema = with_codes(std::move(data.schema));
  return data;
}

Dataset to_levels(Dataset data, const std::string& origin, const Context& context) {
  if (!data.schema.has_codes()) return data;
  require_few_levels(data.schema, origin);
  Schema schema = data.schema;
  for (Column& column : schema.columns) column.coded = false;
  if (const auto clash = schema.clash())
    data_error("duplicate_column", "{}: columns '{}' and '{}' both produce a feature '{}'; leave one out with --ignore",
               origin, clash->first, clash->second, clash->feature);
  const auto expand = [changes = form_changes(data.schema, schema)](ConstMatrixMap from, MatrixView out) {
    expand_rows(changes, from, out);
  };
  std::vector<std::string> names = schema.feature_names();
  const auto cols = std::ssize(names);
  data.x = data.x.map(cols, std::move(names), expand, context);
  data.schema = std::move(schema);
  return data;
}

Dataset levels_to_compare(Dataset data, const Context& context) {
  std::vector<Index> kept;
  std::vector<std::string> crowded;
  for (std::size_t c = 0; c < data.schema.columns.size(); ++c) {
    if (is_crowded(data.schema.columns[c]))
      crowded.push_back(data.schema.columns[c].name);
    else
      kept.push_back(static_cast<Index>(c));
  }
  if (!crowded.empty()) {
    context.note("columns with more than {} categories are not compared: {}", most_levels, fmt::join(crowded, ", "));
    data = take_columns(std::move(data), kept, context);
  }
  return to_levels(std::move(data), "data", context);
}

Dataset take_columns(Dataset data, const std::vector<Index>& columns, const Context& context) {
  const std::vector<std::size_t> first = data.schema.first_features();
  std::vector<Column> kept;
  std::vector<Index> features;
  for (const Index c : columns) {
    kept.push_back(data.schema.columns[at(c)]);
    for (std::size_t k = first[at(c)]; k < first[at(c) + 1]; ++k) features.push_back(static_cast<Index>(k));
  }
  data.schema.columns = std::move(kept);
  data.x = data.x.columns(features, data.schema.feature_names(), context);
  return data;
}

BadCode find_bad_code(const Features& x, const Schema& schema, const Context& context) {
  if (!schema.has_codes()) return {};
  const std::vector<std::size_t> first = schema.first_features();
  std::vector<BadCode> found(at(x.blocks()));
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows() && found[at(b)].row < 0; ++i)
      for (std::size_t c = 0; c < schema.columns.size(); ++c) {
        if (!schema.columns[c].coded) continue;
        const double value = block.x(i, static_cast<Index>(first[c]));
        const bool known = value >= 0 && value < static_cast<double>(schema.columns[c].levels.size());
        if (std::isnan(value) || (known && value == std::floor(value))) continue;
        found[at(b)] = {block.first + i, c, value};
        break;
      }
  });
  const auto bad = std::ranges::find_if(found, [](const BadCode& code) { return code.row >= 0; });
  return bad == found.end() ? BadCode{} : *bad;
}

void warn_unseen_rows(const std::string& column, Index rows, const Context& context) {
  if (rows > 0)
    context.warn("unseen_category", "column '{}': {} {} a category that the model does not know", column, rows,
                 rows == 1 ? "row has" : "rows have");
}

}  // namespace ecotone
