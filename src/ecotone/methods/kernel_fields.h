#pragma once

#include <tuple>

#include "ecotone/base/options.h"

namespace ecotone {

/// The options of a kernel, for option structs with the members kernel, sigma, degree, coef0 and scale.
template <class O>
constexpr auto kernel_fields() {
  return std::tuple{
      field("kernel", &O::kernel,
            "rbf: exp(-|x - z|^2 / (2 sigma^2)); laplacian: exp(-|x - z|_1 / sigma); linear: x.z; poly: (scale x.z + "
            "coef0)^degree",
            one_of("rbf", "laplacian", "linear", "poly")),
      field("sigma", &O::sigma, "Width of rbf and laplacian; auto: the median distance of at most 1,000 rows",
            above(0.0)),
      field("degree", &O::degree, "Of poly", between(1, 100)), field("coef0", &O::coef0, "Of poly", at_least(0.0)),
      field("scale", &O::scale, "Of poly", above(0.0))};
}

}  // namespace ecotone
