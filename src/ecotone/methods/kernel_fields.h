#pragma once

#include <tuple>

#include "ecotone/base/options.h"

namespace ecotone {

/// The options of a kernel other than its kind, for option structs with the members sigma, degree, coef0 and scale.
template <class O>
constexpr auto kernel_parameter_fields() {
  return std::tuple{
      field("sigma", &O::sigma, "Width of rbf and laplacian; auto: the median distance between at most 1,000 rows",
            above(0.0)),
      common_field("degree", &O::degree, "Degree of poly", between(1, 100)),
      common_field("coef0", &O::coef0, "Constant added by poly", at_least(0.0)),
      common_field("scale", &O::scale, "Factor of x.z in poly", above(0.0))};
}

/// The options of a kernel, for option structs that also have the member kernel.
template <class O>
constexpr auto kernel_fields() {
  return std::tuple_cat(
      std::tuple{field("kernel", &O::kernel,
                       "rbf: exp(-|x - z|^2 / (2 sigma^2)); laplacian: exp(-|x - z|_1 / sigma); linear: x.z; poly: "
                       "(scale x.z + coef0)^degree",
                       one_of("rbf", "laplacian", "linear", "poly"))},
      kernel_parameter_fields<O>());
}

/// The kind of a learner's kernel.
enum class LearnerKernelKind { automatic, rbf, laplacian, linear, poly };

/// The same for learners, whose member kernel is a LearnerKernelKind.
template <class O>
constexpr auto learner_kernel_fields() {
  return std::tuple_cat(
      std::tuple{field("kernel", &O::kernel,
                       "rbf: exp(-|x - z|^2 / (2 sigma^2)); laplacian: exp(-|x - z|_1 / sigma); linear: x.z; poly: "
                       "(scale x.z + coef0)^degree; auto: linear directly after kpca, udica, coir and dica, whose "
                       "components are kernel coordinates, rbf elsewhere",
                       one_of("auto", "rbf", "laplacian", "linear", "poly"))},
      kernel_parameter_fields<O>());
}

}  // namespace ecotone
