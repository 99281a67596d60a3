#include "ecotone/data/formats/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/formats/dictionary.h"
#include "ecotone/data/formats/encode.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/formats/number_array.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/formats/where.h"

namespace ecotone {

namespace {

Vector read_labels(const ByteSource& source, const Context& context) {
  const bool npy = is_npy(source.text(0, std::min<std::size_t>(source.size(), 6)));
  const NumberArray array = npy ? open_npy(source) : open_idx(source);
  if (array.cols != 1) data_error("bad_labels", "{}: {} columns of labels, expected 1", source.name(), array.cols);
  return stack_arrays({array}, context).col(0);
}

/// Numbers distinct values in order of first appearance; -1: missing.
Groups groups_of(const Vector& values) {
  Dictionary words;
  Groups groups;
  for (const double value : values) groups.push_back(std::isnan(value) ? -1 : words.code(number_text(value)));
  return groups;
}

void require_times(const Vector& times, const std::string& column, const std::string& origin) {
  for (Index i = 0; i < times.size(); ++i)
    if (std::isnan(times[i]))
      data_error("missing_time", "{}: row {} has no time in column '{}'", origin, i + 1, column);
}

/// One column of the features.
Vector extract(const Features& x, Index column, const Context& context) {
  Vector values(x.rows());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    values.segment(block.first, block.x.rows()) = block.x.col(column);
  });
  return values;
}

Domains domains_of(const Vector& values, const std::string& origin) {
  Domains domains;
  Dictionary words;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) data_error("missing_domain", "{}: row {} has no domain", origin, i + 1);
    domains.index.push_back(words.code(number_text(values[i])));
  }
  domains.names = words.words();
  return domains;
}

Domains domains_by_file(const std::vector<Index>& file_rows, const std::vector<ByteSource>& sources) {
  Domains domains;
  Dictionary stems;
  for (std::size_t f = 0; f < sources.size(); ++f) {
    const std::string stem = sources[f].stem();
    if (static_cast<std::size_t>(stems.code(stem)) != f)
      option_error("duplicate_domain", "two files would both be domain '{}'; rename one", stem);
    domains.index.insert(domains.index.end(), static_cast<std::size_t>(file_rows[f]), static_cast<std::int32_t>(f));
  }
  domains.names = stems.words();
  // A file without rows is not a domain.
  std::vector<Index> all(domains.index.size());
  std::iota(all.begin(), all.end(), Index{0});
  return domains.take(all);
}

}  // namespace

std::vector<std::string> pixel_names(Index count) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (Index j = 0; j < count; ++j) names.push_back(fmt::format("p{}", j));
  return names;
}

ArrayRows read_arrays(const Format& format, const std::vector<ByteSource>& sources, const ReadOptions& options,
                      const Context& context) {
  ArrayRows rows = format.rows(sources, options, context);
  if (!options.labels_file.empty()) {
    rows.label = read_labels(ByteSource::open(options.labels_file, context), context);
    if (rows.label->size() != rows.x.rows())
      data_error("label_count", "{}: {} labels for {} rows", options.labels_file, rows.label->size(), rows.x.rows());
  }
  require_rows(rows.x.rows(), sources.front().name());
  return rows;
}

Dataset arrays_dataset(ArrayRows rows, const std::vector<ByteSource>& sources, const ReadOptions& options,
                       const Context& context) {
  const std::string& origin = sources.front().name();
  // Names and schema need about this much; a stray huge index in a sparse file must not exhaust the memory.
  require_memory(static_cast<std::size_t>(rows.x.cols()) * 256, origin,
                 fmt::format("the names of {} columns", rows.x.cols()), "check the largest index");
  const std::vector<std::string> names = rows.x.names();
  ReadOptions by_name = options;
  // Labels that came with the rows are not a column: a name given for them is just their name.
  if (rows.label) by_name.label.clear();
  if (options.domain_from_file) by_name.domain.clear();
  const ColumnRoles roles = resolve_roles(names, by_name, origin);
  Dataset data;
  data.x = rows.x;
  data.schema.domain = by_name.domain;
  data.schema.weight = options.weight;
  data.schema.group = options.group;
  data.schema.time = options.time;
  if (roles.label >= 0) rows.label = extract(rows.x, roles.label, context);
  if (rows.label) {
    data.schema.label = options.label.empty() ? "label" : options.label;
    data.y =
        numeric_labels(std::move(*rows.label), rows.labels_are_classes && !options.task ? Task::classify : options.task,
                       data.schema.label, context);
  }
  data.domain = options.domain_from_file ? domains_by_file(rows.file_rows, sources)
                : roles.domain >= 0      ? domains_of(extract(rows.x, roles.domain, context), origin)
                                         : one_domain(rows.x.rows());
  if (roles.weight >= 0) data.weight = extract(rows.x, roles.weight, context);
  if (roles.group >= 0) data.group = groups_of(extract(rows.x, roles.group, context));
  if (roles.time >= 0) {
    data.time = extract(rows.x, roles.time, context);
    require_times(data.time, options.time, origin);
  }
  data = filter_rows(std::move(data), options.where, origin, context);
  if (roles.features.size() < names.size()) {
    std::vector<std::string> chosen;
    for (const Index j : roles.features) chosen.push_back(names[at(j)]);
    data.x = data.x.columns(roles.features, std::move(chosen), context);
  }
  for (const Index j : roles.features) data.schema.columns.push_back({names[at(j)], ColumnKind::numeric, {}});
  set_targets(data, options.target);
  return data;
}

Dataset match_by_position(Dataset data, const Schema& schema, const std::string& origin, const Context& context) {
  std::vector<std::string> wanted = schema.feature_names();
  const auto count = static_cast<Index>(wanted.size());
  const std::vector<std::string> names = data.x.names();
  std::vector<Index> columns(wanted.size(), -1);
  if (data.x.cols() == count || (data.x.is_sparse() && data.x.cols() < count)) {
    std::iota(columns.begin(), columns.begin() + data.x.cols(), Index{0});
  } else {
    TextMap<Index> place;
    for (std::size_t j = 0; j < names.size(); ++j) place.emplace(names[j], static_cast<Index>(j));
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      const auto found = place.find(wanted[j]);
      if (found == place.end() || data.x.is_sparse())
        data_error("column_count", "{}: {} columns, but the model has {}", origin, data.x.cols(), count);
      columns[j] = found->second;
    }
  }
  data.x = data.x.columns(columns, std::move(wanted), context);
  data.schema.columns = schema.columns;
  return data;
}

}  // namespace ecotone
