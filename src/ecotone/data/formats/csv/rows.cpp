#include "ecotone/data/formats/csv/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/date.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

/// Walks through the fields of a run of records. The text ends with a line end that was added, so that no step needs a
/// bounds check.
class Cursor {
 public:
  Cursor(const ByteSource& source, RowText run, const RowPlan& plan)
      : source_(source),
        plan_(plan),
        offset_(run.offset),
        begin_(run.text.data()),
        p_(run.text.data()),
        end_(run.text.data() + run.text.size() - csv_padding) {
    std::memset(run.text.data() + run.text.size() - csv_padding, 0, csv_padding);
    run.text[run.text.size() - csv_padding] = '\n';
  }

  /// Moves to the next record that is not blank.
  void start_record() {
    for (;;) {
      if (p_ >= end_) source_.changed();
      if (*p_ == '\n') {
        ++p_;
      } else if (*p_ == '\r' && p_[1] == '\n') {
        p_ += 2;
      } else {
        break;
      }
    }
    record_ = p_;
  }

  void restart() { p_ = record_; }

  std::size_t record_offset() const { return offset_ + static_cast<std::size_t>(record_ - begin_); }

  /// After field j: skips the delimiter, or the line end after the last field.
  void finish_field(std::size_t j) {
    const bool last = j + 1 == plan_.fields.size();
    if (*p_ == plan_.delimiter) {
      if (last) ragged();
      ++p_;
      return;
    }
    if (!last) ragged();
    p_ += *p_ == '\r' ? 2 : 1;
  }

  /// Reads a number, or NaN for a missing one; false for other text.
  bool number(double& value) {
    if (!plan_.numbers.plain()) return parse_value(trim(text()), plan_.numbers, value);
    const char* const stop = parse_decimal(p_, value);
    if (stop && ends_field(stop)) [[likely]] {
      p_ = stop;
      return true;
    }
    return parse_value(trim(text()), value);
  }

  /// The unquoted text of the field; valid until the next field.
  std::string_view text() {
    if (*p_ == '"') return quoted();
    const char* const begin = p_;
    skip_plain();
    return trim({begin, static_cast<std::size_t>(p_ - begin)});
  }

  void skip() {
    if (*p_ == '"') skip_quotes();
    skip_plain();
  }

  void skip_record() {
    for (std::size_t j = 0; j < plan_.fields.size(); ++j) {
      skip();
      finish_field(j);
    }
  }

  /// Reads a date as days, or NaN for a missing one; false for other text.
  bool date(SlashOrder slashes, double& value) {
    const std::string_view field = trim(text());
    value = std::numeric_limits<double>::quiet_NaN();
    return is_missing(field) || parse_date(field, slashes, value);
  }

  [[noreturn]] void bad_number(std::size_t j, std::string_view text) const {
    const bool date = plan_.fields[j].form.date;
    if (is_missing(text))
      data_error("missing_value", "{} line {}: no value in column '{}', which every row needs", source_.name(),
                 source_.line_at(record_offset()), plan_.names[j]);
    bool changed = false;
    double value = 0;
    data_error("bad_value", "{} line {}: column '{}' is '{}', expected a {}", source_.name(),
               source_.line_at(record_offset()), plan_.names[j], to_utf8(text.substr(0, 60), changed),
               date                        ? "date"
               : parse_number(text, value) ? "finite number"
                                           : "number");
  }

 private:
  bool ends_field(const char* p) const { return *p == plan_.delimiter || *p == '\n' || (*p == '\r' && p[1] == '\n'); }

  void skip_plain() {
    const char delimiter = plan_.delimiter;
    const char* p = p_;
    while (*p != delimiter && *p != '\n') ++p;
    if (*p == '\n' && p > p_ && p[-1] == '\r') --p;
    p_ = p;
  }

  /// From an opening quote to after the closing one.
  void skip_quotes() {
    for (++p_;;) {
      const auto* quote =
          p_ < end_ ? static_cast<const char*>(std::memchr(p_, '"', static_cast<std::size_t>(end_ - p_))) : nullptr;
      if (!quote) source_.changed();
      p_ = quote + 1;
      if (*p_ != '"') return;
      ++p_;
    }
  }

  std::string_view quoted() {
    const char* const begin = p_ + 1;
    skip_quotes();
    const std::string_view inside(begin, static_cast<std::size_t>(p_ - 1 - begin));
    const char* const rest = p_;
    skip_plain();
    if (p_ == rest && inside.find('"') == std::string_view::npos) return inside;
    buffer_.clear();
    for (std::size_t i = 0; i < inside.size(); ++i) {
      buffer_ += inside[i];
      if (inside[i] == '"') ++i;  // doubled
    }
    // Text after the closing quote belongs to the field.
    buffer_ += trim({rest, static_cast<std::size_t>(p_ - rest)});
    return buffer_;
  }

  [[noreturn]] void ragged() {
    p_ = record_;
    std::size_t fields = 1;
    for (;; ++fields) {
      skip();
      if (*p_ != plan_.delimiter) break;
      ++p_;
    }
    data_error("ragged_row", "{} line {}: {} fields, but the header has {}", source_.name(),
               source_.line_at(record_offset()), fields, plan_.fields.size());
  }

  const ByteSource& source_;
  const RowPlan& plan_;
  std::size_t offset_;
  const char* begin_;
  const char* p_;
  const char* end_;
  const char* record_ = nullptr;
  std::string buffer_;
};

/// The index of a level, or -1; text that is not UTF-8 is looked up in its converted form.
std::int32_t level_of(const LevelColumn& column, std::string_view text) {
  const auto found = column.index.find(text);
  if (found != column.index.end()) return found->second;
  bool changed = false;
  const std::string converted = to_utf8(text, changed);
  if (!changed) return -1;
  const auto again = column.index.find(converted);
  return again == column.index.end() ? -1 : again->second;
}

