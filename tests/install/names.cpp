// Every name that ecotone/ecotone.h calls stable, used as its users would: what compiles here keeps compiling.
#include <concepts>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ecotone/ecotone.h"

namespace {

using namespace ecotone;

using Files = std::vector<std::filesystem::path>;
using Texts = std::vector<std::string>;
using Pipelines = std::vector<Pipeline>;

static_assert(std::derived_from<Error, std::runtime_error>);
static_assert(std::is_constructible_v<Context, Context::Settings>);
static_assert(std::is_abstract_v<Observer> && std::is_class_v<CancelFlag>);

Dataset (*const by_read)(const Files&, const ReadOptions&, const Context&) = read_dataset;
Dataset (*const by_model)(const Files&, const Schema&, const ReadOptions&, const Context&) = read_for_model;
Dataset (*const by_text)(std::string, std::string, const Schema&, const ReadOptions&, const Context&) = parse_for_model;
TrainView (*const by_roles)(const Dataset&, const Context&) = train_view;
Batch (*const by_rows)(const Dataset&, std::span<const Index>) = batch;
Model (*const fit)(const Pipeline&, const TrainView&, const Schema&, const Context&) = Model::fit;
Features (Model::*const transform)(const Batch&, const Context&) const = &Model::transform;
Evaluation (*const score)(const Dataset&, const Pipelines&, const EvaluateOptions&, const Context&) = evaluate;
Evaluation (*const nested)(const Dataset&, const std::vector<PipelineGrid>&, const EvaluateOptions&,
                           const Context&) = evaluate_grids;
std::string (*const table)(const Evaluation&, std::string_view) = evaluation_table;
std::string (*const page)(const Evaluation&, const std::string&) = html_report;
Pipelines (*const points)(const Texts&, const TuneOptions&, const Context&) = search_points;
Tuning (*const best)(const Dataset&, const Pipelines&, const TuneOptions&, const Context&) = tune;
Choice (*const cost)(const Dataset&, const Pipelines&, const ChooseOptions&, const Context&) = choose_candidates;
Guarded (*const guard)(const Pipeline&, const TrainView&, const Schema&, const ScorerOptions&,
                       const Context&) = guarded_fit;
FeatureSelection (*const columns)(const Pipeline&, const Dataset&, const SelectOptions&,
                                  const Context&) = select_features;
Diagnosis (*const shift)(const Dataset&, const DiagnoseOptions&, const Context&) = diagnose;

bool all_there() {
  return by_read && by_model && by_text && by_roles && by_rows && fit && transform && score && nested && table &&
         page && points && best && cost && guard && columns && shift && !methods().empty() && *version != '\0';
}

}  // namespace

int main() {
  try {
    const Context context({.threads = 1, .seed = 1});
    const Dataset data = generate("moons", {}, context);
    const Pipeline pipeline = Pipeline::parse("scale | logistic");
    const Model model = Model::fit(pipeline, train_view(data, context), data.schema, context);
    model.save("names.eco");
    const Prediction answer = Model::load("names.eco").predict({data.x, data.domain}, context);
    const bool done = all_there() && static_cast<Index>(answer.index.size()) == data.rows() && !model.inspect().empty();
    return done ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "names: %s (%s)\n", error.what(), error.code().c_str());
    return exit_code(error.kind());
  }
}
