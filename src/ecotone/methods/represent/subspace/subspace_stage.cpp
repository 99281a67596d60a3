#include "ecotone/methods/represent/subspace/subspace_stage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr double share_kept = 0.9;
constexpr Index most_basis_columns = 5000;

/// All rows of one role.
GroupMoments pooled_rows(const TrainView& view, const std::vector<GroupMoments>& groups, Role role) {
  GroupMoments pool(view.x.cols(), ScatterKind::full);
  for (Index e = 0; e < std::ssize(groups); ++e)
    if (view.role[at(e)] == role) pool.merge(groups[at(e)]);
  return pool;
}

/// Whether there are two rows or more that differ beyond rounding.
bool has_directions(const GroupMoments& pool) {
  constexpr double rounding = 1e-24;  // of a mean's square
  return pool.count > 1 && (pool.squares().array() > rounding * pool.count * pool.mean.array().square()).any();
}

void warn_of_flat_target(const GroupMoments& target, const Context& context) {
  context.warn("few_target_rows", "subspace: the target has {}; the directions are those within all domains instead",
               target.count < 2 ? "1 row, fewer than the 2 that directions need"
                                : fmt::format("{:.0f} rows that do not vary", target.count));
}

/// As many directions as rows leave after their means: those of the target, or those of all domains, each around its
/// own mean.
Index most_directions(const GroupMoments& target, bool of_its_own, const std::vector<GroupMoments>& groups) {
  double free = of_its_own ? target.count - 1 : 0;
  if (!of_its_own)
    for (const GroupMoments& each : groups) free += std::max(0.0, each.count - 1);
  return std::max<Index>(1, static_cast<Index>(free));
}

/// z = (x - mean) P P' T for a domain with a basis of its own, else (x - mean) T.
GroupShift basis_shift(const GroupMoments& own, const Vector& mean, const PrincipalBasis& target, Index m,
                       const Context& context) {
  GroupShift shift{false, mean, target.vectors.leftCols(m), Vector::Zero(m)};
  if (own.count < static_cast<double>(m) + 1) return shift;
  shift.from = own.mean;
  shift.map = aligned_directions(principal_basis(own, context), target, m, context);
  return shift;
}

/// Says which source domains have no directions of their own in basis_shift.
void warn_of_few_source_rows(const TrainView& view, const std::vector<GroupMoments>& groups, Index m,
                             const Context& context) {
  Index few = 0, sources = 0, example = -1;
  for (Index e = 0; e < std::ssize(groups); ++e) {
    if (view.role[at(e)] != Role::source || groups[at(e)].count == 0) continue;
    ++sources;
    if (groups[at(e)].count >= static_cast<double>(m) + 1) continue;
    if (few++ == 0) example = e;
  }
  if (few == 0) return;
  context.warn("few_domain_rows",
               "subspace: {} of {} source domains have fewer rows than the {} that {} directions of their own need "
               "('{}' has {:g}), so they take those that the others are aligned with",
               few, sources, m + 1, m, view.domain.names[at(example)], groups[at(example)].count);
}

Index directions_wanted(const SubspaceOptions& options, const PrincipalBasis& target, Index most, Index cols) {
  if (options.components.is_auto()) return directions_for(target, share_kept, std::min(cols, most));
  const double m = *options.components.value;
  if (m != std::floor(m) || m > static_cast<double>(cols))
    option_error("bad_option", "subspace: components must be a whole number of at most the {} columns, got {}", cols,
                 m);
  return static_cast<Index>(m);
}

}  // namespace

Subspace::Subspace(Parts parts, const SubspaceOptions& options)
    : parts_(std::make_shared<const Parts>(std::move(parts))), options_(options) {}

