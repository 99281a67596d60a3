#pragma once

#include "ecotone/kernels/kernel.h"
#include "ecotone/methods/kernel_fields.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// The options of a learner's kernel.
struct KernelOptions {
  LearnerKernelKind kernel = LearnerKernelKind::automatic;
  AutoNumber sigma{};
  int degree = 3;
  double coef0 = 1;
  double scale = 1;
};

/// From an option struct that has these members.
template <class O>
KernelOptions kernel_options(const O& options) {
  return {options.kernel, options.sigma, options.degree, options.coef0, options.scale};
}

/// The kernel for the labelled rows of a view: kernel=auto is decided by where the features come from, sigma=auto is
/// the median distance.
Kernel learner_kernel(const KernelOptions& options, const TrainView& view, const Context& context);

/// Under the names `kernel` and `sigma`.
void save_kernel(const Kernel& kernel, StageState& state);
/// File error `bad_model` when there is none, or when the options ask for another.
Kernel load_kernel(const KernelOptions& options, const StageState& state);

}  // namespace ecotone
