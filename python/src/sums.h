#pragma once

#include <nanobind/nanobind.h>

namespace ecotone::python {

void bind_sums(nanobind::module_& module);

}  // namespace ecotone::python
