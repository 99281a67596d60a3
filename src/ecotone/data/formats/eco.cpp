#include "ecotone/data/formats/eco.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/formats/dictionary.h"
#include "ecotone/data/formats/encode.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/formats/match.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/formats/where.h"
#include "ecotone/data/storage/mapped_storage.h"
#include "ecotone/data/storage/pair_storage.h"

namespace ecotone {

namespace {

/// Reads a file and checks everything in it: it may have been written by anyone.
class EcoReader {
 public:
  explicit EcoReader(const TensorFile& file) : file_(file) {}

  Dataset read() const {
    check_format();
    Dataset data;
    data.schema = Schema::from_json(json("schema"), file_.origin());
    std::vector<std::string> names = data.schema.feature_names();
    data.x = file_.has("x") ? dense(std::move(names)) : sparse(std::move(names));
    if (file_.has("pair.first") && data.schema.has_codes()) bad("pairs of codes are not supported");
    if (file_.has("pair.first")) data.x = pairs(data.x);
    require_rows(data.rows(), file_.origin());
    data.domain.names = texts("domains");
    require_different(data.domain.names, "domain");
    data.domain.index = codes("domain", data.rows(), data.domain.names.size(), false);
    if (file_.has("partner")) data.domain.partner = codes("partner", data.rows(), data.domain.names.size(), true);
    for (const std::string& role : texts("roles")) data.role.push_back(role_of(role));
    if (data.role.size() != data.domain.names.size())
      bad(fmt::format("{} roles for {} domains", data.role.size(), data.domain.names.size()));
    if (file_.has("label")) data.y = labels(data.rows());
    if (file_.has("weight")) data.weight = vector("weight", data.rows());
    if (file_.has("group")) data.group = codes("group", data.rows(), std::numeric_limits<std::int32_t>::max(), true);
    if (file_.has("time")) data.time = vector("time", data.rows());
    return data;
  }

 private:
  [[noreturn]] void bad(const std::string& what) const { file_error("bad_data_file", "{}: {}", file_.origin(), what); }

  void check_format() const {
    const auto& meta = file_.metadata();
    const auto format = meta.find("format");
    if (format == meta.end() || format->second != "ecotone-data")
      bad(format == meta.end() ? "not an ecotone data file" : fmt::format("holds '{}', not data", format->second));
    const std::string& version = file_.meta("format_version");
    if (version != "1" && version != "2" && version != "3")
      file_error("newer_format", "{}: data format {} is newer than this program, which knows 1 to 3", file_.origin(),
                 version);
  }

  Json json(const char* key) const {
    Json value = Json::parse(file_.meta(key), nullptr, false);
    if (value.is_discarded()) bad(fmt::format("'{}' in the metadata is not JSON", key));
    return value;
  }

  /// A list of text.
  std::vector<std::string> texts(const char* key) const {
    const Json list = json(key);
    if (!list.is_array()) bad(fmt::format("'{}' in the metadata is not a list", key));
    std::vector<std::string> result;
    for (const Json& item : list) {
      if (!item.is_string()) bad(fmt::format("'{}' in the metadata must hold only text", key));
      result.push_back(item.get<std::string>());
    }
    return result;
  }

  void require_different(const std::vector<std::string>& words, const char* what) const {
    Dictionary seen;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (static_cast<std::size_t>(seen.code(words[i])) != i) bad(fmt::format("{} '{}' occurs twice", what, words[i]));
  }

  Role role_of(const std::string& name) const {
    if (name == "source") return Role::source;
    if (name == "target") return Role::target;
    if (name == "unseen") return Role::unseen;
    bad(fmt::format("unknown role '{}'", name));
  }

  Features dense(std::vector<std::string> names) const {
    const TensorView x = file_.tensor("x");
    if (x.type != DType::f64 || x.shape.size() != 2) bad("'x' must be an F64 matrix");
    if (x.shape[1] != static_cast<Index>(names.size()))
      bad(fmt::format("'x' has {} columns, but the schema has {}", x.shape[1], names.size()));
    return Features(std::make_shared<MappedStorage>(file_, x), std::move(names));
  }

