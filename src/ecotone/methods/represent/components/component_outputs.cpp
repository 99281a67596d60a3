#include "ecotone/methods/represent/components/component_outputs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ecotone/base/error.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

/// This many classes are never too many, however few the rows.
constexpr Index few_classes = 50;

/// Equal numbers form one class.
void make_classes(const Vector& values, ChosenOutput& output) {
  std::map<double, std::int32_t> order;
  for (const double value : values) order.emplace(value, 0);
  std::int32_t next = 0;
  for (auto& entry : order) entry.second = next++;
  for (const double value : values) output.classes.push_back(order.at(value));
  output.count = next;
}

/// With this many classes, few pairs of rows share one, and a factorisation of that size is needed.
void check_class_count(const ComponentKind& kind, const ChosenOutput& output, bool numbers, Index rows,
                       const Context& context) {
  if (output.count <= few_classes || 2 * output.count <= rows) return;
  if (numbers)
    option_error("bad_option",
                 "{}: output_kernel=delta makes {} classes of the numeric labels of {} rows; use output_kernel=rbf",
                 kind.name, output.count, rows);
  context.warn(
      "many_classes",
      "{}: the labels of {} rows have {} classes; if they are numbers, use --task regress and output_kernel=rbf",
      kind.name, rows, output.count);
}

bool all_equal(const Labels& y) {
  if (y.task == Task::regress) return (y.value.array() == y.value[0]).all();
  return std::all_of(y.index.begin(), y.index.end(), [&](std::int32_t c) { return c == y.index[0]; });
}

double sigma_of(const ComponentKind& kind, const Labels& y, const Context& context) {
  const Bandwidth found = median_bandwidth(ConstMatrixView(y.value), context);
  if (!std::isfinite(found.sigma))
    data_error("non_finite", "{}: the distances between labels overflow; scale the labels", kind.name);
  if (found.fallback && !all_equal(y))
    context.note("{}: most distances between labels are 0; output_sigma is the median of the others, {:.4g}", kind.name,
                 found.sigma);
  return found.sigma;
}

}  // namespace

ChosenOutput choose_output(const ComponentKind& kind, const Labels& y, const ComponentStageOptions& options,
                           ComponentReport& report, const Context& context) {
  const bool classes = y.task == Task::classify;
  ChosenOutput output;
  output.kernel = options.output_kernel;
  if (output.kernel == OutputKernel::automatic) output.kernel = classes ? OutputKernel::delta : OutputKernel::rbf;
  require_finite_labels(kind.name, y);
  report.output_kernel = output.kernel == OutputKernel::delta ? "delta"
                         : output.kernel == OutputKernel::rbf ? "rbf"
                                                              : "linear";
  if (classes && output.kernel != OutputKernel::delta)
    option_error("bad_option",
                 "{}: output_kernel={} needs numeric labels, but they are {} classes; use delta or --task regress",
                 kind.name, report.output_kernel, y.classes.size());
  if (classes) {
    output.classes = y.index;
    output.count = static_cast<Index>(y.classes.size());
  } else if (output.kernel == OutputKernel::delta) {
    make_classes(y.value, output);
  } else if (output.kernel == OutputKernel::rbf) {
    output.sigma = options.output_sigma.is_auto() ? sigma_of(kind, y, context) : *options.output_sigma.value;
    report.output_sigma = output.sigma;
  }
  output.constant = all_equal(y);
  check_class_count(kind, output, !classes, y.size(), context);
  return output;
}

OutputFactor factor_of(const ChosenOutput& output, const Labels& y, const Context& context) {
  if (output.kernel == OutputKernel::delta) return delta_output(output.classes, output.count);
  if (output.kernel == OutputKernel::linear) return linear_output(y.value);
  return rbf_output(y.value, output.sigma, context);
}

}  // namespace ecotone
