#include "cli/label_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/read.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

/// The last answer to each row of the files.
using AnswersByRow = std::map<Index, LabelEvent>;

AnswersByRow answers_by_row(const LabelStore& store) {
  AnswersByRow answers;
  for (LabelEvent& event : standing(store.events())) answers.insert_or_assign(event.row, std::move(event));
  return answers;
}

/// The text of an answer in a file that writes numbers in this style.
std::string label_text(const LabelEvent& event, Task task, NumberStyle numbers) {
  std::string text = event.label;
  if (task == Task::regress) std::ranges::replace(text, '.', numbers.decimal);
  return text;
}

/// The table of CSV files with the answers filled in and three further columns, which say how they came about.
class LabelledTable {
 public:
  LabelledTable(const LabelWork& work, const AnswersByRow& answers)
      : texts_(*work.texts),
        answers_(answers),
        task_(work.task.task()),
        label_(texts_.find(work.data.schema.label)),
        names_(texts_.names()) {
    for (std::size_t k = 0; k < std::size(further); ++k) {
      // A table that was labelled before has these columns; answers of now replace those of then.
      const auto found = std::ranges::find(names_, further[k]);
      place_[k] = static_cast<std::size_t>(found - names_.begin());
      if (found == names_.end()) names_.emplace_back(further[k]);
    }
  }

  void write(const std::filesystem::path& path, const Context& context) const {
    AtomicFile file(path);
    std::string header;
    for (const std::string& name : names_) {
      append_csv_field(header, name);
      header += texts_.delimiter();
    }
    header.back() = '\n';
    file.write(std::string_view(header));
    texts_.write([this](const TextRow& row, std::string& text) { append(row, text); },
                 [&](std::string_view text) { file.write(text); }, context);
    file.commit();
  }

 private:
  static constexpr const auto& further = labelling_columns;

  void append(const TextRow& row, std::string& text) const {
    std::vector<std::string> fields(row.fields.begin(), row.fields.end());
    fields.resize(names_.size());
    if (const auto found = answers_.find(row.row); found != answers_.end()) {
      const LabelEvent& event = found->second;
      if (event.kind == AnswerKind::label) fields[at(label_)] = label_text(event, task_, row.numbers);
      std::string probability;
      append_csv_value(probability, event.probability);
      std::ranges::replace(probability, '.', row.numbers.decimal);
      fields[place_[0]] = why_name(event.why);
      fields[place_[1]] = probability;
      fields[place_[2]] = answer_name(event.kind);
    }
    for (const std::string& field : fields) {
      append_csv_field(text, field, texts_.delimiter());
      text += texts_.delimiter();
    }
    text.back() = '\n';
  }

  const CsvTexts& texts_;
  const AnswersByRow& answers_;
  Task task_;
  Index label_;
  std::vector<std::string> names_;
  std::size_t place_[std::size(further)] = {};
};

void write_table(const LabelWork& work, const std::filesystem::path& path) {
  if (work.texts) return LabelledTable(work, answers_by_row(work.store)).write(path, work.context);
  Dataset labelled = work.data;
  labelled.y = work.desk.labels();
  write_csv(labelled, path, work.context);
}

void write_events(const LabelWork& work, const std::filesystem::path& path) {
  AtomicFile file(path);
  for (const LabelEvent& event : work.store.events())
    file.write(std::string_view(to_json(event).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'));
  file.commit();
}

/// Why there is no model, or empty.
std::string write_model(const LabelWork& work, const std::filesystem::path& path) {
  try {
    work.desk.final_model().save(path);
    return {};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option) throw;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return error.what();
    return fmt::format("{}; {} is of fewer labels", error.what(), path.string());
  }
}

}  // namespace

LabelOutputs write_label_outputs(const LabelWork& work) {
  LabelOutputs outputs;
  const auto path = [&](const char* name) { return work.folder / name; };
  write_table(work, path(table_name));
  write_events(work, path(events_name));
  outputs.files = {path(table_name).string(), path(events_name).string()};
  outputs.model_error = write_model(work, path(model_name));
  if (outputs.model_error.empty()) outputs.files.push_back(path(model_name).string());
  return outputs;
}

void tell_label_outputs(const LabelWork& work, const DeskProgress& progress, const LabelOutputs& outputs) {
  std::string text = outputs.stored ? fmt::format("stored    {}\n", counted(*outputs.stored, "answer")) : "";
  text += labelling_text(progress);
  for (const std::string& file : outputs.files) text += fmt::format("wrote     {}\n", file);
  if (!outputs.model_error.empty()) text += fmt::format("no model  {}\n", outputs.model_error);
  work.session.say(text);
  Json document = to_json(progress);
  if (outputs.stored) document["stored"] = *outputs.stored;
  document["folder"] = work.task.folder;
  document["files"] = outputs.files;
  if (!outputs.model_error.empty()) document["model_error"] = outputs.model_error;
  work.session.print(std::move(document));
}

}  // namespace ecotone::cli
