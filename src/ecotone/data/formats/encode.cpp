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

}  // namespace

Labels numeric_labels(Vector values, std::optional<Task> task, const std::string& column, const Context& context) {
  if (task == Task::classify) return classes_of(values, different_values(values));
  const auto integers = few_integers(values, most_integer_classes);
  if (!task && integers) {
    const std::size_t count = integers->size();
    if (count > 0)
      context.note("label '{}' holds {}: task classify (use --task regress to change that)", column,
                   count == 1 ? "one integer" : fmt::format("{} distinct integers", count));
    return classes_of(values, *integers);
  }
  if (!task) context.note("label '{}' holds numbers: task regress (use --task classify to change that)", column);
  Labels labels;
  labels.task = Task::regress;
  labels.value = std::move(values);
  return labels;
}

Labels text_labels(std::vector<std::int32_t> codes, const std::vector<std::string>& words, std::optional<Task> task,
                   const std::string& column, const Context& context) {
  if (task == Task::regress)
    data_error("text_label", "label '{}' holds text such as '{}'; task regress needs numbers", column,
               words.empty() ? "" : words.front());
  if (!task)
    context.note("label '{}' holds text with {} {}: task classify", column, words.size(),
                 words.size() == 1 ? "class" : "classes");
  Labels labels;
  labels.classes = words;
  sort_classes(labels.classes);
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
