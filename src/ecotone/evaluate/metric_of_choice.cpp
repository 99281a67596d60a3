#include "ecotone/evaluate/metric_of_choice.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ecotone/measure/metrics.h"

namespace ecotone {

namespace {

/// Methods whose scores are margins or votes. `svm` has probabilities if it is asked for them.
constexpr std::array<std::string_view, 4> scores_only = {"svm", "dasvm", "adaboost", "daboost"};

const Method* first_without_probabilities(const std::vector<Pipeline>& points) {
  for (const Pipeline& point : points)
    if (const Method* method = without_probabilities(point)) return method;
  return nullptr;
}

}  // namespace

const Method* without_probabilities(const Pipeline& pipeline) {
  const Stage& last = pipeline.stages().back();
  if (std::ranges::find(scores_only, last.method->name) == scores_only.end()) return nullptr;
  const bool asked = last.method->name == "svm" && last.options.at("probability").get<bool>();
  return asked ? nullptr : last.method;
}

std::string metric_of_choice(const std::string& asked, const std::vector<Pipeline>& points, const Labels& y) {
  if (!asked.empty()) return asked;
  if (y.task != Task::classify || first_without_probabilities(points) == nullptr) return choice_metric(y.task);
  return y.classes.size() > 2 ? "accuracy" : "auroc";
}

void note_metric(const char* who, const char* flag, const std::string& asked, const std::vector<Pipeline>& points,
                 const Labels& y, const Context& context) {
  const std::string metric = metric_of_choice(asked, points, y);
  if (!asked.empty() || metric == choice_metric(y.task)) return;
  const std::string& name = first_without_probabilities(points)->name;
  context.note("{}: {} gives no probabilities of its own, so {} chooses; {} or {} {} changes that", who, name, metric,
               name == "svm" ? "probability=true" : "a stage calibrate behind it", flag, choice_metric(y.task));
}

}  // namespace ecotone
