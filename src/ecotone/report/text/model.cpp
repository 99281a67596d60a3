#include "ecotone/methods/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/choose/guard.h"
#include "ecotone/report/model_trees.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"

namespace ecotone {
namespace {

constexpr std::size_t values_shown = 6;
constexpr std::size_t weights_shown = 40;
constexpr std::size_t classes_shown = 8;
constexpr std::size_t rows_shown = 8;
constexpr std::size_t entry_width = 11;
constexpr std::size_t weight_width = 14;  // if the entries include importance weights

std::string value_text(const Json& value) {
  if (value.is_string()) return one_line(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_vector(const Json& value) {
  return value.is_array() && std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); });
}

/// "0.1 -2 3.5 ... (13)"
std::string vector_text(const Json& values) {
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), values_shown); ++i)
    text += (i ? " " : "") + value_text(values[i]);
  return values.size() > values_shown ? fmt::format("{} ... ({})", text, values.size()) : text;
}

/// Names made safe for one line of a table.
std::vector<std::string> one_lines(std::vector<std::string> names) {
  for (std::string& name : names) name = one_line(name);
  return names;
}

std::string list_text(const std::vector<std::string>& names) {
  const auto shown = std::min<std::size_t>(names.size(), 12);
  const auto first = one_lines({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)});
  return fmt::format("{}: {}{}", names.size(), fmt::join(first, ", "), names.size() > shown ? ", ..." : "");
}

/// Weights by feature name, largest first; a row of `columns` is one class's weights.
std::string weights_text(const std::vector<Json>& columns, const std::vector<std::string>& heads,
                         const std::vector<std::string>& names) {
  const auto size = [&](std::size_t j) {
    double largest = 0;
    for (const Json& column : columns)
      if (column[j].is_number()) largest = std::max(largest, std::abs(column[j].get<double>()));
    return largest;
  };
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  order.resize(std::min(order.size(), weights_shown));
  std::size_t width = 8;
  for (const std::size_t j : order) width = std::max(width, names[j].size());
  std::string text;
  if (!heads.empty()) {
    text += fmt::format("    {:<{}}", "", width);
    for (const std::string& head : heads) text += fmt::format("  {:>12.12}", head);
    text += "\n";
  }
  for (const std::size_t j : order) {
    text += fmt::format("    {:<{}}", names[j], width);
    for (const Json& column : columns) text += fmt::format("  {:>12}", value_text(column[j]));
    text += "\n";
  }
  if (names.size() > order.size()) text += fmt::format("    and {} smaller ones\n", names.size() - order.size());
  return text;
}

/// Flattens nested objects: {"refused": {"source": 3}} becomes {"refused/source": 3}.
Json flattened(const Json& object) {
  Json flat = Json::object();
  for (const auto& field : object.items()) {
    if (!field.value().is_object()) {
      flat[field.key()] = field.value();
      continue;
    }
    const Json inner = flattened(field.value());
    for (const auto& each : inner.items()) flat[field.key() + "/" + each.key()] = each.value();
  }
  return flat;
}

/// The fields that the models inside one share, with a value per model: "binary/offset  0.1 -2 3.5".
std::string models_text(const std::string& key, const Json& list, std::size_t width) {
  std::vector<Json> models;
  for (const Json& model : list) models.push_back(flattened(model));
  std::string text;
  for (const auto& field : models.front().items()) {
    Json values = Json::array();
    for (const Json& model : models) values.push_back(model.value(field.key(), Json()));
    if (is_vector(values)) text += fmt::format("  {:<{}} {}\n", key + "/" + field.key(), width, vector_text(values));
  }
  return text;
}

