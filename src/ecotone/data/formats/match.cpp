#include "ecotone/data/formats/match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/formats/dictionary.h"

namespace ecotone {

namespace {

const char* contents(ColumnKind kind) {
  return kind == ColumnKind::numeric ? "numbers" : kind == ColumnKind::date ? "dates" : "categories";
}

/// The place of each column of the model in the data.
std::vector<std::size_t> places_of_columns(const Schema& data, const Schema& wanted, const std::string& origin) {
  TextMap<std::size_t> known;
  for (std::size_t c = 0; c < data.columns.size(); ++c) known.emplace(data.columns[c].name, c);
  std::vector<std::size_t> places;
  for (const Column& column : wanted.columns) {
    const auto found = known.find(column.name);
    if (found == known.end())
      data_error("missing_column", "{}: no column '{}', which the model needs", origin, column.name);
    const ColumnKind kind = data.columns[found->second].kind;
    if (kind != column.kind)
      data_error("bad_value", "{}: column '{}' holds {}, but the model needs {}", origin, column.name, contents(kind),
                 contents(column.kind));
    places.push_back(found->second);
  }
  return places;
}

/// The index of each level among others, which are sorted; -1: it is not there.
std::vector<Index> levels_among(const std::vector<std::string>& levels, const std::vector<std::string>& others) {
  std::vector<Index> places;
  for (const std::string& level : levels) {
    const auto found = std::ranges::lower_bound(others, level);
    places.push_back(found != others.end() && *found == level ? found - others.begin() : -1);
  }
  return places;
}

/// Rows for which this holds.
template <class Holds>
Index count_rows(const Features& x, const Context& context, Holds&& holds) {
  std::vector<Index> counts(static_cast<std::size_t>(x.blocks()), 0);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) counts[at(b)] += holds(block.x, i);
  });
  Index total = 0;
  for (const Index count : counts) total += count;
  return total;
}

/// One feature per level in the data and in the model: columns are chosen, and sparse ones stay sparse.
Features match_levels(const Dataset& data, const Schema& schema, const std::vector<std::size_t>& places,
                      const Context& context) {
  const std::vector<std::size_t> first = data.schema.first_features();
  std::vector<Index> features;
  for (std::size_t c = 0; c < places.size(); ++c) {
    const Column& wanted = schema.columns[c];
    const Column& there = data.schema.columns[places[c]];
    const auto begin = static_cast<Index>(first[places[c]]);
    if (!wanted.one_hot()) {
      features.push_back(begin);
      continue;
    }
    for (const Index level : levels_among(wanted.levels, there.levels))
      features.push_back(level < 0 ? -1 : begin + level);
    std::vector<Index> unknown;
    const std::vector<Index> known = levels_among(there.levels, wanted.levels);
    for (std::size_t k = 0; k < known.size(); ++k)
      if (known[k] < 0) unknown.push_back(begin + static_cast<Index>(k));
    if (unknown.empty()) continue;
    const auto is_unknown = [&](const ConstMatrixMap& x, Index i) {
      return std::ranges::any_of(unknown, [&](Index j) { return x(i, j) != 0; });
    };
    warn_unseen_rows(wanted.name, count_rows(data.x, context, is_unknown), context);
  }
  return data.x.columns(features, schema.feature_names(), context);
}

/// A column of the model: where its values are, where they go, and what becomes of codes.
struct CodeMatch {
  Index from = 0;
  Index to = 0;
  bool categorical = false;
  bool coded = false;
  std::vector<Index> level = {};  ///< of the model, by code of the data; -1: unknown
};

void match_row(const std::vector<CodeMatch>& matches, ConstMatrixMap x, Index i, MatrixView out) {
  out.row(i).setZero();
  for (const CodeMatch& match : matches) {
    const double value = x(i, match.from);
    const bool missing = match.categorical && (std::isnan(value) || match.level[static_cast<std::size_t>(value)] < 0);
    if (!match.categorical) {
      out(i, match.to) = value;
    } else if (match.coded) {
      out(i, match.to) = missing ? std::numeric_limits<double>::quiet_NaN()
                                 : static_cast<double>(match.level[static_cast<std::size_t>(value)]);
    } else if (!missing) {
      out(i, match.to + match.level[static_cast<std::size_t>(value)]) = 1;
    }
  }
}

/// Data with codes, or a model of codes: each code is looked up in the model's levels.
Features match_codes(const Dataset& data, const Schema& schema, const std::vector<std::size_t>& places,
                     const Context& context) {
  const Features x = to_codes(data.x, data.schema, context);
  const std::vector<std::size_t> first = schema.first_features();
  std::vector<CodeMatch> matches;
  for (std::size_t c = 0; c < places.size(); ++c) {
    const Column& wanted = schema.columns[c];
    const bool categorical = wanted.kind == ColumnKind::categorical;
    matches.push_back({static_cast<Index>(places[c]), static_cast<Index>(first[c]), categorical, wanted.coded,
                       levels_among(data.schema.columns[places[c]].levels, wanted.levels)});
    const CodeMatch& match = matches.back();
    if (std::ranges::find(match.level, -1) == match.level.end()) continue;
    const auto is_unknown = [&](const ConstMatrixMap& rows, Index i) {
      const double code = rows(i, match.from);
      return !std::isnan(code) && match.level[static_cast<std::size_t>(code)] < 0;
    };
    warn_unseen_rows(wanted.name, count_rows(x, context, is_unknown), context);
  }
  const auto map = [matches](ConstMatrixMap rows, MatrixView out) {
    for (Index i = 0; i < rows.rows(); ++i) match_row(matches, rows, i, out);
  };
  std::vector<std::string> names = schema.feature_names();
  const auto cols = std::ssize(names);
  return x.map(cols, std::move(names), map, context);
}

}  // namespace

Dataset match_by_name(Dataset data, const Schema& schema, const std::string& origin, const Context& context) {
  const std::vector<std::size_t> places = places_of_columns(data.schema, schema, origin);
  const bool codes = data.schema.has_codes() || schema.has_codes();
  data.x = codes ? match_codes(data, schema, places, context) : match_levels(data, schema, places, context);
  data.schema.columns = schema.columns;
  return data;
}

}  // namespace ecotone
