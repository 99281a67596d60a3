#include "cli/label_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "cli/output.h"
#include "cli/random_text.h"
#include "ecotone/base/error.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/formats/csv/table.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

constexpr const char* round_name = "round";  // in the journal: the rows of the last round

/// The table of a round: what stands in each column and what it is called.
class RoundTable {
 public:
  RoundTable(const LabelWork& work, std::vector<Question> questions) : work_(work), questions_(std::move(questions)) {
    if (!work.task.ids.empty())
      add("id", [&](const Question& q) { return LabelTask::text_of(work.task.ids, q.origin); });
    const std::string& domain = work.data.schema.domain;
    add(domain.empty() ? "domain" : domain, [](const Question& q) { return q.domain; });
    if (work.texts) {
      add_texts();
    } else {
      for (const Column& column : work.data.schema.columns)
        add(column.name, [name = column.name](const Question& q) {
          const auto field = std::ranges::find(q.fields, name, &FieldFact::name);
          return field == q.fields.end() ? std::string() : field->value;
        });
    }
  }

  std::string text() const {
    std::string text = "row";
    for (const auto& [name, value] : columns_) text += ',' + csv_field(name);
    text += ",answer\n";
    for (const Question& question : questions_) {
      text += std::to_string(question.origin + 1);
      for (const auto& [name, value] : columns_) {
        text += ',';
        append_csv_field(text, value(question));
      }
      text += ",\n";
    }
    return text;
  }

 private:
  using Value = std::function<std::string(const Question&)>;

  /// A column; names that are taken get a line below.
  void add(std::string name, Value value) {
    while (!names_.insert(name).second) name += '_';
    columns_.emplace_back(std::move(name), std::move(value));
  }

  void add_texts() {
    std::vector<Index> rows;
    for (const Question& question : questions_) rows.push_back(question.origin);
    std::ranges::sort(rows);
    fields_ = work_.texts->fields(rows, work_.context);
    rows_ = std::move(rows);
    std::set<std::string> features;
    for (const Column& column : work_.data.schema.columns) features.insert(column.name);
    const std::vector<std::string>& names = work_.texts->names();
    for (std::size_t j = 0; j < names.size(); ++j)
      if (features.contains(names[j]))
        add(names[j], [this, j](const Question& question) {
          return fields_[at(std::ranges::lower_bound(rows_, question.origin) - rows_.begin())][j];
        });
  }

  const LabelWork& work_;
  std::vector<Question> questions_;
  std::set<std::string> names_ = {"row", "answer"};
  std::vector<std::pair<std::string, Value>> columns_;
  std::vector<Index> rows_;
  std::vector<std::vector<std::string>> fields_;
};

/// One answer of a spreadsheet and where it stands.
struct GivenAnswer {
  Answer answer;
  Index line = 0;
};

/// The answers of a file, checked by themselves; empty ones are left out.
class AnswersFile {
 public:
  AnswersFile(const std::string& path, const LabelWork& work)
      : path_(path), work_(work), table_(CsvTable::open({ByteSource::open(path, work.context)}, work.context)) {
    table_.find_records(CsvTuning{}.segment_bytes, work.context);
    table_.keep_where({}, work.context);
  }

  std::vector<GivenAnswer> read() {
    std::set<Index> seen;
    std::vector<GivenAnswer> answers;
    for (std::size_t task = 0; task < table_.tasks().size(); ++task)
      table_.visit_task(task, {column("row"), column("answer")},
                        [&](std::size_t t, Index record, std::span<const std::string> texts) {
                          const std::string text(trim(texts[1]));
                          if (text.empty()) return;
                          const auto line = [&] { return table_.line_of(t, record); };
                          const Index row = row_of(texts[0], line);
                          if (!seen.insert(row).second)
                            data_error("repeated_row", "{}: line {}: row {} was answered above", path_, line(),
                                       row + 1);
                          answers.push_back({answer_of(row, text, line), line()});
                        });
    return answers;
  }

 private:
  Index column(const std::string& name) const {
    const auto found = std::ranges::find(table_.names(), name);
    if (found == table_.names().end())
      data_error("missing_column", "{}: no column '{}'; write a file to fill in with --queries", path_, name);
    return found - table_.names().begin();
  }

