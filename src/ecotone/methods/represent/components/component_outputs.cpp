#include "ecotone/methods/represent/components/component_outputs.h"

#include <map>

#include "ecotone/base/error.h"
#include "ecotone/kernels/bandwidth.h"

namespace ecotone {
namespace {

/// Equal numbers are one class.
void make_classes(const Vector& values, ChosenOutput& output) {
  std::map<double, std::int32_t> order;
  for (const double value : values) order.emplace(value, 0);
  std::int32_t next = 0;
  for (auto& entry : order) entry.second = next++;
  for (const double value : values) output.classes.push_back(order.at(value));
  output.count = next;
}

}  // namespace

ChosenOutput choose_output(const ComponentKind& kind, const Labels& y, const ComponentStageOptions& options,
                           ComponentReport& report, const Context& context) {
  const bool classes = y.task == Task::classify;
  ChosenOutput output;
  output.kernel = options.output_kernel;
  if (output.kernel == OutputKernel::automatic) output.kernel = classes ? OutputKernel::delta : OutputKernel::rbf;
  if (!classes && !y.value.allFinite()) data_error("non_finite", "{}: the labels hold an infinite value", kind.name);
  report.output_kernel = output.kernel == OutputKernel::delta ? "delta"
                         : output.kernel == OutputKernel::rbf ? "rbf"
                                                              : "linear";
  if (classes && output.kernel != OutputKernel::delta)
    option_error("bad_option",
                 "{}: output_kernel={} needs numbers, the labels are {} classes; use delta or --task "
                 "regress",
                 kind.name, report.output_kernel, y.classes.size());
  if (classes) {
    output.classes = y.index;
    output.count = static_cast<Index>(y.classes.size());
  } else if (output.kernel == OutputKernel::delta) {
    make_classes(y.value, output);
  } else if (output.kernel == OutputKernel::rbf) {
    output.sigma = options.output_sigma.is_auto() ? median_bandwidth(ConstMatrixView(y.value), context).sigma
                                                  : *options.output_sigma.value;
    report.output_sigma = output.sigma;
  }
  return output;
}

OutputFactor factor_of(const ChosenOutput& output, const Labels& y, const Context& context) {
  if (output.kernel == OutputKernel::delta) return delta_output(output.classes, output.count);
  if (output.kernel == OutputKernel::linear) return linear_output(y.value);
  return rbf_output(y.value, output.sigma, context);
}

}  // namespace ecotone
