#include "methods.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/ecotone.h"
#include "ecotone/methods/grid.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ecotone::python {

namespace {

/// The code of the error with which a method refuses to learn these numbers from one feature; empty: it learns them.
std::string refusal(const Method& method, const Vector& y) {
  TrainView view;
  view.x = Features::dense(Matrix{{0.0}, {1.0}, {2.0}, {3.0}});
  view.y.task = Task::regress;
  view.y.value = y;
  view.domain = {{"a", "b"}, {0, 1, 0, 1}};
  view.role = {Role::source, Role::source};
  try {
    FitCache cache;
    method.fit(view, stage_options(method, {}), Context({.threads = 1}), cache);
    return "";
  } catch (const Error& error) {
    return error.code();
  }
}

/// Whether a method that learns classes also learns numbers.
bool learns_numbers_too(const Method& method) {
  return refusal(method, Vector{{0.0, 1.0, 2.5, 3.0}}) != "needs_classes";
}

/// Whether a method that learns numbers refuses those below 0.
bool learns_counts(const Method& method) {
  return method.regression_only() && refusal(method, Vector{{0.0, 1.0, 2.0, 3.0}}).empty() &&
         !refusal(method, Vector{{0.0, 1.0, -2.0, 3.0}}).empty();
}

/// The tasks that a method which predicts can be fitted for.
Json tasks_of(const Method& method) {
  if (method.makes_sets) return {task_name(Task::classify), task_name(Task::regress)};
  if (method.follows_learner()) return {task_name(Task::classify)};
  if (method.regression_only()) return {task_name(Task::regress)};
  if (method.learns == Learns::labels || learns_numbers_too(method))
    return {task_name(Task::classify), task_name(Task::regress)};
  return {task_name(Task::classify)};
}

std::string methods_json() {
  Json list = Json::array();
  for (const Method& method : methods()) {
    Json json = to_json(method);
    json["predicts"] = method.can_predict();
    json["adapts"] = method.adapts();
    json["reads_features"] = method.reads_features;
    json["takes_missing"] = method.takes_missing;
    json["counts"] = learns_counts(method);
    json["tasks"] = method.can_predict() ? tasks_of(method) : Json::array();
    list.push_back(std::move(json));
  }
  return list.dump();
}

std::string generators_json() {
  Json list = Json::array();
  for (const Generator& each : generators()) list.push_back(to_json(each));
  return list.dump();
}

/// The text of a stage from texts of its options, quoted where necessary.
std::string stage_text(const std::string& name, const OptionTexts& options) {
  const Method& found = method(name);
  std::string text = found.name;
  const OptionValues values = stage_options(found, options);
  for (const auto& [key, given] : options) text += fmt::format(" {}={}", key, option_text(values.at(key)));
  return text;
}

/// The names of the methods of a pipeline's text.
std::vector<std::string> stages_of(const std::string& text) {
  std::vector<std::string> names;
  const Pipeline pipeline = Pipeline::parse(text);
  for (const Stage& stage : pipeline.stages()) names.push_back(stage.method->name);
  return names;
}

/// Whether columns of text are codes to the first stage of all these pipelines, which may have lists in braces.
bool takes_categories(const std::vector<std::string>& texts) {
  return !texts.empty() && std::ranges::all_of(texts, [](const std::string& text) {
    return PipelineSpace(text).first().takes_categories();
  });
}

}  // namespace

void bind_methods(nb::module_& module) {
  module.def("methods", methods_json, "All methods with their options, as JSON.");
  module.def("generators", generators_json, "All generators of data with their options, as JSON.");
  module.def("stage_text", stage_text, "name"_a, "options"_a);
  module.def("stages", stages_of, "pipeline"_a);
  module.def("takes_categories", takes_categories, "pipelines"_a);
  module.def(
      "shared_by_ranks", [](const std::string& text) { return Pipeline::parse(text).shared_by_ranks(); }, "pipeline"_a);
  module.def(
      "canonical", [](const std::string& text) { return Pipeline::parse(text).text(); }, "pipeline"_a);
}

}  // namespace ecotone::python
