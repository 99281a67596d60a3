#include "model.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "arrays.h"
#include "call.h"
#include "data.h"
#include "ecotone/choose/guard.h"
#include "ecotone/data/storage/csr_storage.h"
#include "ecotone/ecotone.h"
#include "ecotone/methods/one_answer.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/trust/expect.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ecotone::python {

namespace {

/// Up to this many values, a batch is predicted on the calling thread.
constexpr Index small_batch = 50'000;

struct Fit {
  Model model;
  Vector weight;  ///< of the labelled rows, as the last stage passes them on; empty: all 1
};

Fit fit(const std::string& text, const Data& data, bool guard, const Settings& settings) {
  const Pipeline pipeline = Pipeline::parse(text);
  return call(settings, Size::any, [&](const Context& context) {
    const TrainView view = train_view(data.set, context);
    Fit result = [&]() -> Fit {
      if (guard) return {guarded_fit(pipeline, view, data.set.schema, {}, context).model, {}};
      if (pipeline.predicts()) return {Model::fit(pipeline, view, data.set.schema, context), {}};
      Model::Passed passed = Model::fit_and_pass(pipeline, view, data.set.schema, context);
      return {std::move(passed.model), std::move(passed.next.weight)};
    }();
    if (pipeline.predicts()) warn_one_answer(result.model, view, context);
    context.check_cancelled();
    return result;
  });
}

nb::tuple fit_model(const std::string& text, const Data& data, bool guard, const Settings& settings) {
  Fit result = fit(text, data, guard, settings);
  nb::object weight = result.weight.size() == 0 ? nb::none() : numpy_array(std::move(result.weight));
  return nb::make_tuple(std::move(result.model), weight);
}

/// What the model will score on these rows, for a model that was fitted with `expect`: (JSON, text).
std::pair<std::string, std::string> expect_rows(const Model& model, const Data& data, const std::string& name,
                                                double level, const Settings& settings) {
  const Expectation found = call(settings, Size::any, [&](const Context& context) {
    const TargetSample sample{name, {data.set.x, std::nullopt}, {}};
    return expect_model(model, expect_basis(model, "the model"), sample, level, context);
  });
  return {to_json(std::vector{found}).dump(), expectations_text({found})};
}

Model remember(const Model& model, const Data& data, const Settings& settings) {
  return call(settings, Size::any, [&](const Context& context) {
    return model.with_note("expect", note_of(expect_basis(data.set, model.pipeline(), ExpectOptions{}, context)));
  });
}

Model refit(const Model& model, const Data& data, double strength, const Settings& settings) {
  return call(settings, Size::any,
              [&](const Context& context) { return model.refitted(train_view(data.set, context), strength, context); });
}

Batch batch_of(const Data& data) {
  return {data.set.x, data.has_domains ? std::optional<Domains>(data.set.domain) : std::nullopt};
}

Size size_of(const Data& data) { return data.set.rows() * data.set.x.cols() <= small_batch ? Size::small : Size::any; }

Prediction predict(const Model& model, const Data& data, const Settings& settings) {
  return call(settings, size_of(data), [&](const Context& context) { return model.predict(batch_of(data), context); });
}

/// (array, None, names), or for sparse features ((starts, columns, values), shape, names).
nb::tuple transform(const Model& model, const Data& data, const Settings& settings) {
  Features x;
  Matrix dense;
  call(settings, size_of(data), [&](const Context& context) {
    x = model.transform(batch_of(data), context);
    if (!x.is_sparse()) dense = x.to_matrix();
  });
  if (!x.is_sparse()) return nb::make_tuple(numpy_array(std::move(dense)), nb::none(), x.names());
  const Csr& csr = *x.storage().csr();
  const auto starts = numpy_array(std::vector<std::int64_t>(csr.row_start.begin(), csr.row_start.end()));
  return nb::make_tuple(nb::make_tuple(starts, numpy_array(std::vector<std::int32_t>(csr.column)),
                                       numpy_array(std::vector<double>(csr.value))),
                        nb::make_tuple(x.rows(), x.cols()), x.names());
}

/// (array, names of the columns that reach the learner).
nb::tuple contributions(const Model& model, const Data& data, const Settings& settings) {
  Contributions found = call(settings, size_of(data),
                             [&](const Context& context) { return model.contributions(batch_of(data), context); });
  return nb::make_tuple(numpy_array(std::move(found.values)), found.columns);
}

nb::bytes bytes_of(const Model& model) {
  const std::string bytes = model.bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

Model from_bytes(const nb::bytes& bytes) {
  return Model::from_tensors(TensorFile::parse(std::string(bytes.c_str(), bytes.size()), "the model's bytes"));
}

std::vector<std::pair<bool, std::string>> statuses_of(const Model& model) {
  std::vector<std::pair<bool, std::string>> statuses;
  for (const Status& status : model.statuses()) statuses.emplace_back(status.converged, status.text);
  return statuses;
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Settings>(
      module, "Settings",
      "Threads (0: all), seed, the object that messages go to, and one that speaks for ranks, or None.")
      .def(nb::init<int, std::uint64_t, nb::object, nb::object>(), "threads"_a, "seed"_a, "listener"_a,
           "ranks"_a.none() = nb::none());
  nb::class_<Prediction>(module, "Prediction", "What a model answers for rows.")
      .def_prop_ro("index", [](const Prediction& p) { return numpy_array(std::vector<std::int32_t>(p.index)); })
      .def_prop_ro("probability", [](const Prediction& p) { return numpy_array(Matrix(p.probability)); })
      .def_prop_ro("value", [](const Prediction& p) { return numpy_array(Vector(p.value)); })
      .def_prop_ro("set",
                   [](const Prediction& p) {
                     // As numbers: 1 where a class is in the set.
                     return numpy_array(Matrix(p.set.cast<double>().matrix()));
                   })
      .def_prop_ro("low", [](const Prediction& p) { return numpy_array(Vector(p.low)); })
      .def_prop_ro("high", [](const Prediction& p) { return numpy_array(Vector(p.high)); })
      .def_prop_ro("variance", [](const Prediction& p) { return numpy_array(Vector(p.variance)); })
      .def_prop_ro("score", [](const Prediction& p) { return numpy_array(decision_scores(p)); });
  nb::class_<Model>(module, "Model", "A fitted pipeline.")
      .def_static("fit", fit_model, "pipeline"_a, "data"_a, "guard"_a, "settings"_a)
      .def_static(
          "load", [](const std::string& path) { return Model::load(path); }, "path"_a,
          nb::call_guard<nb::gil_scoped_release>())
      .def_static("from_bytes", from_bytes, "bytes"_a)
      .def(
          "save", [](const Model& model, const std::string& path) { model.save(path); }, "path"_a,
          nb::call_guard<nb::gil_scoped_release>())
      .def("bytes", bytes_of)
      .def("__getstate__", bytes_of)
      .def("__setstate__", [](Model& model, const nb::bytes& bytes) { new (&model) Model(from_bytes(bytes)); })
      .def("predict", predict, "data"_a, "settings"_a)
      .def("transform", transform, "data"_a, "settings"_a)
      .def("contributions", contributions, "data"_a, "settings"_a)
      .def("expect", expect_rows, "data"_a, "name"_a, "level"_a, "settings"_a)
      .def("remember", remember, "data"_a, "settings"_a)
      .def("refit", refit, "data"_a, "strength"_a, "settings"_a)
      .def("inspect", [](const Model& model) { return model.inspect().dump(); })
      .def_prop_ro("pipeline", [](const Model& model) { return model.pipeline().text(); })
      .def_prop_ro("predicts", [](const Model& model) { return model.pipeline().predicts(); })
      .def_prop_ro("task", [](const Model& model) { return std::string(task_name(model.task())); })
      .def_prop_ro("classes", &Model::classes)
      .def_prop_ro("features", &Model::features)
      .def_prop_ro("columns",
                   [](const Model& model) {
                     std::vector<std::pair<std::string, std::optional<std::vector<std::string>>>> columns;
                     for (const Column& column : model.schema().columns)
                       columns.emplace_back(column.name, column.kind == ColumnKind::categorical
                                                             ? std::optional(column.levels)
                                                             : std::nullopt);
                     return columns;
                   })
      .def_prop_ro("domains", &Model::domains)
      .def_prop_ro("label_name", [](const Model& model) { return model.schema().label; })
      .def_prop_ro("domain_name", [](const Model& model) { return model.schema().domain; })
      .def_prop_ro("statuses", statuses_of);
}

}  // namespace ecotone::python
