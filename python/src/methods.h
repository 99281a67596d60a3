#pragma once

#include <nanobind/nanobind.h>

namespace ecotone::python {

void bind_methods(nanobind::module_& module);

}  // namespace ecotone::python
