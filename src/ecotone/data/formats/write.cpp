#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/files/tensor_file.h"
#include "ecotone/base/json.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/formats/date.h"
#include "ecotone/data/formats/dictionary.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/ordered.h"
#include "ecotone/data/read.h"
#include "ecotone/data/storage/pair_storage.h"

namespace ecotone {

namespace {

/// The schema that describes the features as they are: that of the data set, or one numeric column per feature if it
/// does not fit (derived features).
Schema fitting_schema(const Dataset& data) {
  Schema schema = data.schema;
  const std::vector<std::string> names = data.x.names();
  if (schema.feature_names() == names) return schema;
  schema.columns.clear();
  for (const std::string& name : names) schema.columns.push_back({name, ColumnKind::numeric, {}});
  return schema;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void add_dense(TensorWriter& writer, const Features& x, const Context& context) {
  writer.add_stream("x", DType::f64, {x.rows(), x.cols()}, [&x, &context](const TensorWriter::Sink& sink) {
    const auto copy_block = [&](Index b, std::string& bytes) {
      Scratch scratch;
      const RowBlock block = x.block(b, scratch);
      const std::size_t row_bytes = static_cast<std::size_t>(x.cols()) * sizeof(double);
      bytes.resize(static_cast<std::size_t>(block.x.rows()) * row_bytes);
      for (Index i = 0; i < block.x.rows() && row_bytes > 0; ++i)
        std::memcpy(bytes.data() + static_cast<std::size_t>(i) * row_bytes, block.x.data() + i * block.x.outerStride(),
                    row_bytes);
    };
    in_order(x.blocks(), context, copy_block, [&](std::string_view bytes) { sink(std::as_bytes(std::span(bytes))); });
  });
}

template <class Number>
void add_numbers(TensorWriter& writer, const char* name, const std::vector<Number>& numbers) {
  writer.add(name, std::vector<std::int64_t>(numbers.begin(), numbers.end()), {static_cast<Index>(numbers.size())});
}

void add_sparse(TensorWriter& writer, const Csr& x) {
  const auto count = static_cast<Index>(x.value.size());
  writer.add("x.row_start", std::vector<std::int64_t>(x.row_start.begin(), x.row_start.end()), {x.rows + 1});
  writer.add_stream("x.column", DType::i32, {count},
                    [&x](const TensorWriter::Sink& sink) { sink(std::as_bytes(std::span(x.column))); });
  writer.add_stream("x.value", DType::f64, {count},
                    [&x](const TensorWriter::Sink& sink) { sink(std::as_bytes(std::span(x.value))); });
}

/// Formats the rows of a data set.
class CsvWriter {
 public:
  explicit CsvWriter(const Dataset& data) : data_(data), schema_(fitting_schema(data)) {
    Dictionary names;
    for (const Column& column : schema_.columns) names.code(column.name);
    const auto unused = [&](std::string name) {
      while (std::ranges::find(names.words(), name) != names.words().end()) name += '_';
      names.code(name);
      return name;
    };
    if (!data.group.empty()) group_ = unused(schema_.group.empty() ? "group" : schema_.group);
    if (data.time.size() > 0) time_ = unused(schema_.time.empty() ? "time" : schema_.time);
    if (!schema_.domain.empty() || data.domain.count() > 1)
      domain_ = unused(schema_.domain.empty() ? "domain" : schema_.domain);
    if (data.weight.size() > 0) weight_ = unused(schema_.weight.empty() ? "weight" : schema_.weight);
    if (data.y) label_ = unused(schema_.label.empty() ? "label" : schema_.label);
    std::size_t columns = schema_.columns.size();
    for (const std::string& other : {group_, time_, domain_, weight_, label_}) columns += other.empty() ? 0 : 1;
    // An empty line would not be a row.
    if (columns == 1) missing_ = "NA";
  }

  std::string header() const {
    std::string line;
    if (!group_.empty()) field(line, group_);
    if (!time_.empty()) field(line, time_);
    if (!domain_.empty()) field(line, domain_);
    for (const Column& column : schema_.columns) field(line, column.name);
    if (!weight_.empty()) field(line, weight_);
    if (!label_.empty()) field(line, label_);
    end_line(line);
    return line;
  }

  void rows(const RowBlock& block, std::string& out) const {
    for (Index i = 0; i < block.x.rows(); ++i) row(block, i, out);
  }

 private:
  void field(std::string& line, std::string_view text) const {
    append_csv_field(line, text.empty() ? std::string_view(missing_) : text);
    line += ',';
  }

  void field(std::string& line, double value) const {
    if (std::isnan(value)) {
      line += missing_;
    } else {
      append_number(line, value);
    }
    line += ',';
  }

  static void end_line(std::string& line) {
    if (line.empty() || line.back() != ',') line += ',';
    line.back() = '\n';
  }

  void row(const RowBlock& block, Index i, std::string& out) const {
    const auto n = static_cast<std::size_t>(block.first + i);
    if (!group_.empty()) group(data_.group[n], out);
    if (!time_.empty()) number(data_.time[block.first + i], schema_.time_is_date, out);
    if (!domain_.empty()) field(out, data_.domain.names[at(data_.domain.index[n])]);
    Index j = 0;
    for (const Column& column : schema_.columns) {
      if (column.coded) {
        field(out, level_text(column.levels, block.x(i, j++)));
        continue;
      }
      if (!column.one_hot()) {
        number(block.x(i, j++), column.kind == ColumnKind::date, out);
        continue;
      }
      const auto count = static_cast<Index>(column.levels.size());
      Index level = 0;
      while (level < count && !(block.x(i, j + level) > 0.5)) ++level;
      field(out, level < count ? std::string_view(column.levels[at(level)]) : std::string_view());
      j += count;
    }
    if (!weight_.empty()) field(out, data_.weight[block.first + i]);
    if (!label_.empty()) label(n, out);
    out.back() = '\n';
  }

  void group(std::int32_t number, std::string& out) const {
    field(out, number < 0 ? std::string_view() : std::string_view(std::to_string(number)));
  }

  void number(double value, bool date, std::string& out) const {
    if (date && is_date(value)) return field(out, date_text(value));
    field(out, value);
  }

  void label(std::size_t n, std::string& out) const {
    const Labels& y = *data_.y;
    if (y.task == Task::regress) return field(out, y.value[static_cast<Index>(n)]);
    field(out, y.index[n] < 0 ? std::string_view() : std::string_view(y.classes[at(y.index[n])]));
  }

  const Dataset& data_;
  Schema schema_;
  std::string group_;
  std::string time_;
  std::string domain_;
  std::string weight_;
  std::string label_;
  std::string missing_;
};

}  // namespace

void write_eco(const Dataset& data, const std::filesystem::path& path, const Context& context) {
  TensorWriter writer;
  writer.set_meta("format", "ecotone-data");
  const auto* pairs = dynamic_cast<const PairStorage*>(&data.x.storage());
  const Schema schema = fitting_schema(data);
  // Programs that do not know pairs, or codes, must not mistake the rows for them.
  writer.set_meta("format_version", schema.has_codes() ? "3" : pairs || !data.domain.partner.empty() ? "2" : "1");
  writer.set_meta("schema", dump(schema.to_json()));
  writer.set_meta("domains", dump(Json(data.domain.names)));
  Json roles = Json::array();
  for (std::size_t d = 0; d < data.domain.names.size(); ++d)
    roles.push_back(role_name(d < data.role.size() ? data.role[d] : Role::source));
  writer.set_meta("roles", dump(roles));
  const Features rows = pairs ? data.x.with_storage(pairs->base()) : data.x;
  if (const Csr* csr = rows.storage().csr()) {
    add_sparse(writer, *csr);
  } else {
    add_dense(writer, rows, context);
  }
  if (pairs) {
    add_numbers(writer, "pair.first", pairs->pairs().first);
    add_numbers(writer, "pair.second", pairs->pairs().second);
  }
  if (!data.domain.partner.empty()) add_numbers(writer, "partner", data.domain.partner);
  add_numbers(writer, "domain", data.domain.index);
  if (data.weight.size() > 0)
    writer.add("weight", std::vector<double>(data.weight.begin(), data.weight.end()), {data.rows()});
  if (!data.group.empty()) add_numbers(writer, "group", data.group);
  if (data.time.size() > 0) writer.add("time", std::vector<double>(data.time.begin(), data.time.end()), {data.rows()});
  if (data.y) {
    writer.set_meta("task", std::string(task_name(data.y->task)));
    if (data.y->task == Task::classify) {
      writer.set_meta("classes", dump(Json(data.y->classes)));
      add_numbers(writer, "label", data.y->index);
    } else {
      writer.add("label", std::vector<double>(data.y->value.begin(), data.y->value.end()), {data.rows()});
    }
  }
  writer.write(path);
}

void write_csv(const Dataset& data, const std::filesystem::path& path, const Context& context) {
  const CsvWriter writer(data);
  AtomicFile file(path);
  file.write(std::string_view(writer.header()));
  const auto format_block = [&](Index b, std::string& text) {
    Scratch scratch;
    writer.rows(data.x.block(b, scratch), text);
  };
  in_order(data.x.blocks(), context, format_block, [&](std::string_view text) { file.write(text); });
  file.commit();
}

}  // namespace ecotone
