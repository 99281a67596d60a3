#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "data.h"
#include "ecotone/ecotone.h"
#include "functions.h"
#include "methods.h"
#include "model.h"
#include "sums.h"

namespace nb = nanobind;

NB_MODULE(_native, module) {
  using namespace ecotone::python;
  module.doc() = "The library behind the package ecotone. Not stable: use ecotone.";
  module.attr("version") = std::string(ecotone::version);
  nb::set_leak_warnings(false);  // what lives when the interpreter ends is not a leak
  translate_errors();
  bind_methods(module);
  bind_model(module);
  bind_data(module);
  bind_functions(module);
  bind_sums(module);
}
