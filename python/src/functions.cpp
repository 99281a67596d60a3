#include "functions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "arrays.h"
#include "call.h"
#include "data.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/choose.h"
#include "ecotone/choose/plain.h"
#include "ecotone/diagnose/represented.h"
#include "ecotone/ecotone.h"
#include "ecotone/evaluate/contenders.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/trust/expect.h"
#include "ecotone/trust/explain.h"
#include "settings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ecotone::python {

namespace {

/// Results as the JSON and the text that the program prints.
using Printed = std::pair<std::string, std::string>;

std::vector<Split> splits_of(const Data& data, const EvaluateOptions& options, const Settings& settings) {
  return call(settings, Size::small,
              [&](const Context& context) { return make_splits(places_of(data.set), options, context); });
}

/// (repetition, name, source, target, held out), the last three as row numbers.
nb::list splits(const Data& data, const OptionTexts& texts, const Settings& settings) {
  const auto options = options_from<EvaluateOptions>("evaluate", texts);
  nb::list list;
  for (const Split& split : splits_of(data, options, settings))
    list.append(nb::make_tuple(split.repetition, split.name, numpy_array(std::vector<Index>(split.source)),
                               numpy_array(std::vector<Index>(split.target)),
                               numpy_array(std::vector<Index>(split.held_out))));
  return list;
}

/// What an estimator from outside answered for the held-out rows of one split: probabilities of the classes of the data
/// and which of them it knows, or numbers.
using Answers = std::tuple<std::optional<Table>, std::vector<bool>, std::optional<Line<double>>>;
/// Its name and its answers by split, or why there are none.
using Answered = std::tuple<std::string, std::vector<Answers>, std::string>;

Outcome outcome_of(const Answers& answers, const Split& split, const Labels& y) {
  const auto& [probability, seen, value] = answers;
  const auto rows = static_cast<Index>(split.held_out.size());
  Outcome outcome;
  outcome.repetition = split.repetition;
  outcome.rows = split.held_out;
  if (y.task == Task::regress) {
    const auto given = span_of(value.value());
    if (given.size() != split.held_out.size())
      data_error("shape_mismatch", "{} answers for {} rows", given.size(), rows);
    outcome.value.resize(rows);
    std::ranges::copy(given, outcome.value.begin());
    return outcome;
  }
  const Table& given = probability.value();
  const auto classes = static_cast<Index>(y.classes.size());
  if (static_cast<Index>(given.shape(0)) != rows || static_cast<Index>(given.shape(1)) != classes)
    data_error("shape_mismatch", "{} x {} probabilities for {} rows and {} classes", given.shape(0), given.shape(1),
               rows, classes);
  outcome.probability = ConstMatrixMap(given.data(), rows, classes, Eigen::OuterStride<>(classes));
  outcome.seen = seen;
  for (Index i = 0; i < rows; ++i) {
    Index best = 0;
    // The later of equal classes, as everywhere in the library.
    for (Index k = 1; k < classes; ++k)
      if (outcome.probability(i, k) >= outcome.probability(i, best)) best = k;
    outcome.predicted.push_back(static_cast<std::int32_t>(best));
  }
  return outcome;
}

Outsider outsider_of(const Answered& given, const std::vector<Split>& splits, const Labels& y) {
  const auto& [name, answers, error] = given;
  if (!error.empty()) return {name, {}, Error(ErrorKind::data, "outside", error)};
  Outsider outsider{name, {}, {}};
  for (std::size_t s = 0; s < splits.size(); ++s) outsider.answers.push_back(outcome_of(answers.at(s), splits[s], y));
  return outsider;
}

/// Pipelines by text and estimators from outside, which answered the same splits, in the order given.
Evaluation evaluate_all(const Data& data, const std::vector<std::variant<std::string, Answered>>& given,
                        const OptionTexts& option_texts, const Settings& settings) {
  auto options = options_from<EvaluateOptions>("evaluate", option_texts);
  options.curves = true;  // for the page
  return call(settings, Size::any, [&](const Context& context) {
    std::vector<Split> splits;
    std::vector<Contender> contenders;
    for (const auto& each : given) {
      if (const auto* text = std::get_if<std::string>(&each)) {
        contenders.emplace_back(PipelineGrid::parse(*text));
        continue;
      }
      if (splits.empty()) splits = make_splits(places_of(data.set), options, context);
      contenders.emplace_back(outsider_of(std::get<Answered>(each), splits, *data.set.y));
    }
    return evaluate_contenders(data.set, contenders, options, context);
  });
}

Printed choose(const Data& data, const std::vector<std::string>& texts, const std::string& scorer,
               const std::string& metric, const Settings& settings) {
  std::vector<Pipeline> given;
  for (const std::string& text : texts) {
    const PipelineGrid grid = PipelineGrid::parse(text);
    given.insert(given.end(), grid.points.begin(), grid.points.end());
  }
  ChooseOptions options;
  options.metric = metric;
  if (scorer != "all")
    options.scorers = {scorer_by_name(scorer)};
  else if (data.set.y)
    options.scorers = scorers_of(data.set.y->task);
  const Task task = data.set.y ? data.set.y->task : Task::classify;
  const Choice choice = call(settings, Size::any, [&](const Context& context) {
    return choose_candidates(data.set, plain_first(given, task, context), options, context);
  });
  return {to_json(choice).dump(), choice_table(choice)};
}

/// (JSON, table, the chosen pipeline).
std::tuple<std::string, std::string, std::string> tune_pipelines(const Data& data,
                                                                 const std::vector<std::string>& texts,
                                                                 const OptionTexts& option_texts,
                                                                 const Settings& settings) {
  const auto options = options_from<TuneOptions>("tune", option_texts);
  const Tuning tuning = call(settings, Size::any, [&](const Context& context) {
    return tune(data.set, search_points(texts, options, context), options, context);
  });
  return {to_json(tuning).dump(), tuning_table(tuning), tuning.points[tuning.chosen].pipeline};
}

Printed diagnose_data(const Data& data, const std::string& text, const OptionTexts& option_texts,
                      const Settings& settings) {
  const auto options = options_from<DiagnoseOptions>("diagnose", option_texts);
  std::optional<Pipeline> pipeline;
  if (!text.empty()) {
    pipeline = Pipeline::parse(text);
    require_representation(*pipeline);
  }
  const Diagnosis diagnosis = call(settings, Size::any, [&](const Context& context) {
    Diagnosis found =
        diagnose(pipeline ? represented(data.set, *pipeline, options.targets, context) : data.set, options, context);
    if (pipeline) found.pipeline = pipeline->text();
    return found;
  });
  return {to_json(diagnosis).dump(), diagnosis_text(diagnosis)};
}

Printed select(const Data& data, const std::string& text, const OptionTexts& option_texts, const Settings& settings) {
  const auto options = options_from<SelectOptions>("select", option_texts);
  const Pipeline pipeline = Pipeline::parse(text);
  require_selector(pipeline);
  const FeatureSelection found = call(settings, Size::any, [&](const Context& context) {
    return select_features(pipeline, data.set, options, context);
  });
  return {to_json(found).dump(), selection_text(found)};
}

Printed expect(const Data& data, const std::string& text, const OptionTexts& option_texts, const Settings& settings) {
  const auto options = options_from<ExpectOptions>("expect", option_texts);
  const Pipeline pipeline = Pipeline::parse(text);
  const auto found = call(settings, Size::any,
                          [&](const Context& context) { return expect_targets(data.set, pipeline, options, context); });
  return {to_json(found).dump(), expectations_text(found)};
}

Printed explain(const Data& data, const std::string& text, const OptionTexts& option_texts, const Settings& settings) {
  const auto options = options_from<ExplainOptions>("explain", option_texts);
  const Pipeline pipeline = Pipeline::parse(text);
  const auto found = call(settings, Size::any, [&](const Context& context) {
    return explain_targets(data.set, pipeline, options, context);
  });
  return {to_json(found).dump(), explanations_text(found)};
}

}  // namespace