  template <class Line>
  Index row_of(std::string_view text, const Line& line) const {
    text = trim(text);
    Index row = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row);
    if (error != std::errc{} || end != text.data() + text.size() || row < 1)
      data_error("bad_row", "{}: line {}: '{}' is no row number", path_, line(), text);
    return row - 1;
  }

  template <class Line>
  Answer answer_of(Index row, const std::string& text, const Line& line) const {
    Answer answer{Desk::spreadsheet, random_text(), row, AnswerKind::label, {}};
    const std::vector<std::string>& classes = work_.task.classes;
    double value = 0;
    if (std::ranges::find(classes, text) != classes.end()) {
      answer.label = text;
    } else if (const std::string word = lower_case(text); word == "unsure" || word == "skip") {
      answer.kind = word == "unsure" ? AnswerKind::unsure : AnswerKind::skip;
    } else if (work_.task.task() == Task::classify) {
      data_error("bad_label", "{}: line {}: '{}' is neither unsure, skip nor one of the classes {}", path_, line(),
                 text, fmt::join(classes, ", "));
    } else if (parse_number(text, value) && std::abs(value) <= largest_label) {
      answer.label = number_text(value);
    } else {
      data_error("bad_label", "{}: line {}: '{}' is neither a number, unsure nor skip", path_, line(), text);
    }
    return answer;
  }

  std::string path_;
  const LabelWork& work_;
  CsvTable table_;
};

std::set<Index> rows_of_round(const LabelStore& store) {
  std::set<Index> rows;
  const Json kept = Json::parse(store.kept(round_name).value_or("[]"), nullptr, false);
  for (const Json& row : kept)
    if (row.is_number_integer()) rows.insert(row.get<Index>());
  return rows;
}

bool same_answer(const LabelEvent& event, const Answer& answer) {
  return event.kind == answer.kind && (event.kind != AnswerKind::label || event.label == answer.label);
}

/// The answers that are not stored yet; refuses those to rows of no round and second thoughts.
std::vector<GivenAnswer> new_answers(const LabelWork& work, const std::string& path, std::vector<GivenAnswer> given) {
  const std::set<Index> asked = rows_of_round(work.store);
  std::map<Index, LabelEvent> stored;
  for (LabelEvent& event : standing(work.store.events())) stored.insert_or_assign(event.row, std::move(event));
  std::vector<GivenAnswer> fresh;
  for (GivenAnswer& one : given) {
    const Index row = one.answer.origin;
    if (const auto found = stored.find(row); found != stored.end()) {
      if (same_answer(found->second, one.answer)) continue;
      const LabelEvent& event = found->second;
      data_error("answered", "{}: line {}: row {} has been answered already, with {}", path, one.line, row + 1,
                 event.kind == AnswerKind::label ? event.label : std::string(answer_name(event.kind)));
    }
    if (!asked.contains(row))
      data_error("not_asked", "{}: line {}: row {} is in no file that --queries wrote for this folder", path, one.line,
                 row + 1);
    fresh.push_back(std::move(one));
  }
  return fresh;
}

}  // namespace

void write_queries(const LabelWork& work, const std::string& path, Index count) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0)
    file_error("file_exists", "{} is there already and may hold answers; read it with --answers, or name another file",
               path);
  const DeskProgress progress = work.desk.progress();
  if (progress.labels >= progress.budget)
    data_error("budget_spent", "label: all {} labels of the budget are given; raise it with --budget", progress.budget);
  std::vector<Question> questions = work.desk.round(std::min(count, progress.budget - progress.labels));
  if (questions.empty()) data_error("empty_data", "label: no row is left to ask");
  // Rows of earlier rounds may still be answered.
  std::set<Index> rows = rows_of_round(work.store);
  for (const Question& question : questions) rows.insert(question.origin);
  work.store.keep(round_name, Json(rows).dump());
  const auto written = static_cast<Index>(questions.size());
  const RoundTable table(work, std::move(questions));
  Output output(path);
  output.write(table.text());
  output.commit();
  work.session.say(fmt::format("wrote {}: {}; fill in the column answer and read it with --answers\n", path,
                               counted(written, "question")));
  work.session.print({{"queries", path}, {"questions", written}, {"folder", work.task.folder}});
}

Index store_answers(const LabelWork& work, const std::string& path) {
  work.desk.catch_up();  // so that what the answers change can be told
  const std::vector<GivenAnswer> answers = new_answers(work, path, AnswersFile(path, work).read());
  for (const GivenAnswer& given : answers) work.desk.answer(given.answer);
  return static_cast<Index>(answers.size());
}

}  // namespace ecotone::cli