/// An entry of a fitted stage; arrays parallel to the features are shown with the feature names.
std::string entry_text(const std::string& key, const Json& value, const Model& model,
                       const std::vector<std::string>& names, std::size_t width) {
  const std::string head = fmt::format("  {:<{}} ", key, width);
  if (!value.is_structured()) return head + value_text(value) + "\n";
  if (is_vector(value)) {
    if (key != "weights" || value.size() != names.size()) return head + vector_text(value) + "\n";
    return head + "largest first\n" + weights_text({value}, {}, names);
  }
  if (!value.is_array()) return head + value_text(value) + "\n";
  if (value.front().is_object()) return models_text(key, value, width);
  const std::size_t cols = value.front().size();
  if (key == "weights" && cols == names.size() && value.size() == model.classes().size() &&
      value.size() <= classes_shown)
    return head + "largest first, one column per class\n" +
           weights_text({value.begin(), value.end()}, one_lines(model.classes()), names);
  std::string text = head + fmt::format("{} x {}\n", value.size(), cols);
  if (value.size() > rows_shown) return text;
  for (const Json& row : value) text += "    " + vector_text(row) + "\n";
  return text;
}

/// Facts about importance weights, in display order.
struct WeightEntry {
  const char* key;
  const char* meaning;
};
constexpr WeightEntry weight_entries[] = {{"rows", "source rows"},
                                          {"exponent", "power to which the weights were raised"},
                                          {"ess_raw", "effective sample size of the estimated weights, in rows"},
                                          {"ess", "effective sample size of the weights passed to the learner"},
                                          {"largest_share", "largest of these weights, as a share of their sum"},
                                          {"auroc", "cross-validated, of a classifier of source against target rows"}};

std::string rounded_text(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : value_text(value);
}

/// The facts that a weight stage or adapt.joint reports about its weights, and a table of the source domains if they
/// were weighted separately.
std::string weighting_text(const Json& stage) {
  std::string text;
  for (const WeightEntry& entry : weight_entries)
    if (stage.contains(entry.key))
      text +=
          fmt::format("  {:<{}} {:<8}  {}\n", entry.key, weight_width, rounded_text(stage[entry.key]), entry.meaning);
  if (!stage.contains("sources")) return text;
  std::size_t width = 6;
  for (const Json& source : stage["sources"]) width = std::max(width, value_text(source["domain"]).size());
  text += fmt::format("    {:<{}}", "source", width);
  for (const WeightEntry& entry : weight_entries) text += fmt::format("  {:>13}", entry.key);
  for (const Json& source : stage["sources"]) {
    text += fmt::format("\n    {:<{}}", value_text(source["domain"]), width);
    for (const WeightEntry& entry : weight_entries) text += fmt::format("  {:>13}", rounded_text(source[entry.key]));
  }
  return text + "\n";
}

bool is_weight_entry(const std::string& key) {
  return std::any_of(std::begin(weight_entries), std::end(weight_entries),
                     [&](const auto& one) { return one.key == key; });
}

bool is_shown(const std::string& key) { return key != "stage" && key != "options" && key != "converged"; }

/// The width that the longest entry name needs, "binary/" of inner models included.
std::size_t width_of_entries(const Json& stage) {
  std::size_t width = stage.contains("ess") ? weight_width : entry_width;
  for (const auto& entry : stage.items()) {
    if (!is_shown(entry.key())) continue;
    width = std::max(width, entry.key().size());
    const Json& value = entry.value();
    if (!value.is_array() || value.empty() || !value.front().is_object()) continue;
    const Json first = flattened(value.front());
    for (const auto& field : first.items()) width = std::max(width, entry.key().size() + 1 + field.key().size());
  }
  return width;
}

/// A fitted stage, entry by entry; importance weights first.
std::string stage_text(const Json& stage, const Model& model, const std::vector<std::string>& names) {
  if (stage.contains("tree_first")) return tree_stage_text(stage, names, model.notes().contains("refit"));
  if (stage.contains("promise")) return conformal_stage_text(stage);
  if (stage.contains("corrects")) return prior_stage_text(stage, model.classes());
  const bool weighted = stage.contains("ess");
  std::string text = weighted ? weighting_text(stage) : "";
  if (stage.contains("ess_raw")) return text;  // a weight stage has nothing else
  const std::size_t width = width_of_entries(stage);
  for (const auto& [key, value] : stage.items())
    if (is_shown(key) && !(weighted && is_weight_entry(key))) text += entry_text(key, value, model, names, width);
  return text;
}

