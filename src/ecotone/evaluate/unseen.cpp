#include "ecotone/evaluate/unseen.h"

#include <algorithm>
#include <cmath>

namespace ecotone {

namespace {

/// A text column's features: levels [first, first + levels), or codes in `first`.
struct TextColumn {
  const Column* column;
  Index first;
};

std::vector<TextColumn> text_columns(const Schema& schema) {
  std::vector<TextColumn> columns;
  Index next = 0;
  for (const Column& column : schema.columns) {
    if (column.kind == ColumnKind::categorical) columns.push_back({&column, next});
    next += static_cast<Index>(column.width());
  }
  return columns;
}

/// The level of a row in a text column; -1: missing.
std::int32_t level_in(const TextColumn& text, const ConstMatrixMap& x, Index row) {
  if (text.column->coded) {
    const double code = x(row, text.first);
    return std::isnan(code) ? -1 : static_cast<std::int32_t>(code);
  }
  for (std::size_t k = 0; k < text.column->levels.size(); ++k)
    if (x(row, text.first + static_cast<Index>(k)) != 0) return static_cast<std::int32_t>(k);
  return -1;
}

/// The level of each row in each text column. Row after row.
std::vector<std::int32_t> level_codes(const Features& x, const std::vector<TextColumn>& columns,
                                      const Context& context) {
  std::vector<std::int32_t> codes(static_cast<std::size_t>(x.rows()) * columns.size(), -1);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      std::int32_t* code = codes.data() + static_cast<std::size_t>(block.first + i) * columns.size();
      for (std::size_t c = 0; c < columns.size(); ++c) code[c] = level_in(columns[c], block.x, i);
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