void bind_functions(nb::module_& module) {
  nb::class_<Evaluation>(module, "Evaluation", "Scores of pipelines on held-out domains.")
      .def("json", [](const Evaluation& evaluation) { return to_json(evaluation).dump(); })
      .def(
          "table",
          [](const Evaluation& evaluation, const std::string& metric) { return evaluation_table(evaluation, metric); },
          "metric"_a = "")
      .def(
          "html", [](const Evaluation& evaluation, const std::string& title) { return html_report(evaluation, title); },
          "title"_a = "");
  module.def(
      "badness", [](const std::string& metric, double value) { return find_metric(metric)->badness(value); },
      "metric"_a, "value"_a, "How bad a value of a known metric is: the larger, the worse.");
  module.def("splits", splits, "data"_a, "options"_a, "settings"_a);
  module.def("evaluate", evaluate_all, "data"_a, "contenders"_a, "options"_a, "settings"_a);
  module.def("choose", choose, "data"_a, "pipelines"_a, "scorer"_a, "metric"_a, "settings"_a);
  module.def("tune", tune_pipelines, "data"_a, "pipelines"_a, "options"_a, "settings"_a);
  module.def("diagnose", diagnose_data, "data"_a, "pipeline"_a, "options"_a, "settings"_a);
  module.def("expect", expect, "data"_a, "pipeline"_a, "options"_a, "settings"_a);
  module.def("explain", explain, "data"_a, "pipeline"_a, "options"_a, "settings"_a);
  module.def("select", select, "data"_a, "pipeline"_a, "options"_a, "settings"_a);
}

}  // namespace ecotone::python
