#include "sums.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "call.h"
#include "data.h"
#include "ecotone/methods/sums/alike_parts.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/report/json/json.h"
#include "settings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ecotone::python {
namespace {

nb::bytes bytes_of(const std::vector<SumsPart>& parts) {
  const std::string bytes = parts_tensors(parts).bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

/// The parts of all files, each given as its bytes.
std::vector<SumsPart> parts_of(const std::vector<nb::bytes>& files) {
  std::vector<SumsPart> parts;
  for (const nb::bytes& file : files)
    for (SumsPart& part : parts_from(TensorFile::parse(std::string(file.c_str(), file.size()), "sums")))
      parts.push_back(std::move(part));
  return in_order(std::move(parts));
}

nb::bytes partial(const Data& data, const std::string& text, const Model* behind, int min_rows,
                  const std::string& source, const Settings& settings) {
  const Pipeline pipeline = Pipeline::parse(text);
  const SumsPart part = call(settings, Size::any, [&](const Context& context) {
    return make_part(pipeline, data.set, behind, {.min_rows = min_rows, .source = source}, context);
  });
  return bytes_of({part});
}

nb::bytes merge(const std::vector<nb::bytes>& files, const Settings& settings) {
  const std::vector<SumsPart> parts = parts_of(files);
  call(settings, Size::small, [&](const Context& context) { warn_of_alike_parts(parts, context); });
  return bytes_of(parts);
}

Model finish(const std::vector<nb::bytes>& files, const Model* behind, const Settings& settings) {
  const std::vector<SumsPart> parts = parts_of(files);
  return call(settings, Size::any, [&](const Context& context) { return finish_parts(parts, behind, context); });
}

}  // namespace

void bind_sums(nb::module_& module) {
  module.def("partial", partial, "data"_a, "pipeline"_a, "behind"_a.none(), "min_rows"_a, "source"_a, "settings"_a);
  module.def("merge", merge, "files"_a, "settings"_a);
  module.def(
      "require_sums", [](const std::string& text) { require_sums(Pipeline::parse(text)); }, "pipeline"_a);
  module.def("finish", finish, "files"_a, "behind"_a.none(), "settings"_a);
  module.def(
      "inspect_sums", [](const std::vector<nb::bytes>& files) { return to_json(parts_of(files)).dump(); }, "files"_a);
}

}  // namespace ecotone::python