/// The guard's decision, and the pipeline that it declined.
std::string guard_text(const std::optional<GuardNote>& note) {
  if (!note) return "";
  std::string text = fmt::format("guard     {}\n", one_line(note->sentence()));
  if (!note->adapted) text += fmt::format("declined  {}\n", one_line(note->adapted_pipeline));
  return text;
}

/// A line for each stage that holds training rows, with what to do about it: "svm holds 312 training rows, ...".
std::vector<std::string> held_rows_lines(const Model& model) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < model.pipeline().stages().size(); ++i) {
    const Method& method = *model.pipeline().stages()[i].method;
    if (const Index rows = model.training_rows(i); rows > 0)
      lines.push_back(fmt::format("{} holds {}, which whoever has the model can read; {}", method.name,
                                  counted(rows, "training row"), method.without_rows));
  }
  return lines;
}

/// `refit` is the model's note of that name, which a file may hold in any shape.
std::string refit_line(const Json& refit) {
  if (!refit.is_object()) return "";
  const auto number = [&](const char* name, double otherwise) {
    const auto found = refit.find(name);
    return found != refit.end() && found->is_number() ? found->get<double>() : otherwise;
  };
  const double times = number("times", 1);
  return fmt::format("refit     moved to {} labelled rows with strength {}{}\n", number("rows", 0),
                     number("strength", 0), times > 1 ? fmt::format(", the last of {} refits", times) : "");
}

}  // namespace

std::string model_text(const Model& model, const std::optional<GuardNote>& guard, const Context& context) {
  const Json json = model.inspect();
  std::string text = fmt::format("pipeline  {}\ntask      {}", model.pipeline().text(), task_name(model.task()));
  if (model.task() == Task::classify) text += fmt::format(", {}", list_text(model.classes()));
  text += fmt::format("\nfeatures  {}\ndomains   {}\n", list_text(model.features()), list_text(model.domains()));
  for (const char* key : {"seed", "format", "version"})
    if (json.contains(key)) text += fmt::format("{:<9} {}\n", key, value_text(json[key]));
  text += guard_text(guard);
  if (json.contains("expect"))
    text += fmt::format("expect    knows how it fared in {} domains that it had not seen; `ecotone expect MODEL NEW`\n",
                        json["expect"].value("domains", Json::array()).size());
  if (const auto refit = json.find("refit"); refit != json.end()) text += refit_line(*refit);
  for (const std::string& line : held_rows_lines(model)) text += fmt::format("rows      {}\n", line);
  const auto names = one_lines(learner_features(model, context));
  std::size_t number = 0;
  for (const Json& stage : json["stages"]) {
    text += fmt::format("\nstage {}: {}", ++number, stage["stage"].get<std::string>());
    for (const auto& [key, value] : stage["options"].items()) text += fmt::format(" {}={}", key, option_text(value));
    text += "\n" + stage_text(stage, model, names);
  }
  return text;
}

std::string fit_text(const Model& model, const Dataset& data, const TrainView& view,
                     const std::optional<GuardNote>& guard) {
  std::string text = fmt::format("fitted   {}\n", model.pipeline().text());
  text += fmt::format("on       {}\n", data_summary(data));
  if (view.labelled() < data.rows())
    text += fmt::format("used     {} with labels, {} unlabelled in target domains\n", counted(view.labelled(), "row"),
                        view.x.rows() - view.labelled());
  for (std::size_t i = 0; i < model.statuses().size(); ++i)
    if (const Status& status = model.statuses()[i]; model.pipeline().predicts_at(i) || !status.converged)
      text += fmt::format("status   {}: {}\n", model.pipeline().stages()[i].method->name, status.text);
  if (guard) text += fmt::format("guard    {}\n", guard->sentence());
  for (const std::string& line : held_rows_lines(model)) text += fmt::format("rows     {}\n", line);
  return text;
}

}  // namespace ecotone
