#include "ecotone/data/pairs.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/data/read.h"

namespace ecotone {

namespace {

void refuse_pairs(const Dataset& data) {
  const auto& names = data.x.names();
  if (!names.empty() && std::all_of(names.begin(), names.end(), is_pair_name))
    data_error("pairs_of_pairs", "pairs: the data already hold pairs ({}, ...); give the rows they were made from",
               names.front());
}

const Labels& class_labels(const Dataset& data) {
  if (!data.y) data_error("no_labels", "pairs: there are no classes to pair; name the class column with --label");
  if (data.y->task != Task::classify)
    data_error("needs_two_classes", "pairs: the label must be a class, not a number; use --task classify");
  return *data.y;
}

std::vector<std::vector<Index>> rows_by_class(const Labels& y) {
  std::vector<std::vector<Index>> rows(y.classes.size());
  for (Index i = 0; i < y.size(); ++i)
    if (!y.missing(i)) rows[at(y.index[at(i)])].push_back(i);
  return rows;
}

/// Pair t of the n (n - 1) / 2 pairs (i, j), j < i: t = i (i - 1) / 2 + j.
std::pair<Index, Index> unrank(Index t) {
  auto i = static_cast<Index>((1 + std::sqrt(1 + 8 * static_cast<double>(t))) / 2);
  while (i * (i - 1) / 2 > t) --i;
  while ((i + 1) * i / 2 <= t) ++i;
  return {i, t - i * (i - 1) / 2};
}

void add(PairRows& pairs, Index first, Index second) {
  pairs.first.push_back(first);
  pairs.second.push_back(second);
}

/// A row of a class other than the one whose rows are [begin, end) of `order`, which holds all rows class by class.
Index outside(const std::vector<Index>& order, Index begin, Index end, Index k) {
  return order[at(k < begin ? k : k + end - begin)];
}

/// The data set of pairs; `pairs` are rows of `data`.
Dataset make_pairs(const Dataset& data, PairRows pairs, const Context& context) {
  Dataset result;
  if (data.weight.size() > 0) {
    result.weight.resize(pairs.size());
    for (Index k = 0; k < pairs.size(); ++k)
      result.weight[k] = data.weight[pairs.first[at(k)]] * data.weight[pairs.second[at(k)]];
  }
  if (data.y) {
    const Labels& y = *data.y;
    Labels same{Task::classify, {"different", "same"}, {}, {}};
    result.domain.names = y.classes;
    for (Index k = 0; k < pairs.size(); ++k) {
      const std::int32_t a = y.index[at(pairs.first[at(k)])], b = y.index[at(pairs.second[at(k)])];
      same.index.push_back(a == b);
      result.domain.index.push_back(a);
      result.domain.partner.push_back(a == b ? -1 : b);
    }
    result.y = std::move(same);
    result.schema.label = "pair";
    result.schema.domain = data.schema.label.empty() ? "class" : data.schema.label;
  } else {
    result.domain = {{"pairs"}, std::vector<std::int32_t>(at(pairs.size()), 0)};
  }
  result.role.assign(result.domain.names.size(), Role::source);
  result.x = pair_features(data.x, std::move(pairs), context);
  for (const std::string& name : result.x.names()) result.schema.columns.push_back({name, ColumnKind::numeric, {}});
  return result;
}

/// A column of a list of pairs, as rows from 0.
std::vector<Index> listed_rows(const std::string& path, const Dataset& list, const std::string& name) {
  const auto& names = list.x.names();
  const auto place = std::find(names.begin(), names.end(), name);
  // A text column becomes several features, none of which has its name.
  if (place == names.end())
    data_error("bad_row", "{}: column '{}' holds text; row numbers are whole numbers from 1", path, name);
  const Vector numbers = list.x.to_matrix().col(place - names.begin());
  std::vector<Index> rows;
  for (Index i = 0; i < numbers.size(); ++i) {
    const double row = numbers[i];
    if (!(row >= 1 && row <= 9e15) || row != std::floor(row))
      data_error("bad_row", "{}: column '{}' of pair {}: row numbers are whole numbers from 1, got {}", path, name,
                 i + 1, row);
    rows.push_back(static_cast<Index>(row) - 1);
  }
  return rows;
}

}  // namespace

PairRows read_pairs(const std::string& path, const Context& context) {
  ReadOptions options;
  options.features = {"first", "second"};
  const Dataset list = read_dataset({path}, options, context);
  return {listed_rows(path, list, "first"), listed_rows(path, list, "second")};
}

Dataset draw_pairs(const Dataset& data, const PairsOptions& options, const Context& context) {
  const Index per_class = options.per_class;
  if (per_class < 1) option_error("bad_option", "pairs: per_class must be >= 1, got {}", per_class);
  refuse_pairs(data);
  const Labels& y = class_labels(data);
  const auto rows = rows_by_class(y);
  const auto classes = std::count_if(rows.begin(), rows.end(), [](const auto& r) { return !r.empty(); });
  if (classes < 2) data_error("needs_two_classes", "pairs: rows of at least two classes are needed, got {}", classes);
  if (classes == 2)
    context.warn(
        "two_classes",
        "pairs: with only two classes, every pair of different classes contains both; leaving one out needs three");
  std::vector<Index> order;
  for (const auto& of_class : rows) order.insert(order.end(), of_class.begin(), of_class.end());
  PairRows pairs;
  Index begin = 0;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const auto n = static_cast<Index>(rows[c].size()), others = static_cast<Index>(order.size()) - n;
    if (n == 0) continue;
    if (n == 1) data_error("one_row_class", "pairs: class '{}' has only one row, so it has no pairs", y.classes[c]);
    const Index count = std::min({per_class, n * (n - 1) / 2, n * others});
    if (count < per_class)
      context.warn("fewer_pairs", "pairs: class '{}' has only {} rows, so it gets {} pairs of each kind instead of {}",
                   y.classes[c], n, count, per_class);
    Random random = context.random("pairs", c);
    for (const Index t : random.sample(n * (n - 1) / 2, count)) {
      const auto pair = unrank(t);
      add(pairs, rows[c][at(pair.first)], rows[c][at(pair.second)]);
    }
    for (const Index t : random.sample(n * others, count))
      add(pairs, rows[c][at(t / others)], outside(order, begin, begin + n, t % others));
    begin += n;
  }
  return make_pairs(data, std::move(pairs), context);
}

Dataset listed_pairs(const Dataset& data, PairRows pairs, const Context& context) {
  refuse_pairs(data);
  for (const auto* rows : {&pairs.first, &pairs.second}) {
    for (const Index row : *rows) {
      if (row < 0 || row >= data.rows())
        data_error("bad_row", "pairs: row {} is not one of rows 1 to {}", row + 1, data.rows());
      if (data.y && data.y->missing(row))
        data_error("no_labels", "pairs: row {} has no label; drop --label to pair rows without labels", row + 1);
    }
  }
  if (data.y) class_labels(data);
  return make_pairs(data, std::move(pairs), context);
}

}  // namespace ecotone
