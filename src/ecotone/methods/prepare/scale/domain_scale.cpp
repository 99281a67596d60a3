#include "ecotone/methods/prepare/scale/domain_scale.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "ecotone/methods/domain_samples.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/sums/summed_domains.h"

namespace ecotone {
namespace {

/// The row of m~ that options ask for: the domain's own, or the shared one.
Vector centre_of(const MomentPrior& prior, const GroupMoments& group, const ScaleOptions& options) {
  if (options.centre == ScaleCentre::pooled) return prior.mean;
  return shrunk_mean(prior, group, options.shrink_mean.value);
}

/// Whether a value is its mean but for what rounding leaves, which must not be learned from.
bool is_rounding(double apart, double mean) { return std::abs(apart) <= 1e-12 * std::abs(mean); }

/// Those of training first, then those of the new domains.
void append(Matrix& table, const Matrix& more) {
  Matrix both(table.rows() + more.rows(), table.cols());
  both << table, more;
  table = std::move(both);
}

void warn_of_identity(const std::vector<std::string>& columns, const MomentPrior& prior, const Context& context) {
  std::vector<std::string> names;
  for (Index j = 0; j < prior.cols(); ++j)
    if (prior.variance[j] == 0 && prior.between[j] > 0) names.push_back(columns[at(j)]);
  if (names.empty()) return;
  const std::string text =
      fmt::format("'{}'{}", names[0], names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1));
  context.warn("constant_in_domains",
               "scale: {} {} one value in every domain, so with by=domain nothing is left of {} in training", text,
               names.size() == 1 ? "has" : "have", names.size() == 1 ? "it" : "them");
}

void require_finite_moments(const std::vector<GroupMoments>& groups, const Features& x) {
  for (const GroupMoments& each : groups)
    for (Index j = 0; j < x.cols(); ++j)
      if (!std::isfinite(each.mean[j]) || !std::isfinite(each.scatter(j, 0)))
        data_error("non_finite", "scale: column '{}' is too large to scale", x.name(j));
}

Vector prior_vector(const StageState& state, const char* name, Index cols) {
  Vector found = state.vector(name, cols);
  if ((found.array() < 0).any()) file_error("bad_model", "array '{}' must be >= 0", name);
  return found;
}

/// What is fitted to the moments of all domains.
DomainScale::Parts parts_of(std::vector<std::string> names, const std::vector<GroupMoments>& groups,
                            const ScaleOptions& options) {
  const auto domains = std::ssize(groups);
  DomainScale::Parts parts{std::move(names), Vector(domains), {}, {}, moment_prior(groups, "scale")};
  parts.mean.resize(domains, parts.prior.cols());
  parts.scale.resize(domains, parts.prior.cols());
  for (Index e = 0; e < domains; ++e) {
    const GroupMoments& own = groups[at(e)];
    parts.rows[e] = own.count;
    parts.mean.row(e) = centre_of(parts.prior, own, options).transpose();
    parts.scale.row(e) = shrunk_deviation(parts.prior, own, options.shrink_sd.value).transpose();
  }
  return parts;
}

}  // namespace

DomainScale::DomainScale(Parts parts, const ScaleOptions& options) : parts_(std::move(parts)), options_(options) {}

StageResult DomainScale::fit(const TrainView& view, const ScaleOptions& options, const Context& context) {
  require_finite_features("scale", view.x, view.origin, context);
  const std::vector<GroupMoments> groups = group_moments(view.x, view.domain.index, view.domain.count(),
                                                         weights_of_all(view), ScatterKind::diagonal, "scale", context);
  require_finite_moments(groups, view.x);
  Parts parts = parts_of(view.domain.names, groups, options);
  warn_of_identity(view.x.names(), parts.prior, context);
  tell_class_shares("scale by=domain", view, context);
  return pass_on(std::make_shared<DomainScale>(std::move(parts), options), view, context);
}

