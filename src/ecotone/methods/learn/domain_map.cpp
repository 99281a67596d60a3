#include "ecotone/methods/learn/domain_map.h"

#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/domain_sample.h"

namespace ecotone {

DomainRowsOf labelled_rows(const TrainView& view) {
  DomainNumbers found = domains_of_labelled(view);
  return {view.labelled_x(), std::move(found.domain), std::move(found.names)};
}

DomainRowsOf batch_rows(const Batch& batch) {
  DomainNumbers found = batch_domains(batch);
  return {batch.x, std::move(found.domain), std::move(found.names)};
}

DistributionMapFit fit_domain_map(const char* who, const Kernel& kernel, const DomainRowsOf& rows,
                                  const AutoNumber& sigma1, const LowRankOptions& options, const Context& context,
                                  double sigma1_factor) {
  DistributionMapFit fit =
      fit_distribution_map(kernel, rows.rows(), sigma1.value.value_or(0), options, context, sigma1_factor);
  warn_of_training_domains(who, rows.names, fit.width, context);
  return fit;
}

void warn_of_rough_map(const char* who, Index rank, double residual, const Context& context) {
  constexpr double rough = 0.1;
  if (residual > rough)
    context.warn("rough_map", "{}: the map of rank {} leaves out {:.2g} of the kernel's trace; raise rank or sigma",
                 who, rank, residual);
}

Features batch_domain_map(const char* who, const DistributionMap& map, const DomainRowsOf& rows,
                          const Context& context) {
  const DomainPlaces places = map.place(rows.rows(), context);
  warn_of_batch_domains(who, map.domains_of(places), places.rows, rows.names, context);
  return map.map(rows.rows(), places);
}

void save_landmarks(const std::string& prefix, const LowRankMap& map, StageState& state) {
  if (map.rank() == 0) return;
  state.set(prefix + "_origin", map.origin());
  state.set(prefix + "_landmarks", map.points());
  state.set(prefix + "_factor", map.lower());
}

LowRankMap load_landmarks(const std::string& prefix, const Kernel& kernel, const StageState& state, Index cols) {
  Matrix points = state.matrix(prefix + "_landmarks", -1, cols);
  Vector origin = state.vector(prefix + "_origin", points.cols());
  Matrix factor = state.matrix(prefix + "_factor", points.rows(), points.rows());
  try {
    return LowRankMap::of_landmarks(kernel, std::move(origin), std::move(points), std::move(factor));
  } catch (const Error& error) {
    file_error("bad_model", "'{}': {}", prefix, error.what());
  }
}

void save_domain_map(const DistributionMap& map, StageState& state) {
  const DistributionMapParts& parts = map.parts();
  state.info["sigma1"] = parts.sigma1;
  if (parts.origin.size() > 0) state.set("mean_origin", parts.origin);
  state.set("domain_centre", parts.centre);
  state.set("domain_basis", parts.basis);
  state.set("domain_coordinates", parts.coordinates);
  save_landmarks("mean", parts.means, state);
  save_landmarks("domain", parts.domains, state);
  save_landmarks("row", parts.rows, state);
}

DistributionMap load_domain_map(const Kernel& kernel, const StageState& state, Index cols) {
  DistributionMapParts parts;
  parts.kernel = kernel;
  parts.sigma1 = state.number("sigma1");
  const bool linear = kernel.kind == KernelKind::linear;
  const bool rbf = kernel.kind == KernelKind::rbf;
  if (linear) {
    parts.origin = state.vector("mean_origin", cols);
  } else {
    parts.means = load_landmarks("mean", kernel, state, cols);
  }
  parts.basis = state.matrix("domain_basis", linear ? cols : parts.means.rank(), -1);
  parts.centre = state.vector("domain_centre", parts.basis.rows());
  parts.coordinates = state.matrix("domain_coordinates", -1, parts.basis.cols());
  try {
    if (!rbf) {
      const Kernel k1{.kind = KernelKind::rbf, .sigma = parts.sigma1};
      parts.domains = load_landmarks("domain", k1, state, parts.basis.cols());
    }
    if (!linear || state.has("row_landmarks"))
      parts.rows =
          load_landmarks("row", DistributionMap::kernel_of_rows(kernel), state, rbf ? cols + parts.basis.cols() : cols);
    return DistributionMap(std::move(parts));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::file) throw;
    file_error("bad_model", "{}", error.what());
  }
}

}  // namespace ecotone