StageResult Subspace::fit(const TrainView& view, const SubspaceOptions& options, const Context& context, FitCache&) {
  const Index d = view.x.cols();
  if (d > most_basis_columns)
    data_error("too_many_columns",
               "subspace: {} columns are more than the {} that covariances are made of; use kpca kernel=linear first",
               d, most_basis_columns);
  require_finite_features("subspace", view.x, view.origin, context);
  const auto size = static_cast<std::size_t>(d);
  require_memory((2 * view.domain.names.size() + 10) * size * size * sizeof(double), "subspace", "the covariances",
                 "use fewer columns");
  const std::vector<GroupMoments> groups = group_moments(view.x, view.domain.index, view.domain.count(),
                                                         weights_of_all(view), ScatterKind::full, "subspace", context);
  Parts parts;
  parts.names = view.domain.names;
  parts.rows.resize(std::ssize(groups));
  for (Index e = 0; e < parts.rows.size(); ++e) parts.rows[e] = groups[at(e)].count;
  parts.prior = moment_prior(groups, "subspace");
  if (!parts.prior.within.allFinite() || !parts.prior.mean.allFinite())
    data_error("non_finite", "subspace: the values are too large for covariances; add scale before it");
  const GroupMoments target = pooled_rows(view, groups, Role::target);
  const GroupMoments sources = pooled_rows(view, groups, Role::source);
  const bool of_its_own = has_directions(target);
  if (target.count > 0 && !of_its_own) warn_of_flat_target(target, context);
  const PrincipalBasis basis =
      of_its_own ? principal_basis(target, context) : principal_basis(parts.prior.within, context);
  const Index m = directions_wanted(options, basis, most_directions(target, of_its_own, groups), d);
  if (!options.pool_sources) warn_of_few_source_rows(view, groups, m, context);
  for (Index e = 0; e < std::ssize(groups); ++e) {
    const bool of_target = view.role[at(e)] == Role::target;
    const bool pool = options.pool_sources && !of_target;
    const GroupMoments& own = of_target ? target : pool ? sources : groups[at(e)];
    if (of_target)
      parts.shifts.push_back({false, of_its_own ? target.mean : shrunk_mean(parts.prior, target, std::nullopt),
                              basis.vectors.leftCols(m), Vector::Zero(m)});
    else
      parts.shifts.push_back(basis_shift(own, shrunk_mean(parts.prior, own, std::nullopt), basis, m, context));
  }
  parts.target = {basis.vectors.leftCols(m), basis.variance};
  Status status;
  if (gap_closed(basis, m))
    status = {false, fmt::format("directions {} and {} of the target have the same variance, so which {} are kept is "
                                 "arbitrary; use another number of components",
                                 m, m + 1, m)};
  tell_class_shares("subspace", view, context);
  return pass_on(std::make_shared<Subspace>(std::move(parts), options), view, context, std::move(status));
}

Features Subspace::transform(const Batch& batch, const Context& context) const {
  require_finite_features("subspace", batch.x, batch.origin, context);
  PlacedRows placed = place_rows(batch, parts_->names);
  std::vector<GroupShift> fresh;
  std::vector<GroupMoments> groups(placed.fresh.size(), GroupMoments(batch.x.cols(), ScatterKind::full));
  if (options_.fresh == NewDomain::sample && !groups.empty())
    groups = fresh_moments("subspace", batch, placed, context);
  for (const GroupMoments& each : groups)
    fresh.push_back(
        basis_shift(each, shrunk_mean(parts_->prior, each, std::nullopt), parts_->target, directions(), context));
  std::vector<std::string> names;
  for (Index j = 0; j < directions(); ++j) names.push_back(fmt::format("z{}", j + 1));
  return shifted_by_place(batch.x, std::move(placed.place), {parts_, &parts_->shifts}, std::move(fresh),
                          std::move(names), context);
}

StageState Subspace::save() const {
  StageState state;
  const Index count = parts_->rows.size(), d = parts_->prior.cols(), m = directions();
  save_domain_names(parts_->names, state);
  state.info["components"] = m;
  Matrix from(count, d), maps(count * d, m);
  for (Index e = 0; e < count; ++e) {
    from.row(e) = parts_->shifts[at(e)].from.transpose();
    maps.middleRows(e * d, d) = parts_->shifts[at(e)].map;
  }
  state.set("rows", parts_->rows);
  state.set("from", from);
  state.set("maps", maps);
  state.set("basis", parts_->target.vectors);
  state.set("variance", parts_->target.variance);
  save_prior(parts_->prior, state);
  return state;
}

std::shared_ptr<const Fitted> Subspace::load(const StageState& state, const SubspaceOptions& options,
                                             const StageInput& input) {
  const Index d = input.cols, m = state.count("components");
  if (m < 1 || m > d) file_error("bad_model", "'components' must be in [1, {}], is {}", d, m);
  Parts parts;
  parts.names = load_domain_names(state);
  const auto count = std::ssize(parts.names);
  parts.rows = state.vector("rows", count);
  const Matrix from = state.matrix("from", count, d), maps = state.matrix("maps", count * d, m);
  for (Index e = 0; e < count; ++e)
    parts.shifts.push_back({false, from.row(e).transpose(), maps.middleRows(e * d, d), Vector::Zero(m)});
  parts.target = {state.matrix("basis", d, m), state.vector("variance", d)};
  parts.prior = load_prior(state, d);
  return std::make_shared<Subspace>(std::move(parts), options);
}

Method subspace_method() {
  return make_method<SubspaceOptions, Subspace::fit, Subspace::load>(
      {.name = "subspace",
       .family = Family::represent,
       .summary = "Principal directions of every domain, aligned with those of the target.",
       .when = "when the same few directions carry the signal in every domain and are turned a little. It keeps less "
               "than it was given and takes differences of class shares away: in our study it was better than "
               "nothing in 32 and worse in 23 of 66 new domains, and lost 13 points on average on heart disease. Put "
               "scale before it.",
       .example = "impute | scale | subspace | logistic",
       .citation = "fernando2013",
       .routes = {{Route::streamed}},
       .plain = PlainForm{}});
}

}  // namespace ecotone
