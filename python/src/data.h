#pragma once

#include <nanobind/nanobind.h>

#include "ecotone/data/dataset.h"

namespace ecotone::python {

/// A data set made from what Python holds: features first, then labels, domains and weights.
struct Data {
  Dataset set;
  bool has_domains = false;  ///< whether they were given
};

void bind_data(nanobind::module_& module);

}  // namespace ecotone::python
