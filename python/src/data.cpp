#include "data.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "arrays.h"
#include "call.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/formats/encode.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/data/read.h"
#include "ecotone/data/row_weight.h"
#include "ecotone/data/storage/csr_storage.h"
#include "ecotone/methods/model.h"
#include "settings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ecotone::python {

namespace {

using Names = std::optional<std::vector<std::string>>;

/// Data with these features, all rows in one source domain.
Data of_features(Features x) {
  Data data;
  data.set.domain = one_domain(x.rows());
  data.set.role = {Role::source};
  data.set.x = std::move(x);
  return data;
}

Data from_dense(Table array, const Names& names) {
  return of_features(
      Features(std::make_shared<ArrayStorage>(std::move(array)), names.value_or(std::vector<std::string>{})));
}

Data from_csr(const Line<std::int64_t>& starts, const Line<std::int32_t>& columns, const Line<double>& values,
              Index cols, const Names& names) {
  const auto start = span_of(starts);
  const auto column = span_of(columns);
  const auto value = span_of(values);
  Csr csr;
  csr.rows = static_cast<Index>(start.size()) - 1;
  csr.cols = cols;
  csr.row_start.assign(start.begin(), start.end());
  csr.column.assign(column.begin(), column.end());
  csr.value.assign(value.begin(), value.end());
  return of_features(Features::sparse(std::move(csr), names.value_or(std::vector<std::string>{})));
}

/// A column of a table: numbers, or codes of words (-1: missing); whether the numbers are days of dates.
using ColumnOfTable = std::tuple<std::string, std::optional<Line<double>>, std::optional<Line<std::int32_t>>,
                                 std::vector<std::string>, bool>;

/// The levels of a category that occur, sorted, and the place of each code among them. Only one feature of codes may
/// have any number of levels.
Column category(const std::string& name, std::span<const std::int32_t> codes, const std::vector<std::string>& words,
                bool coded, std::vector<Index>& place) {
  std::vector<char> occurs(words.size(), 0);
  for (const std::int32_t code : codes)
    if (code >= 0) occurs.at(static_cast<std::size_t>(code)) = 1;
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < words.size(); ++c)
    if (occurs[c]) order.push_back(c);
  std::ranges::sort(order, {}, [&](std::size_t c) { return words[c]; });
  if (order.size() > most_levels && !coded)
    data_error(
        "too_many_levels",
        "column '{}' holds more than {} distinct values (such as '{}'), too many for a category; leave it out, or "
        "use 'trees', which takes such columns as they are",
        name, most_levels, words[order.front()]);
  Column column{name, ColumnKind::categorical, {}};
  column.coded = coded;
  place.assign(words.size(), -1);
  for (const std::size_t c : order) {
    place[c] = static_cast<Index>(column.levels.size());
    column.levels.push_back(words[c]);
  }
  return column;
}

/// A model's column of codes of this name and the place of each word among its levels (-1: none); null if the model has
/// no such column.
const Column* known_category(const Model* model, const std::string& name, const std::vector<std::string>& words,
                             std::vector<Index>& place) {
  if (!model) return nullptr;
  const std::vector<Column>& columns = model->schema().columns;
  const auto column = std::ranges::find(columns, name, &Column::name);
  if (column == columns.end() || !column->coded) return nullptr;
  for (const std::string& word : words) {
    const auto level = std::ranges::lower_bound(column->levels, word);
    place.push_back(level != column->levels.end() && *level == word ? level - column->levels.begin() : -1);
  }
  return &*column;
}

/// Puts a category's codes into its features, from column `first` on.
void fill_category(Matrix& x, Index first, const Column& column, std::span<const std::int32_t> codes,
                   const std::vector<Index>& place) {
  if (column.coded) x.col(first).setConstant(std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < x.rows(); ++i) {
    const std::int32_t code = codes[static_cast<std::size_t>(i)];
    const Index level = code < 0 ? -1 : place[static_cast<std::size_t>(code)];
    if (level < 0) continue;
    x(i, column.coded ? first : first + level) = column.coded ? static_cast<double>(level) : 1;
  }
}