class RowReader {
 public:
  RowReader(const ByteSource& source, RowText run, const RowPlan& plan, const RowTarget& target)
      : cursor_(source, run, plan), plan_(plan), target_(target) {
    findings_.dictionaries.assign(static_cast<std::size_t>(plan.n_codes), Dictionary(plan.code_limit));
    findings_.unseen.assign(plan.levels.size(), 0);
  }

  RowFindings read(Index records, std::span<const char> keep) {
    for (Index record = 0; record < records; ++record) {
      cursor_.start_record();
      if (!keep.empty() && !keep[at(record)]) {
        cursor_.skip_record();
        continue;
      }
      if (target_.starts && (target_.first_row + row_) % target_.block_rows == 0)
        target_.starts->push_back({cursor_.record_offset(), record});
      read_record();
      ++row_;
    }
    return std::move(findings_);
  }

 private:
  void read_record() {
    double* const x = target_.x + row_ * target_.x_stride;
    const std::size_t n = plan_.fields.size();
    for (std::size_t j = 0; j < n; ++j) {
      const FieldPlan field = plan_.fields[j];
      switch (field.use) {
        case FieldUse::skip:
          cursor_.skip();
          break;
        case FieldUse::feature:
          number(j, x[field.slot]);
          break;
        case FieldUse::number:
          number(j, target_.numbers[at(field.slot)][row_]);
          break;
        case FieldUse::level:
          level(static_cast<std::size_t>(field.slot), x);
          break;
        case FieldUse::code:
          code(static_cast<std::size_t>(field.slot));
          break;
      }
      cursor_.finish_field(j);
    }
  }

  void number(std::size_t j, double& value) {
    const FieldPlan& field = plan_.fields[j];
    if (field.form.date ? cursor_.date(field.form.slashes, value) : cursor_.number(value)) [[likely]] {
      if (field.required && !std::isfinite(value)) report(j);
      return;
    }
    if (field.strict) report(j);
    value = std::numeric_limits<double>::quiet_NaN();
    if (findings_.not_number.empty()) findings_.not_number.assign(plan_.fields.size(), 0);
    findings_.not_number[j] = 1;
  }

  /// The field has already been passed: find its text again.
  [[noreturn]] void report(std::size_t j) {
    cursor_.restart();
    for (std::size_t i = 0; i < j; ++i) {
      cursor_.skip();
      cursor_.finish_field(i);
    }
    cursor_.bad_number(j, cursor_.text());
  }

  void level(std::size_t slot, double* x) {
    const LevelColumn& column = plan_.levels[slot];
    const std::string_view text = cursor_.text();
    std::fill_n(x + column.first, column.width, column.coded ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    if (is_missing(text)) return;
    const std::int32_t found = level_of(column, text);
    if (found < 0) {
      ++findings_.unseen[slot];
    } else if (column.coded) {
      x[column.first] = found;
    } else {
      x[column.first + found] = 1.0;
    }
  }

  void code(std::size_t slot) {
    const std::string_view text = cursor_.text();
    const std::int32_t number = is_missing(text) ? -1 : findings_.dictionaries[slot].code(text);
    if (target_.codes[slot]) target_.codes[slot][row_] = number;
  }

  Cursor cursor_;
  const RowPlan& plan_;
  const RowTarget& target_;
  RowFindings findings_;
  Index row_ = 0;
};

}  // namespace

RowFindings parse_rows(const ByteSource& source, RowText run, Index records, std::span<const char> keep,
                       const RowPlan& plan, const RowTarget& target) {
  return RowReader(source, run, plan, target).read(records, keep);
}

void visit_rows(const ByteSource& source, RowText run, Index records, std::span<const char> keep, const RowPlan& plan,
                const std::vector<Index>& columns, const RecordUse& use) {
  Cursor cursor(source, run, plan);
  // Position of each column among the wanted ones, or -1.
  std::vector<std::vector<std::size_t>> wanted(plan.fields.size());
  for (std::size_t c = 0; c < columns.size(); ++c) wanted[at(columns[c])].push_back(c);
  std::vector<std::string> texts(columns.size());
  for (Index record = 0; record < records; ++record) {
    cursor.start_record();
    if (!keep.empty() && !keep[at(record)]) {
      cursor.skip_record();
      continue;
    }
    for (std::size_t j = 0; j < plan.fields.size(); ++j) {
      if (wanted[j].empty()) {
        cursor.skip();
      } else {
        const std::string_view text = cursor.text();
        for (const std::size_t c : wanted[j]) texts[c] = text;
      }
      cursor.finish_field(j);
    }
    use(record, texts);
  }
}

std::size_t record_start(const ByteSource& source, RowText run, Index record, const RowPlan& plan) {
  Cursor cursor(source, run, plan);
  cursor.start_record();
  for (Index i = 0; i < record; ++i) {
    cursor.skip_record();
    cursor.start_record();
  }
  return cursor.record_offset();
}

std::vector<std::string> split_record(std::string_view record, char delimiter) {
  std::vector<std::string> fields;
  std::size_t i = 0;
  for (;;) {
    std::string field;
    if (i < record.size() && record[i] == '"') {
      for (++i; i < record.size(); ++i) {
        if (record[i] == '"' && (i + 1 >= record.size() || record[i + 1] != '"')) break;
        if (record[i] == '"') ++i;
        field += record[i];
      }
      i = std::min(i + 1, record.size());
    }
    const std::size_t end = std::min(record.find(delimiter, i), record.size());
    field += trim(record.substr(i, end - i));
    fields.push_back(std::move(field));
    if (end == record.size()) return fields;
    i = end + 1;
  }
}

}  // namespace ecotone
