#pragma once

#include "ecotone/kernels/kernel.h"
#include "ecotone/methods/kernel_fields.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// A learner's options of its kernel.
struct KernelOptions {
  KernelChoice kernel = KernelChoice::automatic;
  AutoNumber sigma{};
  int degree = 3;
  double coef0 = 1;
  double scale = 1;
};

/// Of an option struct that has these members.
template <class O>
KernelOptions kernel_options(const O& options) {
  return {options.kernel, options.sigma, options.degree, options.coef0, options.scale};
}

/// The kernel for the labelled rows of a view: `auto` settled by where the features come from, an automatic width by
/// the median.
Kernel learner_kernel(const KernelOptions& options, const TrainView& view, const Context& context);

/// Under the names `kernel` and `sigma`.
void save_kernel(const Kernel& kernel, StageState& state);
/// File error `bad_model` when it is none, or not the one that the options ask for.
Kernel load_kernel(const KernelOptions& options, const StageState& state);

}  // namespace ecotone
