#include "ecotone/data/formats/csv/table.h"

#include <algorithm>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/formats/roles.h"

namespace ecotone {

namespace {

constexpr std::size_t longest_header = std::size_t{1} << 28;

bool is_delimiter(char c) { return c == ',' || c == ';' || c == '\t'; }

/// Calls outside(i) for every byte from `begin` on that is not inside quotes, until it returns stop.
template <class Outside>
void visit_unquoted(std::string_view text, std::size_t begin, Outside&& outside) {
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] != '"') continue;
      if (i + 1 < text.size() && text[i + 1] == '"') {
        ++i;
      } else {
        quoted = false;
      }
    } else if (text[i] == '"' && (i == begin || is_delimiter(text[i - 1]))) {
      quoted = true;
    } else if (outside(i)) {
      return;
    }
  }
}

/// The end of the header line, or npos if the text is too short to tell.
std::size_t record_end(std::string_view text, std::size_t begin) {
  std::size_t end = std::string::npos;
  visit_unquoted(text, begin, [&](std::size_t i) {
    if (text[i] == '\n') end = i;
    return text[i] == '\n';
  });
  return end;
}

char detect_delimiter(const ByteSource& source, std::string_view header) {
  std::string name = source.name();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (name.ends_with(".tsv") || name.ends_with(".tab")) return '\t';
  std::string plain;
  visit_unquoted(header, 0, [&](std::size_t i) {
    plain += header[i];
    return false;
  });
  for (const char delimiter : {',', ';', '\t'})
    if (plain.find(delimiter) != std::string::npos) return delimiter;
  return ',';
}

void check_names(const CsvFile& file) {
  TextMap<std::size_t> seen;
  for (std::size_t j = 0; j < file.names.size(); ++j) {
    const std::string& name = file.names[j];
    if (name.empty())
      data_error("empty_column_name", "{}: column {} of the header has no name", file.source.name(), j + 1);
    const auto [other, fresh] = seen.emplace(name, j);
    if (!fresh)
      data_error("duplicate_column", "{}: column '{}' occurs twice in the header, as columns {} and {}",
                 file.source.name(), name, other->second + 1, j + 1);
  }
}

/// How to run a text through a command: "tr a b < 'x.csv' > 'x-unix.csv'".
std::string filtered_by(const ByteSource& source, std::string_view command, std::string_view suffix) {
  if (is_standard_input(source)) return fmt::format("pipe it through {}", command);
  const std::string name = shell_word(source.name());
  const std::string into = shell_word(fmt::format("{}-{}.csv", source.stem(), suffix));
  if (source.name().ends_with(".gz")) return fmt::format("gzip -dc {} | {} > {}", name, command, into);
  return fmt::format("{} < {} > {}", command, name, into);
}

/// Refuses UTF-16, which spreadsheets call Unicode text: with its byte order mark, or with a zero in every second byte
/// of the beginning.
void refuse_utf16(const ByteSource& source, std::string_view text) {
  const std::string_view start = text.substr(0, 32);
  const auto zeros = [&](std::size_t parity) {
    for (std::size_t i = 0; i < start.size(); ++i)
      if ((start[i] == '\0') != (i % 2 == parity)) return false;
    return start.size() >= 4;
  };
  const bool little = zeros(1);
  const bool big = zeros(0);
  if (!start.starts_with("\xFF\xFE") && !start.starts_with("\xFE\xFF") && !little && !big) return;
  const std::string command = fmt::format("iconv -f UTF-16{} -t UTF-8", little ? "LE" : big ? "BE" : "");
  data_error("utf16", "{} is UTF-16 text, which is not read here; save it as UTF-8: {}", source.name(),
             filtered_by(source, command, "utf8"));
}

/// Refuses lines that end as on old Macintosh computers, given all of a file that would be its header.
void refuse_lone_returns(const ByteSource& source, std::string_view header) {
  visit_unquoted(header, 0, [&](std::size_t i) {
    if (header[i] != '\r' || header.find_first_not_of('\r', i) == std::string_view::npos) return false;
    data_error("line_ends",
               "{}: lines end with a carriage return alone, as on old Macintosh computers; save it with the line ends "
               "of Unix or Windows: {}",
               source.name(), filtered_by(source, "tr '\\r' '\\n'", "lines"));
  });
}

/// The separator that a first line `sep=;` of a spreadsheet announces.
std::optional<char> announced_delimiter(const ByteSource& source, std::string_view line) {
  if (line.size() != 5 || (!line.starts_with("sep=") && !line.starts_with("SEP="))) return std::nullopt;
  if (!is_delimiter(line.back()))
    data_error("bad_header", "{}: the first line says {}, but columns are separated by comma, semicolon or tab",
               source.name(), line);
  return line.back();
}

