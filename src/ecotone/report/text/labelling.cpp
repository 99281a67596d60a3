#include "ecotone/report/json/labelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/label/desk.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"

namespace ecotone {

namespace {

constexpr std::size_t fields_shown = 12;
constexpr std::size_t cells_shown = 5;  // of a neighbour
constexpr std::size_t bars_shown = 12;  // of a histogram
constexpr Index value_width = 18;

/// Sums of neighbouring bins, so that at most `bars_shown` are left.
std::vector<double> fewer_bins(const std::vector<double>& shares, std::size_t together) {
  std::vector<double> sums((shares.size() + together - 1) / together);
  for (std::size_t b = 0; b < shares.size(); ++b) sums[b / together] += shares[b];
  return sums;
}

/// "▁▂▅[█]▃▁ ": one character a bin, the bin of this row in brackets.
std::string tiny_histogram(const FieldFact& field) {
  constexpr const char* bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t together = (field.in_domain.size() + bars_shown - 1) / bars_shown;
  const std::vector<double> shares = fewer_bins(field.in_domain, together);
  const double most = *std::ranges::max_element(shares);
  std::string text;
  for (std::size_t b = 0; b < shares.size(); ++b) {
    const auto height = most > 0 ? static_cast<std::size_t>(std::ceil(8 * shares[b] / most)) : 0;
    const bool here = field.bin && at(*field.bin) / together == b;
    text += fmt::format(fmt::runtime(here ? "[{}]" : "{}"), bars[std::min<std::size_t>(height, 8)]);
  }
  return text;
}

/// "red 20% (sources 31%)" of the level of this row.
std::string level_share(const FieldFact& field) {
  const auto here = std::ranges::find_if(field.levels, &LevelFact::here);
  if (here == field.levels.end()) return "";
  return fmt::format("{:.0f}% of rows, {:.0f}% in sources", 100 * here->in_domain, 100 * here->in_sources);
}

std::string field_line(const FieldFact& field, Index name_width, Index width) {
  const std::string value = field.missing ? "(missing)" : one_line(field.value);
  std::string line = fmt::format("{} {}  {}  ", field.important ? '*' : ' ',
                                 pad_right(display_text(one_line(field.name), name_width), name_width),
                                 pad_right(display_text(value, value_width), value_width));
  if (field.percentile) line += fmt::format("{:3.0f}%  ", *field.percentile);
  line += field.in_domain.empty() ? level_share(field) : (field.percentile ? "" : "      ") + tiny_histogram(field);
  return display_text(line, width) + '\n';
}

std::string fields_text(const std::vector<FieldFact>& fields, Index width) {
  Index name_width = 4;
  const std::size_t shown = std::min(fields.size(), fields_shown);
  for (std::size_t j = 0; j < shown; ++j)
    name_width = std::min<Index>(24, std::max(name_width, display_width(one_line(fields[j].name))));
  std::string text;
  for (std::size_t j = 0; j < shown; ++j) text += field_line(fields[j], name_width, width);
  if (shown < fields.size())
    text += fmt::format("  and {}\n", counted(static_cast<Index>(fields.size() - shown), "further column"));
  return text;
}

/// "  yes  source south, row 17: age 61, *bmi 31": a star where the value differs.
std::string neighbour_line(const NeighbourFact& neighbour, const std::vector<FieldFact>& fields, const LabelTask& task,
                           Index width) {
  std::string line =
      fmt::format("  {}  {} {}, row {}:", one_line(neighbour.label), neighbour.target ? "target" : "source",
                  one_line(neighbour.domain), origin_of(task.data.origin, neighbour.row) + 1);
  const std::size_t shown = std::min({fields.size(), neighbour.fields.size(), cells_shown});
  for (std::size_t j = 0; j < shown; ++j) {
    const NeighbourFact::Cell& cell = neighbour.fields[j];
    line += fmt::format("{} {}{} {}", j > 0 ? "," : "", cell.differs ? "*" : "", one_line(fields[j].name),
                        cell.value.empty() ? "(missing)" : one_line(cell.value));
  }
  return display_text(line, width) + '\n';
}

std::string belief_text(const Belief& belief, const std::vector<std::string>& classes) {
  if (belief.value && belief.sd) return fmt::format("belief: {:.4g}, give or take {:.2g}\n", *belief.value, *belief.sd);
  if (belief.value) return fmt::format("belief: {:.4g}\n", *belief.value);
  std::string text = "belief:";
  for (std::size_t c = 0; c < belief.probability.size() && c < classes.size(); ++c)
    text += fmt::format("{} {} {:.2f}", c > 0 ? "," : "", one_line(classes[c]), belief.probability[c]);
  return text + '\n';
}

std::string head_line(const Question& question, const DeskProgress& progress, const LabelTask& task) {
  const std::string& id = LabelTask::text_of(task.ids, question.origin);
  return fmt::format("row {}{} of {}: label {} of {}{}", question.origin + 1,
                     id.empty() ? "" : " (" + one_line(id) + ")", one_line(question.domain), progress.labels + 1,
                     progress.budget, question.answered ? fmt::format(", was {}", one_line(*question.answered)) : "");
}

}  // namespace

std::vector<std::string> class_keys(const std::vector<std::string>& classes) {
  const bool digits = std::ranges::all_of(
      classes, [](const std::string& name) { return name.size() == 1 && name[0] >= '0' && name[0] <= '9'; });
  if (digits) return classes;
  std::vector<std::string> keys(classes.size());
  for (std::size_t c = 0; c < std::min<std::size_t>(9, classes.size()); ++c) keys[c] = std::to_string(c + 1);
  return keys;
}

std::string keys_text(const Question& question, const LabelTask& task) {
  std::string text = "keys: ";
  if (task.task() == Task::regress) text += "the number, with a point as in 1.5";
  const std::vector<std::string> keys = class_keys(task.classes);
  for (std::size_t c = 0; c < task.classes.size(); ++c) {
    const bool own = keys[c].empty() || keys[c] == task.classes[c];
    text += (c > 0 ? ", " : "") + (own ? "" : keys[c] + '=') + one_line(task.classes[c]);
  }
  if (question.belief) text += ", space belief";
  return text + ", u unsure, s skip, z undo, q quit";
}

std::string question_text(const DeskState& state, const LabelTask& task, Index width) {
  if (!state.question) return wrapped(state.progress.advice.text, width, "") + "keys: z undo, any other ends\n";
  const Question& question = *state.question;
  const bool audit = question.why == Why::audit;
  std::string text = display_text(head_line(question, state.progress, task), width) + '\n';
  if (!audit && !question.reason.empty()) text += wrapped(one_line(question.reason), width, "");
  text += fields_text(question.fields, width);
  if (!question.neighbours.empty()) text += "nearest labelled rows, * where they differ\n";
  for (const NeighbourFact& neighbour : question.neighbours)
    text += neighbour_line(neighbour, question.fields, task, width);
  if (!audit && question.belief) text += belief_text(*question.belief, task.classes);
  return text + wrapped(keys_text(question, task), width, "");
}

std::string labelling_text(const DeskProgress& progress) {
  std::string text = fmt::format("labels    {} of {}, {} of them audits; {} unsure, {} skipped\n", progress.labels,
                                 progress.budget, progress.audits, progress.unsure, progress.skipped);
  if (progress.estimate) {
    const AuditEstimate& estimate = *progress.estimate;
    text += fmt::format("estimate  {} {:.4g}, 90% interval {:.4g} to {:.4g}, from {}\n", progress.metric,
                        estimate.value, estimate.low, estimate.high, counted(estimate.rows, "random row"));
  }
  return text + wrapped(progress.advice.text, page_width, "advice    ");
}

}  // namespace ecotone
