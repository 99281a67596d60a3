#include "ecotone/data/formats/encode.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

constexpr std::size_t most_integer_classes = 20;

/// The distinct values, ascending, if all are integers and there are at most `most`; otherwise empty.
std::optional<std::vector<double>> few_integers(const Vector& values, std::size_t most) {
  std::vector<double> found;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    if (value != std::trunc(value) || std::isinf(value)) return std::nullopt;
    const auto place = std::ranges::lower_bound(found, value);
    if (place != found.end() && *place == value) continue;
    if (found.size() == most) return std::nullopt;
    found.insert(place, value);
  }
  return found;
}

std::vector<double> different_values(const Vector& values) {
  std::vector<double> found;
  std::ranges::copy_if(values, std::back_inserter(found), [](double v) { return !std::isnan(v); });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Labels classes_of(const Vector& values, const std::vector<double>& classes) {
  Labels labels;
  for (const double value : classes) labels.classes.push_back(number_text(value));
  labels.index.resize(static_cast<std::size_t>(values.size()), -1);
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    labels.index[at(i)] = static_cast<std::int32_t>(std::ranges::lower_bound(classes, values[i]) - classes.begin());
  }
  return labels;
}

/// What a label with these classes holds, and its task.
std::string classes_text(const std::vector<std::string>& classes) {
  bool integers = true;
  for (const std::string& name : classes) {
    double value = 0;
    if (!parse_number(name, value))
      return fmt::format("text with {} {}: task classify", classes.size(), classes.size() == 1 ? "class" : "classes");
    integers = integers && value == std::trunc(value);
  }
  const char* kind = integers ? "integer" : "number";
  return (classes.size() == 1 ? fmt::format("one {}", kind) : fmt::format("{} distinct {}s", classes.size(), kind)) +
         ": task classify (use --task regress to change that)";
}

}  // namespace

void note_task(const Labels& labels, const std::string& column, const Context& context) {
  if (labels.task == Task::regress)
    context.note("label '{}' holds numbers: task regress (use --task classify to change that)", column);
  else if (!labels.classes.empty())
    context.note("label '{}' holds {}", column, classes_text(labels.classes));
}

Labels numeric_labels(Vector values, std::optional<Task> task, const std::string& column, const Context& context) {
  if (task == Task::classify) return classes_of(values, different_values(values));
  const auto integers = few_integers(values, most_integer_classes);
  Labels labels;
  if (!task && integers) {
    labels = classes_of(values, *integers);
  } else {
    labels.task = Task::regress;
    labels.value = std::move(values);
  }
  if (!task) note_task(labels, column, context);
  return labels;
}

Labels text_labels(std::vector<std::int32_t> codes, const std::vector<std::string>& words, std::optional<Task> task,
                   const std::string& column, const Context& context) {
  if (task == Task::regress) {
    double value = 0;
    const auto text = std::ranges::find_if(words, [&](const std::string& word) { return !parse_number(word, value); });
    data_error("text_label", "label '{}' holds text such as '{}'; task regress needs numbers", column,
               text != words.end() ? *text
               : words.empty()     ? ""
                                   : words.front());
  }
  Labels labels;
  labels.classes = words;
  sort_classes(labels.classes);
  if (!task) note_task(labels, column, context);
  std::map<std::string, std::int32_t> place;
  for (std::size_t c = 0; c < labels.classes.size(); ++c)
    place.emplace(labels.classes[c], static_cast<std::int32_t>(c));
  std::vector<std::int32_t> class_of;
  for (const std::string& word : words) class_of.push_back(place.at(word));
  for (std::int32_t& code : codes)
    if (code >= 0) code = class_of[at(code)];
  labels.index = std::move(codes);
  return labels;
}

Domains one_domain(Index rows) { return {{"all"}, std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0)}; }

void require_rows(Index rows, const std::string& origin) {
  if (rows == 0) data_error("empty_data", "{}: no data rows", origin);
}

}  // namespace ecotone