/// A line of column names, without its end.
struct HeaderLine {
  std::string text;
  std::size_t next = 0;  ///< the first byte after it
};

/// The first line from a byte on that is not blank.
HeaderLine header_line(const ByteSource& source, std::size_t from) {
  const std::size_t size = source.size() - from;
  std::string text;
  std::size_t begin = 0;
  std::size_t end = std::string::npos;
  for (std::size_t length = 1U << 16; end == std::string::npos; length *= 4) {
    if (length > longest_header)
      data_error("bad_header", "{}: the first line does not end within {} bytes", source.name(), longest_header);
    text = source.text(from, std::min(length, size));
    if (from == 0) refuse_utf16(source, text);
    begin = from == 0 && text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    begin = std::min(text.find_first_not_of("\r\n", begin), text.size());
    end = record_end(text, begin);
    if (text.size() == size) end = std::min(end, size);
    if (end == std::string::npos) refuse_lone_returns(source, std::string_view(text).substr(begin));
  }
  if (begin == end) data_error("empty_data", "{} is empty", source.name());
  const std::size_t next = from + std::min(end + 1, size);
  if (end > begin && text[end - 1] == '\r') --end;
  text = text.substr(begin, end - begin);
  if (next == source.size()) refuse_lone_returns(source, text);
  return {std::move(text), next};
}

CsvFile open_file(ByteSource source, const Context& context) {
  CsvFile file{std::move(source), ',', {}, {}, 0, {}};
  const std::size_t size = file.source.size();
  if (size == 0) data_error("empty_data", "{} is empty", file.source.name());
  HeaderLine line = header_line(file.source, 0);
  const std::optional<char> announced = announced_delimiter(file.source, line.text);
  if (announced && line.next < size) line = header_line(file.source, line.next);
  file.data_begin = line.next;
  const std::string& header = line.text;
  file.delimiter = announced ? *announced : detect_delimiter(file.source, header);
  bool converted = false;
  for (const std::string& name : split_record(header, file.delimiter)) file.names.push_back(to_utf8(name, converted));
  if (converted)
    context.warn("not_utf8", "{}: column names are not UTF-8; they were read as Latin-1", file.source.name());
  check_names(file);
  return file;
}

}  // namespace

CsvTable CsvTable::open(std::vector<ByteSource> sources, const Context& context) {
  CsvTable table;
  for (ByteSource& source : sources) table.files_.push_back(open_file(std::move(source), context));
  table.names_ = table.files_.front().names;
  TextMap<Index> place;
  for (std::size_t j = 0; j < table.names_.size(); ++j) place.emplace(table.names_[j], static_cast<Index>(j));
  for (CsvFile& file : table.files_) {
    for (const std::string& name : file.names) {
      const auto found = place.find(name);
      file.column.push_back(found == place.end() ? -1 : found->second);
    }
  }
  return table;
}

void CsvTable::require_columns(const std::vector<Index>& columns) const {
  for (const CsvFile& file : files_) {
    std::vector<char> has(names_.size(), 0);
    for (const Index column : file.column)
      if (column >= 0) has[at(column)] = 1;
    for (const Index column : columns) {
      if (has[at(column)]) continue;
      data_error("missing_column", "{}: no column '{}', which {} has", file.source.name(), names_[at(column)],
                 origin());
    }
  }
}

void CsvTable::refuse_further_columns(const std::vector<std::string>& ignored) const {
  for (const CsvFile& file : files_) {
    for (std::size_t j = 0; j < file.names.size(); ++j) {
      if (file.column[j] >= 0 || std::ranges::find(ignored, file.names[j]) != ignored.end()) continue;
      data_error("missing_column", "{}: no column '{}', which {} has", origin(), file.names[j], file.source.name());
    }
  }
}

void CsvTable::find_records(std::size_t segment_bytes, const Context& context) {
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const CsvLayout layout =
        scan_csv(files_[f].source, files_[f].data_begin, files_[f].delimiter, segment_bytes, context);
    for (const CsvChunk& chunk : layout.chunks) tasks_.push_back({f, chunk, 0, chunk.rows});
  }
  if (tasks_.empty()) data_error("empty_data", "{}: a header but no data rows", origin());
}

void CsvTable::keep_where(const std::vector<std::string>& where, const Context& context) {
  const std::vector<Condition> conditions = parse_conditions(where, names_, origin());
  if (!conditions.empty()) filter(conditions, context);
  for (CsvTask& task : tasks_) {
    task.first_kept = rows_;
    rows_ += task.kept;
    dropped_ += task.chunk.rows - task.kept;
  }
  if (rows_ == 0) data_error("empty_data", "{}: no row satisfies where", origin());
}

