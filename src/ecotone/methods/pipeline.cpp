#include "ecotone/methods/pipeline.h"

#include <algorithm>
#include <utility>

#include "ecotone/methods/pipeline_text.h"

namespace ecotone {

namespace {

bool applies(const DefaultBeside& rule, const OptionValues& values) {
  const Json& beside = values.at(rule.beside);
  return !beside.is_number() || beside.get<double>() != 0;
}

/// The value that an option has if it is not given and the others are as they are.
Json default_among(const Method& method, const OptionInfo& option, const OptionValues& values) {
  for (const DefaultBeside& rule : method.defaults_beside)
    if (rule.option == option.name && applies(rule, values)) return rule.value;
  return option.default_value;
}

/// Whether the options of the stage are those with which its method has the route.
bool takes_route(const Stage& stage, Route route) {
  for (const MethodRoute& one : stage.method->all_routes()) {
    if (one.route != route) continue;
    if (one.options.empty()) return true;
    const std::vector<StageGiven> with = read_pipeline_text(stage.method->name + " " + one.options, Braces::refuse);
    return std::ranges::all_of(with.front().options, [&](const OptionGiven& option) {
      return option_text(stage.options.at(option.name)) == option.values.front();
    });
  }
  return false;
}

/// Held-out domains are no targets, so a stage that corrects predictions for a target leaves theirs as they are.
void require_same_predictions(const std::vector<Stage>& stages, std::size_t sets) {
  const auto end = stages.begin() + static_cast<std::ptrdiff_t>(sets);
  const auto corrects = std::find_if(stages.begin(), end, [](const Stage& stage) {
    return stage.method->family == Family::adapt && stage.method->follows_learner();
  });
  if (corrects == end) return;
  const std::string &name = corrects->method->name, &maker = end->method->name;
  option_error("sets_after_adapting",
               "{} cannot stand behind {}: its sets come from predictions for held-out domains, which {} does not "
               "correct, and would be put around corrected ones; leave out {}, or use it without {}",
               maker, name, name, name, maker);
}

}  // namespace

void set_defaults_beside(const Method& method, const std::vector<std::string>& given, OptionValues& values) {
  for (const DefaultBeside& rule : method.defaults_beside)
    if (std::ranges::find(given, rule.option) == given.end() && applies(rule, values))
      values.set(rule.option, rule.value);
}

OptionValues stage_options(const Method& method, const OptionTexts& given) {
  OptionValues values = complete_options(method.name, method.options, given);
  std::vector<std::string> names;
  for (const auto& option : given) names.push_back(option.first);
  set_defaults_beside(method, names, values);
  return values;
}

Pipeline Pipeline::parse(std::string_view text) {
  std::vector<Stage> stages;
  for (StageGiven& stage : read_pipeline_text(text, Braces::refuse)) {
    OptionTexts given;
    for (OptionGiven& option : stage.options) {
      given.emplace_back(std::move(option.name), std::move(option.values.front()));
    }
    stages.push_back({stage.method, stage_options(*stage.method, given)});
  }
  return Pipeline(std::move(stages));
}

Pipeline::Pipeline(std::vector<Stage> stages) : stages_(std::move(stages)) {
  if (stages_.empty()) option_error("empty_pipeline", "a pipeline needs at least one stage");
  bool predicted_before = false;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Method& method = *stages_[i].method;
    if (method.follows_learner() && !predicted_before) {
      option_error("needs_learner",
                   "{} revises the predictions of a learner, so it must follow one, as in 'logistic | {}'", method.name,
                   method.name);
    }
    predicted_before = predicts_at(i);
    if (method.predicts() && !may_predict(i)) {
      option_error("learner_not_last", "{} predicts, so it must be the last stage; it is stage {} of {}", method.name,
                   i + 1, stages_.size());
    }
    if (method.makes_sets) require_same_predictions(stages_, i);
    if (method.makes_sets && i + 1 < stages_.size()) {
      option_error("learner_not_last", "{} must be the last stage; it is stage {} of {}", method.name, i + 1,
                   stages_.size());
    }
    const bool twice = method.follows_learner() && stages_[i - 1].method == &method;
    if (twice) option_error("learner_not_last", "{} stands twice in a row; once is enough", method.name);
  }
}

bool Pipeline::may_predict(std::size_t i) const {
  return i + 1 == stages_.size() || stages_[i + 1].method->follows_learner();
}

bool Pipeline::shared_by_ranks() const {
  return std::ranges::all_of(stages_, [](const Stage& stage) { return takes_route(stage, Route::ranks); });
}

bool Pipeline::predicts_at(std::size_t i) const {
  const Method& method = *stages_[i].method;
  return method.predicts() || (method.predicts_when_last() && may_predict(i));
}

std::string Pipeline::text() const {
  std::string text;
  for (const Stage& stage : stages_) {
    if (!text.empty()) text += " | ";
    text += stage.method->name;
    for (const OptionInfo& option : stage.method->options) {
      const Json& value = stage.options.at(option.name);
      if (value != default_among(*stage.method, option, stage.options))
        text += fmt::format(" {}={}", option.name, option_text(value));
    }
  }
  return text;
}

}  // namespace ecotone