/// A table as features: a category becomes one column of 0 and 1 per level, all 0 where it is missing, or one of codes,
/// NaN where it is. Data to ask a model about have its codes.
Data from_columns(const std::vector<ColumnOfTable>& columns, Index rows, bool coded, const Model* model) {
  Schema schema;
  std::vector<std::vector<Index>> places(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto& [name, numbers, codes, words, dates] = columns[j];
    if (numbers)
      schema.columns.push_back({name, dates ? ColumnKind::date : ColumnKind::numeric, {}});
    else if (const Column* known = known_category(model, name, words, places[j]))
      schema.columns.push_back(*known);
    else
      schema.columns.push_back(category(name, span_of(*codes), words, coded, places[j]));
  }
  if (const auto clash = schema.clash())
    data_error("duplicate_column", "columns '{}' and '{}' both give a feature called '{}'; rename one", clash->first,
               clash->second, clash->feature);
  std::vector<std::string> names = schema.feature_names();
  require_memory(static_cast<std::size_t>(rows) * names.size() * sizeof(double), "table",
                 fmt::format("{} x {} features", rows, names.size()), "use fewer columns");
  Matrix x = Matrix::Zero(rows, static_cast<Index>(names.size()));
  Index feature = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto& [name, numbers, codes, words, dates] = columns[j];
    if (numbers) {
      const auto values = span_of(*numbers);
      for (Index i = 0; i < rows; ++i) x(i, feature) = values[static_cast<std::size_t>(i)];
      ++feature;
      continue;
    }
    fill_category(x, feature, schema.columns[j], span_of(*codes), places[j]);
    feature += static_cast<Index>(schema.columns[j].width());
  }
  Data data = of_features(Features::dense(std::move(x), std::move(names)));
  data.set.schema = std::move(schema);
  return data;
}

void require_length(const Data& data, std::size_t size, std::string_view what) {
  if (static_cast<Index>(size) != data.set.rows())
    data_error("shape_mismatch", "{} {} for {} rows", size, what, data.set.rows());
}

void set_numbers(Data& data, const Line<double>& values, const std::string& task, const std::string& name,
                 const Settings& settings) {
  const auto given = span_of(values);
  require_length(data, given.size(), "labels");
  Vector y(static_cast<Index>(given.size()));
  std::ranges::copy(given, y.begin());
  std::optional<Task> chosen;  // empty: guessed
  if (task != "guess") chosen = task == "regress" ? Task::regress : Task::classify;
  data.set.schema.label = name;
  call(settings, Size::small,
       [&](const Context& context) { data.set.y = numeric_labels(std::move(y), chosen, name, context); });
}

void set_words(Data& data, const Line<std::int32_t>& codes, const std::vector<std::string>& words,
               const std::string& name, const Settings& settings) {
  const auto given = span_of(codes);
  require_length(data, given.size(), "labels");
  data.set.schema.label = name;
  call(settings, Size::small, [&](const Context& context) {
    data.set.y = text_labels({given.begin(), given.end()}, words, Task::classify, name, context);
  });
}

void set_domains(Data& data, const Line<std::int32_t>& codes, const std::vector<std::string>& words,
                 const std::vector<std::string>& targets, const std::string& name) {
  const auto given = span_of(codes);
  require_length(data, given.size(), "domains");
  Domains domains{words, {given.begin(), given.end()}};
  std::vector<Index> all(given.size());
  std::iota(all.begin(), all.end(), Index{0});
  data.set.domain = domains.take(all);  // in order of first appearance
  data.set.schema.domain = name;
  data.has_domains = true;
  set_targets(data.set, targets);
}

void set_weights(Data& data, const Line<double>& weights) {
  const auto given = span_of(weights);
  require_length(data, given.size(), "weights");
  for (std::size_t i = 0; i < given.size(); ++i) require_weight(given[i], "", static_cast<Index>(i));
  data.set.weight.resize(static_cast<Index>(given.size()));
  std::ranges::copy(given, data.set.weight.begin());
}

void set_groups(Data& data, const Line<std::int32_t>& groups, const std::string& name) {
  const auto given = span_of(groups);
  require_length(data, given.size(), "groups");
  data.set.group.assign(given.begin(), given.end());
  data.set.schema.group = name;
}

void set_times(Data& data, const Line<double>& times, bool dates, const std::string& name) {
  const auto given = span_of(times);
  require_length(data, given.size(), "times");
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!std::isfinite(given[i])) data_error("missing_time", "row {} has no time", i + 1);
  data.set.time.resize(static_cast<Index>(given.size()));
  std::ranges::copy(given, data.set.time.begin());
  data.set.schema.time = name;
  data.set.schema.time_is_date = dates;
}

Data read(const std::vector<std::string>& paths, const std::vector<std::string>& where, const std::string& format,
          const OptionTexts& texts, const Settings& settings, bool codes, bool own_rows) {
  auto options = options_from<ReadOptions>("read", texts);
  options.where = where;
  options.format = format;
  options.codes = codes;
  options.own_rows = own_rows;
  const std::vector<std::filesystem::path> files(paths.begin(), paths.end());
  Data data;
  data.set = call(settings, Size::any, [&](const Context& context) { return read_dataset(files, options, context); });
  data.has_domains = !data.set.schema.domain.empty() || options.domain_from_file;
  return data;
}

