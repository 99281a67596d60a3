#include "ecotone/methods/learn/learner_kernel.h"

#include <string>

#include "ecotone/base/error.h"
#include "ecotone/kernels/bandwidth.h"

namespace ecotone {
namespace {

KernelKind kind_of(LearnerKernelKind choice, bool kernel_coordinates) {
  switch (choice) {
    case LearnerKernelKind::automatic:
      return kernel_coordinates ? KernelKind::linear : KernelKind::rbf;
    case LearnerKernelKind::rbf:
      return KernelKind::rbf;
    case LearnerKernelKind::laplacian:
      return KernelKind::laplacian;
    case LearnerKernelKind::linear:
      return KernelKind::linear;
    case LearnerKernelKind::poly:
      return KernelKind::poly;
  }
  internal_error("unknown kernel choice {}", static_cast<int>(choice));
}

}  // namespace

Kernel learner_kernel(const KernelOptions& options, const TrainView& view, const Context& context) {
  Kernel kernel{kind_of(options.kernel, view.kernel_coordinates), options.sigma.value.value_or(1), options.degree,
                options.coef0, options.scale};
  if (shift_invariant(kernel) && options.sigma.is_auto() && view.labelled() > 0)
    kernel.sigma = median_bandwidth(view.labelled_x(), kernel.kind, context).sigma;
  return kernel;
}

void save_kernel(const Kernel& kernel, StageState& state) {
  state.info["kernel"] = kernel_name(kernel.kind);
  state.info["sigma"] = kernel.sigma;
}

Kernel load_kernel(const KernelOptions& options, const StageState& state) {
  const std::string name = state.text("kernel");
  for (const KernelKind kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
    if (name != kernel_name(kind)) continue;
    if (options.kernel != LearnerKernelKind::automatic && kind != kind_of(options.kernel, false)) break;
    const Kernel kernel{kind, state.number("sigma"), options.degree, options.coef0, options.scale};
    try {
      check_kernel(kernel);
    } catch (const Error& error) {
      file_error("bad_model", "{}", error.what());
    }
    return kernel;
  }
  file_error("bad_model", "'kernel' is '{}', which its options do not allow", name);
}

}  // namespace ecotone