  Features sparse(std::vector<std::string> names) const {
    Csr x;
    const std::vector<std::int64_t> start = file_.integers("x.row_start");
    if (start.empty()) bad("'x.row_start' is empty");
    x.rows = static_cast<Index>(start.size()) - 1;
    x.cols = static_cast<Index>(names.size());
    x.value = file_.doubles("x.value");
    const TensorView column = file_.tensor("x.column");
    if (column.type != DType::i32 || column.shape.size() != 1 ||
        column.elements() != static_cast<Index>(x.value.size()))
      bad("'x.column' must be a list of I32 as long as 'x.value'");
    x.column.resize(x.value.size());
    if (!column.bytes.empty()) std::memcpy(x.column.data(), column.bytes.data(), column.bytes.size());
    x.row_start.assign(start.begin(), start.end());
    check_rows(x);
    return Features::sparse(std::move(x), std::move(names));
  }

  /// Products of pairs of the rows.
  Features pairs(const Features& x) const {
    if (x.is_sparse()) bad("pairs of sparse rows are not supported");
    PairRows rows{row_numbers("pair.first", x.rows()), row_numbers("pair.second", x.rows())};
    if (rows.first.size() != rows.second.size()) bad("'pair.first' and 'pair.second' differ in length");
    return x.with_storage(std::make_shared<PairStorage>(x.shared_storage(), std::move(rows)));
  }

  std::vector<Index> row_numbers(const char* name, Index rows) const {
    const std::vector<std::int64_t> values = file_.integers(name);
    for (const std::int64_t value : values)
      if (value < 0 || value >= rows) bad(fmt::format("'{}' holds {}, but there are {} rows", name, value, rows));
    return std::vector<Index>(values.begin(), values.end());
  }

  void check_rows(const Csr& x) const {
    if (x.row_start.front() != 0 || x.row_start.back() != static_cast<Index>(x.value.size()))
      bad("'x.row_start' does not span the values");
    for (std::size_t i = 0; i + 1 < x.row_start.size(); ++i) {
      if (x.row_start[i + 1] < x.row_start[i]) bad(fmt::format("sparse row {} ends before it begins", i + 1));
      if (x.row_start[i + 1] > static_cast<Index>(x.value.size()))
        bad(fmt::format("sparse row {} ends after the values", i + 1));
      Index last = -1;
      for (auto k = static_cast<std::size_t>(x.row_start[i]); k < static_cast<std::size_t>(x.row_start[i + 1]); ++k) {
        if (x.column[k] <= last || x.column[k] >= x.cols)
          bad(fmt::format("sparse row {} has column {} out of order", i + 1, x.column[k]));
        last = x.column[k];
      }
    }
  }

  /// Class or domain indices of all rows, each below `count` (or -1 where a value may be missing).
  std::vector<std::int32_t> codes(const char* name, Index rows, std::size_t count, bool missing) const {
    const std::vector<std::int64_t> values = file_.integers(name, {rows});
    std::vector<std::int32_t> result;
    result.reserve(values.size());
    for (const std::int64_t value : values) {
      if (value < (missing ? -1 : 0) || value >= static_cast<std::int64_t>(count))
        bad(fmt::format("'{}' holds {}, but there are {} names", name, value, count));
      result.push_back(static_cast<std::int32_t>(value));
    }
    return result;
  }

  Vector vector(const char* name, Index rows) const {
    const std::vector<double> values = file_.doubles(name, {rows});
    return Eigen::Map<const Vector>(values.data(), rows);
  }

  Labels labels(Index rows) const {
    Labels result;
    const std::string& task = file_.meta("task");
    if (task == "regress") {
      result.task = Task::regress;
      result.value = vector("label", rows);
      return result;
    }
    if (task != "classify") bad(fmt::format("unknown task '{}'", task));
    result.classes = texts("classes");
    require_different(result.classes, "class");
    result.index = codes("label", rows, result.classes.size(), true);
    return result;
  }