Data draw(const std::string& name, const OptionTexts& texts, const Settings& settings) {
  Data data;
  data.set = call(settings, Size::any, [&](const Context& context) { return generate(name, texts, context); });
  data.has_domains = true;
  return data;
}

/// The columns of the table that the features were made from: (name, numbers, None, dates?) or (name, codes, levels,
/// False).
nb::list columns_of(const Data& data) {
  std::vector<Column> columns = data.set.schema.columns;
  if (columns.empty())
    for (const std::string& name : data.set.x.names()) columns.push_back({name, ColumnKind::numeric, {}});
  const Matrix x = to_codes(data.set.x, data.set.schema, Context()).to_matrix();
  nb::list result;
  Index feature = 0;
  for (const Column& column : columns) {
    if (column.kind != ColumnKind::categorical) {
      result.append(nb::make_tuple(column.name, numpy_array(Vector(x.col(feature++))), nb::none(),
                                   column.kind == ColumnKind::date));
      continue;
    }
    std::vector<std::int32_t> codes(static_cast<std::size_t>(x.rows()), -1);
    for (Index i = 0; i < x.rows(); ++i)
      if (!std::isnan(x(i, feature))) codes[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(x(i, feature));
    ++feature;
    result.append(nb::make_tuple(column.name, numpy_array(std::move(codes)), column.levels, false));
  }
  return result;
}

/// (values, None) or (indices, classes), or None without labels.
nb::object labels_of(const Data& data) {
  if (!data.set.y) return nb::none();
  const Labels& y = *data.set.y;
  if (y.task == Task::regress) return nb::make_tuple(numpy_array(Vector(y.value)), nb::none());
  return nb::make_tuple(numpy_array(std::vector<std::int32_t>(y.index)), y.classes);
}

nb::object domains_of(const Data& data) {
  return nb::make_tuple(numpy_array(std::vector<std::int32_t>(data.set.domain.index)), data.set.domain.names);
}

std::vector<std::string> targets_of(const Data& data) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < data.set.role.size(); ++d)
    if (data.set.role[d] == Role::target) names.push_back(data.set.domain.names[d]);
  return names;
}

}  // namespace

void bind_data(nb::module_& module) {
  nb::class_<Data>(module, "Data", "Features with labels, domains and weights, as the library sees them.")
      .def_static("dense", from_dense, "array"_a.noconvert(), "names"_a = nb::none())
      .def_static("csr", from_csr, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "cols"_a,
                  "names"_a = nb::none())
      .def_static("columns", from_columns, "columns"_a, "rows"_a, "codes"_a = false, "model"_a.none() = nb::none())
      .def_static("read", read, "paths"_a, "where"_a, "format"_a, "options"_a, "settings"_a, "codes"_a = false,
                  "own_rows"_a = false)
      .def_static("generate", draw, "name"_a, "options"_a, "settings"_a)
      .def("set_numbers", set_numbers, "values"_a.noconvert(), "task"_a, "name"_a, "settings"_a)
      .def("set_words", set_words, "codes"_a.noconvert(), "words"_a, "name"_a, "settings"_a)
      .def("set_domains", set_domains, "codes"_a.noconvert(), "names"_a, "targets"_a, "name"_a)
      .def("set_weights", set_weights, "weights"_a.noconvert())
      .def("set_groups", set_groups, "groups"_a.noconvert(), "name"_a)
      .def("set_times", set_times, "times"_a.noconvert(), "dates"_a, "name"_a)
      .def("table", columns_of)
      .def_prop_ro("labels", labels_of)
      .def_prop_ro("domains", domains_of)
      .def_prop_ro("targets", targets_of)
      .def_prop_ro("has_domains", [](const Data& data) { return data.has_domains; })
      .def_prop_ro("weights",
                   [](const Data& data) -> nb::object {
                     return data.set.weight.size() == 0 ? nb::none() : numpy_array(Vector(data.set.weight));
                   })
      .def_prop_ro("groups",
                   [](const Data& data) -> nb::object {
                     return data.set.group.empty() ? nb::none()
                                                   : numpy_array(std::vector<std::int32_t>(data.set.group));
                   })
      .def_prop_ro("times",
                   [](const Data& data) -> nb::object {
                     return data.set.time.size() == 0 ? nb::none() : numpy_array(Vector(data.set.time));
                   })
      .def_prop_ro("time_is_date", [](const Data& data) { return data.set.schema.time_is_date; })
      .def_prop_ro("label_name", [](const Data& data) { return data.set.schema.label; })
      .def_prop_ro("domain_name", [](const Data& data) { return data.set.schema.domain; })
      .def_prop_ro("rows", [](const Data& data) { return data.set.rows(); })
      .def_prop_ro("features", [](const Data& data) { return data.set.x.names(); });
}

}  // namespace ecotone::python