SumsResult DomainScale::fit_on_sums(const RowSums& sums, const ScaleOptions& options, const Context& context) {
  constexpr const char* who = "scale by=domain";
  const SummedDomains domains = summed_domains(who, sums, ScatterKind::diagonal, context);
  Parts parts = parts_of(domains.names, domains.groups, options);
  warn_of_identity(sums.moments.features, parts.prior, context);
  tell_class_shares(who, sums, context);
  std::vector<GroupShift> shifts;
  for (Index e = 0; e < parts.rows.size(); ++e) {
    Matrix factor = parts.scale.row(e).cwiseInverse().asDiagonal();
    const GroupMoments& own = domains.groups[at(e)];
    for (Index j = 0; j < factor.rows(); ++j)
      if (own.scatter(j, 0) == 0 && is_rounding(parts.mean(e, j) - own.mean[j], own.mean[j])) factor(j, j) = 0;
    shifts.push_back({false, parts.mean.row(e).transpose(), std::move(factor), Vector::Zero(parts.mean.cols())});
  }
  RowSums next = shifted_sums(sums, parts.names, shifts, context);
  return {std::make_shared<DomainScale>(std::move(parts), options), std::move(next)};
}

Features DomainScale::transform(const Batch& batch, const Context& context) const {
  require_finite_features("scale", batch.x, batch.origin, context);
  PlacedRows placed = place_rows(batch, parts_.names);
  Matrix mean = parts_.mean, scale = parts_.scale;
  std::vector<GroupMoments> groups(placed.fresh.size(), GroupMoments(batch.x.cols(), ScatterKind::diagonal));
  if (options_.fresh == NewDomain::sample && !groups.empty())
    groups =
        group_moments(batch.x, placed.among_fresh(), std::ssize(groups), {}, ScatterKind::diagonal, "scale", context);
  require_finite_moments(groups, batch.x);
  Matrix means(std::ssize(groups), mean.cols()), scales(std::ssize(groups), mean.cols());
  for (Index g = 0; g < means.rows(); ++g) {
    means.row(g) = centre_of(parts_.prior, groups[at(g)], options_).transpose();
    scales.row(g) = shrunk_deviation(parts_.prior, groups[at(g)], options_.shrink_sd.value).transpose();
  }
  append(mean, means);
  append(scale, scales);
  std::vector<Index> constant;  // in every domain of training
  for (Index j = 0; j < mean.cols(); ++j)
    if (parts_.prior.variance[j] == 0) constant.push_back(j);
  const auto map = [mean, scale, constant](ConstMatrixMap x, std::span<const std::int32_t> place, MatrixView z) {
    for (Index i = 0; i < x.rows(); ++i) {
      const Index e = place[at(i)];
      z.row(i) = (x.row(i) - mean.row(e)).array() / scale.row(e).array();
      for (const Index j : constant)
        if (is_rounding(x(i, j) - mean(e, j), mean(e, j))) z(i, j) = 0;
    }
  };
  return map_by_place(batch.x, std::move(placed.place), batch.x.cols(), batch.x.names(), map, context);
}

StageState DomainScale::save() const {
  StageState state;
  save_domain_names(parts_.names, state);
  std::vector<SampleDistance> distances;
  for (Index e = 0; e < parts_.rows.size(); ++e)
    distances.push_back(sample_distance(parts_.prior, parts_.mean.row(e).transpose(), parts_.scale.row(e).transpose()));
  save_samples(parts_.names, parts_.rows, distances, state);
  state.set("rows", parts_.rows);
  state.set("mean", parts_.mean);
  state.set("scale", parts_.scale);
  state.set("shared_mean", parts_.prior.mean);
  state.set("shared_variance", parts_.prior.variance);
  state.set("between", parts_.prior.between);
  state.set("kappa", parts_.prior.kappa);
  return state;
}

std::shared_ptr<const Fitted> DomainScale::load(const StageState& state, const ScaleOptions& options,
                                                const StageInput& input) {
  Parts parts;
  parts.names = load_domain_names(state);
  const auto count = std::ssize(parts.names);
  parts.rows = prior_vector(state, "rows", count);
  parts.mean = state.matrix("mean", count, input.cols);
  parts.scale = state.matrix("scale", count, input.cols);
  if ((parts.scale.array() < std::numeric_limits<double>::min()).any())
    file_error("bad_model", "array 'scale' must be > 0");
  parts.prior = {state.vector("shared_mean", input.cols),
                 prior_vector(state, "shared_variance", input.cols),
                 prior_vector(state, "between", input.cols),
                 prior_vector(state, "kappa", input.cols),
                 {}};
  return std::make_shared<DomainScale>(std::move(parts), options);
}

}  // namespace ecotone
