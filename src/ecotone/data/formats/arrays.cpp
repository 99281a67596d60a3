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
#include "ecotone/data/formats/svmlight.h"
#include "ecotone/data/formats/where.h"

namespace ecotone {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::vector<std::string> numbered_names(const char* prefix, Index first, Index count) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (Index j = first; j < first + count; ++j) names.push_back(fmt::format("{}{}", prefix, j));
  return names;
}

/// Arrays of several files, one below the other.
Matrix stack(const std::vector<NumberArray>& arrays, const Context& context) {
  Index rows = 0;
  const Index cols = arrays.front().cols;
  for (const NumberArray& array : arrays) {
    if (array.cols != cols)
      data_error("column_count", "{}: {} columns, {} has {}", array.source.name(), array.cols,
                 arrays.front().source.name(), cols);
    rows += array.rows;
  }
  require_rows(rows, arrays.front().source.name());
  require_memory(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double),
                 arrays.front().source.name(), fmt::format("{} rows x {} features", rows, cols), "use fewer rows");
  Matrix out(rows, cols);
  Index row = 0;
  for (const NumberArray& array : arrays) {
    array.read(out.middleRows(row, array.rows), context);
    array.source.check_unchanged();
    row += array.rows;
  }
  return out;
}

Vector read_labels(const ByteSource& source, const Context& context) {
  const bool npy = source.size() >= 6 && source.text(0, 6) == "\x93NUMPY";
  const NumberArray array = npy ? open_npy(source) : open_idx(source);
  if (array.cols != 1) data_error("bad_labels", "{}: {} columns of labels, 1 is expected", source.name(), array.cols);
  return stack({array}, context).col(0);
}

ArrayRows read_cifar(const std::vector<ByteSource>& sources, const Context& context) {
  std::vector<NumberArray> labels;
  std::vector<NumberArray> pixels;
  ArrayRows rows;
  for (const ByteSource& source : sources) {
    CifarArrays arrays = open_cifar(source);
    rows.file_rows.push_back(arrays.pixels.rows);
    labels.push_back(std::move(arrays.labels));
    pixels.push_back(std::move(arrays.pixels));
  }
  rows.label = stack(labels, context).col(0);
  for (Index i = 0; i < rows.label->size(); ++i)
    if ((*rows.label)[i] > 9)
      data_error("bad_cifar", "{}: record {} has label {}, 9 is the last", sources.front().name(), i + 1,
                 (*rows.label)[i]);
  Matrix x = stack(pixels, context);
  auto names = numbered_names("p", 0, x.cols());
  rows.x = Features::dense(std::move(x), std::move(names));
  return rows;
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
      option_error("duplicate_domain", "two files make a domain '{}': rename one", stem);
    domains.index.insert(domains.index.end(), static_cast<std::size_t>(file_rows[f]), static_cast<std::int32_t>(f));
  }
  domains.names = stems.words();
  // A file without rows is no domain.
  std::vector<Index> all(domains.index.size());
  std::iota(all.begin(), all.end(), Index{0});
  return domains.take(all);
}

}  // namespace

ArrayRows read_arrays(FileFormat format, const std::vector<ByteSource>& sources, const ReadOptions& options,
                      const Context& context) {
  ArrayRows rows;
  if (format == FileFormat::cifar) {
    rows = read_cifar(sources, context);
    rows.labels_are_classes = true;
  } else if (format == FileFormat::svmlight) {
    SvmlightRows read = read_svmlight(sources, options.base, kPieceBytes, context);
    rows.x = Features::sparse(std::move(read.x));
    rows.label = std::move(read.label);
    rows.file_rows = std::move(read.file_rows);
  } else {
    std::vector<NumberArray> arrays;
    for (const ByteSource& source : sources) {
      arrays.push_back(format == FileFormat::npy ? open_npy(source) : open_idx(source));
      rows.file_rows.push_back(arrays.back().rows);
    }
    Matrix x = stack(arrays, context);
    auto names = format == FileFormat::npy ? std::vector<std::string>() : numbered_names("p", 0, x.cols());
    rows.x = Features::dense(std::move(x), std::move(names));
  }
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
  // Names and schema take about this much; a stray huge index in a sparse file must not take all memory.
  require_memory(static_cast<std::size_t>(rows.x.cols()) * 256, origin,
                 fmt::format("the names of {} columns", rows.x.cols()), "check the largest index");
  const std::vector<std::string> names = rows.x.names();
  ReadOptions by_name = options;
  // Labels that came with the rows are no column: a name given for them is just their name.
  if (rows.label) by_name.label.clear();
  if (options.domain_from_file) by_name.domain.clear();
  const ColumnRoles roles = resolve_roles(names, by_name, origin);
  Dataset data;
  data.x = rows.x;
  data.schema.domain = by_name.domain;
  data.schema.weight = options.weight;
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
  data = filter_rows(std::move(data), options.where, origin, context);
  if (roles.features.size() < names.size()) {
    std::vector<std::string> chosen;
    for (const Index j : roles.features) chosen.push_back(names[static_cast<std::size_t>(j)]);
    data.x = data.x.columns(roles.features, std::move(chosen), context);
  }
  for (const Index j : roles.features)
    data.schema.columns.push_back({names[static_cast<std::size_t>(j)], ColumnKind::numeric, {}});
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
        data_error("column_count", "{}: {} columns, the model has {}", origin, data.x.cols(), count);
      columns[j] = found->second;
    }
  }
  data.x = data.x.columns(columns, std::move(wanted), context);
  data.schema.columns = schema.columns;
  return data;
}

}  // namespace ecotone