void CsvTable::filter(const std::vector<Condition>& conditions, const Context& context) {
  std::vector<Index> columns;
  for (const Condition& condition : conditions) columns.push_back(condition.column());
  require_columns(columns);
  std::vector<std::vector<char>> keep;
  for (const CsvTask& task : tasks_) keep.emplace_back(static_cast<std::size_t>(task.chunk.rows), 1);
  visit(
      columns,
      [&](std::size_t task, Index record, std::span<const std::string> texts) {
        for (std::size_t c = 0; c < texts.size(); ++c)
          if (!conditions[c].holds(texts[c], files_[tasks_[task].file].numbers)) keep[task][at(record)] = 0;
      },
      context);
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    tasks_[t].kept = std::ranges::count(keep[t], 1);
    tasks_[t].keep = std::move(keep[t]);
  }
}

std::vector<RowPlan> CsvTable::plain_plans() const { return plans(std::vector<FieldPlan>(names_.size()), {}); }

void CsvTable::visit_task(std::size_t t, const std::vector<RowPlan>& plans, const std::vector<Index>& columns,
                          const Visit& use) const {
  const CsvTask& task = tasks_[t];
  std::vector<Index> positions;
  for (const Index column : columns) positions.push_back(static_cast<Index>(position(task.file, column)));
  with_text(task.file, task.chunk.begin, task.chunk.end, [&](RowText run) {
    visit_rows(files_[task.file].source, run, task.chunk.rows, task.keep, plans[task.file], positions,
               [&](Index record, std::span<const std::string> texts) { use(t, record, texts); });
  });
}

void CsvTable::visit(const std::vector<Index>& columns, const Visit& use, const Context& context) const {
  const std::vector<RowPlan> plain = plain_plans();
  context.parallel(static_cast<Index>(tasks_.size()), [&](Index t) { visit_task(at(t), plain, columns, use); });
}

void CsvTable::visit_task(std::size_t task, const std::vector<Index>& columns, const Visit& use) const {
  visit_task(task, plain_plans(), columns, use);
}

std::size_t CsvTable::visit_leniently(const std::vector<Index>& columns, std::size_t tasks, const Visit& use,
                                      const Context& context) const {
  const std::vector<RowPlan> plain = plain_plans();
  std::vector<char> ragged(tasks, 0);
  context.parallel(static_cast<Index>(tasks), [&](Index t) {
    try {
      visit_task(at(t), plain, columns, use);
    } catch (const Error& error) {
      if (error.code() != "ragged_row") throw;
      ragged[at(t)] = 1;
    }
  });
  const auto first = std::ranges::find(ragged, 1);
  return first == ragged.end() ? tasks : static_cast<std::size_t>(first - ragged.begin()) + 1;
}

std::vector<Index> CsvTable::origin_rows() const {
  std::vector<Index> rows;
  Index record = 0;
  for (const CsvTask& task : tasks_) {
    if (!task.keep.empty())
      for (Index i = 0; i < task.chunk.rows; ++i)
        if (task.keep[at(i)]) rows.push_back(record + i);
    record += task.chunk.rows;
  }
  if (static_cast<Index>(rows.size()) == record) rows.clear();
  return rows;
}

std::vector<RowPlan> CsvTable::plans(const std::vector<FieldPlan>& by_column, const RowPlan& common) const {
  std::vector<RowPlan> result;
  for (const CsvFile& file : files_) {
    RowPlan plan = common;
    plan.delimiter = file.delimiter;
    plan.numbers = file.numbers;
    plan.names = file.names;
    for (const Index column : file.column) plan.fields.push_back(column < 0 ? FieldPlan{} : by_column[at(column)]);
    result.push_back(std::move(plan));
  }
  return result;
}

std::size_t CsvTable::position(std::size_t file, Index column) const {
  const std::vector<Index>& columns = files_[file].column;
  return static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
}

Index CsvTable::line_of(std::size_t t, Index record) const {
  const CsvTask& task = tasks_[t];
  const ByteSource& source = files_[task.file].source;
  std::size_t start = 0;
  with_text(task.file, task.chunk.begin, task.chunk.end,
            [&](RowText run) { start = record_start(source, run, record, plain_plans()[task.file]); });
  return source.line_at(start);
}

void CsvTable::with_text(std::size_t file, std::size_t begin, std::size_t end,
                         const std::function<void(RowText)>& body) const {
  const auto loan = pool_->borrow();
  const std::span<char> buffer = room_in(*loan, end - begin + csv_padding);
  files_[file].source.read(begin, buffer.first(end - begin));
  body({buffer, begin});
}

}  // namespace ecotone
