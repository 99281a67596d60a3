#include "ecotone/evaluate/unseen.h"

#include <algorithm>

namespace ecotone {

namespace {

/// A text column's features: levels [first, first + levels).
struct TextColumn {
  const Column* column;
  Index first;
};

std::vector<TextColumn> text_columns(const Schema& schema) {
  std::vector<TextColumn> columns;
  Index next = 0;
  for (const Column& column : schema.columns) {
    if (column.kind == ColumnKind::categorical) columns.push_back({&column, next});
    next += column.kind == ColumnKind::categorical ? static_cast<Index>(column.levels.size()) : 1;
  }
  return columns;
}

/// The level of each row in each text column; -1: missing. Row after row.
std::vector<std::int32_t> level_codes(const Features& x, const std::vector<TextColumn>& columns,
                                      const Context& context) {
  std::vector<std::int32_t> codes(static_cast<std::size_t>(x.rows()) * columns.size(), -1);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      std::int32_t* code = codes.data() + static_cast<std::size_t>(block.first + i) * columns.size();
      for (std::size_t c = 0; c < columns.size(); ++c)
        for (std::size_t k = 0; k < columns[c].column->levels.size(); ++k)
          if (block.x(i, columns[c].first + static_cast<Index>(k)) != 0) code[c] = static_cast<std::int32_t>(k);
    }
  });
  return codes;
}

}  // namespace

void warn_unseen_categories(const Dataset& data, const std::vector<Split>& splits, const Context& context) {
  const std::vector<TextColumn> columns = text_columns(data.schema);
  if (columns.empty() || data.schema.feature_names().size() != static_cast<std::size_t>(data.x.cols())) return;
  const std::vector<std::int32_t> codes = level_codes(data.x, columns, context);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto code = [&](Index row) { return codes[static_cast<std::size_t>(row) * columns.size() + c]; };
    std::vector<char> unseen(static_cast<std::size_t>(data.rows()), 0);
    for (const Split& split : splits) {
      std::vector<char> known(columns[c].column->levels.size(), 0);
      for (const Index row : split.source)
        if (code(row) >= 0 && !data.y->missing(row)) known[static_cast<std::size_t>(code(row))] = 1;
      for (const Index row : split.target)
        if (code(row) >= 0) known[static_cast<std::size_t>(code(row))] = 1;
      for (const Index row : split.held_out)
        if (code(row) >= 0 && !known[static_cast<std::size_t>(code(row))]) unseen[static_cast<std::size_t>(row)] = 1;
    }
    const auto count = std::count(unseen.begin(), unseen.end(), 1);
    if (count > 0)
      context.warn("unseen_category", "column '{}': {} held-out {} a category that the model does not know",
                   columns[c].column->name, count, count == 1 ? "row has" : "rows have");
  }
}

}  // namespace ecotone