  const TensorFile& file_;
};

void require_same(const char* what, const std::string& given, const std::string& known, const std::string& origin) {
  if (!given.empty() && given != known)
    data_error("unknown_column", "{}: the {} of this file is {}, not '{}'; convert the original again to change it",
               origin, what, known.empty() ? "absent" : fmt::format("'{}'", known), given);
}

/// Labels for another task than that of the file.
Labels retask(const Labels& labels, Task task, const std::string& column, const Context& context) {
  if (labels.task == task) return labels;
  if (task == Task::classify) return numeric_labels(labels.value, task, column, context);
  Labels result;
  result.task = task;
  result.value.resize(labels.size());
  for (Index i = 0; i < labels.size(); ++i) {
    const std::int32_t c = labels.index[at(i)];
    result.value[i] = std::numeric_limits<double>::quiet_NaN();
    if (c >= 0 && !parse_number(labels.classes[at(c)], result.value[i]))
      data_error("text_label", "label '{}' holds text such as '{}'; task regress needs numbers", column,
                 labels.classes[at(c)]);
  }
  return result;
}

/// Only the inputs selected by the options.
Dataset choose_inputs(Dataset data, const ReadOptions& options, const std::string& origin, const Context& context) {
  if (options.ignore.empty() && options.features.empty() && options.id.empty()) return data;
  std::vector<std::string> names;
  for (const Column& column : data.schema.columns) names.push_back(column.name);
  ReadOptions by_name;
  by_name.ignore = options.ignore;
  by_name.id = options.id;
  by_name.features = options.features;
  const ColumnRoles roles = resolve_roles(names, by_name, origin);
  return take_columns(std::move(data), roles.features, context);
}

/// Codes come from the file, so they may be anything.
void refuse_bad_codes(const Dataset& data, const std::string& origin, const Context& context) {
  const BadCode bad = find_bad_code(data.x, data.schema, context);
  if (bad.row >= 0)
    file_error("bad_data_file", "{}: row {} of column '{}' holds {}, which is no category", origin, bad.row + 1,
               data.schema.columns[bad.column].name, bad.value);
}

/// The data set with its categories in the form that the file has.
Dataset read_stored(const TensorFile& file, const ReadOptions& options, const Context& context) {
  Dataset data = EcoReader(file).read();
  const std::string& origin = file.origin();
  refuse_bad_codes(data, origin, context);
  require_same("label", options.label, data.schema.label, origin);
  require_same("domain", options.domain, data.schema.domain, origin);
  require_same("weight", options.weight, data.schema.weight, origin);
  require_same("group", options.group, data.schema.group, origin);
  require_same("time", options.time, data.schema.time, origin);
  if (options.domain_from_file) {
    data.domain = {{std::filesystem::path(origin).stem().string()},
                   std::vector<std::int32_t>(data.domain.index.size(), 0)};
    data.role = {Role::source};
    data.schema.domain.clear();
  }
  data = filter_rows(std::move(data), options.where, origin, context);
  if (data.y && options.task) data.y = retask(*data.y, *options.task, data.schema.label, context);
  data = choose_inputs(std::move(data), options, origin, context);
  if (!options.target.empty()) set_targets(data, options.target);
  return data;
}

/// The length of the header, which is JSON.
bool looks_like_eco(std::string_view start) { return start.size() >= 9 && start[8] == '{'; }

Dataset read_eco_file(InputFiles files, const ReadOptions& options, const Context& context) {
  Dataset data = read_eco(TensorFile::map(files.paths.front()), options, context);
  if (data.y && !options.task) note_task(*data.y, data.schema.label, context);
  return data;
}

Dataset read_eco_file_for_model(InputFiles files, const Schema& schema, const ReadOptions& options,
                                std::vector<TextColumn>&, const Context& context) {
  const std::filesystem::path& path = files.paths.front();
  return match_by_name(read_stored(TensorFile::map(path), options, context), schema, path.string(), context);
}

}  // namespace

Dataset read_eco(const TensorFile& file, const ReadOptions& options, const Context& context) {
  Dataset data = read_stored(file, options, context);
  return options.codes ? to_codes(std::move(data), context) : to_levels(std::move(data), file.origin(), context);
}

Format eco_format() {
  return {.name = "eco",
          .summary = "A data set of ecotone with names and roles, mapped into memory; written by convert.",
          .endings = {".eco"},
          .looks_like = looks_like_eco,
          .read = read_eco_file,
          .read_for_model = read_eco_file_for_model,
          .mapped = true};
}

}  // namespace ecotone
