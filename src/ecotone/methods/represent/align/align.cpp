#include "ecotone/methods/represent/align/align.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/linalg/row_product.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr Index most_aligned_columns = 5000;
constexpr double rows_per_aligned_column = 2;  // fewer rows of a domain cause a warning

Shrinkage shrinkage_of(const AlignOptions& options) {
  return {options.shrink_mean.value, std::nullopt, options.shrink_cov.value, options.ridge};
}

[[noreturn]] void refuse_large_values(const char* who) {
  data_error("non_finite", "{}: the values are too large for covariances; add scale before it", who);
}

/// Refuses covariances whose products overflow: no entry of A^1/2 B A^1/2 is larger than the product of the traces.
void require_finite_products(const char* who, const Matrix& a, const Matrix& b) {
  const bool finite = a.allFinite() && b.allFinite();
  if (!finite || !std::isfinite(4 * a.trace() * b.trace())) refuse_large_values(who);
}

/// Mean and covariance of a domain, shrunk.
struct DomainGaussian {
  Vector mean;
  Matrix covariance;
};

DomainGaussian gaussian_of(const MomentPrior& prior, const GroupMoments& group, const AlignOptions& options) {
  const Shrinkage shrinkage = shrinkage_of(options);
  return {shrunk_mean(prior, group, shrinkage.mean), shrunk_covariance(prior, group, shrinkage)};
}

std::vector<Index> domains_in_role(const Roles& roles, const std::vector<GroupMoments>& groups, Role role) {
  std::vector<Index> found;
  for (Index e = 0; e < std::ssize(roles); ++e)
    if (roles[at(e)] == role && groups[at(e)].count > 0) found.push_back(e);
  return found;
}

/// r = sum w m~, R = sum w (C~ + (m~ - r)(m~ - r)') over the targets, by their rows.
DomainGaussian target_reference(const std::vector<Index>& targets, const std::vector<GroupMoments>& groups,
                                const std::vector<DomainGaussian>& own) {
  if (targets.size() == 1) return own[at(targets[0])];
  double rows = 0;
  for (const Index t : targets) rows += groups[at(t)].count;
  DomainGaussian sum{Vector::Zero(own[0].mean.size()), Matrix::Zero(own[0].mean.size(), own[0].mean.size())};
  for (const Index t : targets) sum.mean += groups[at(t)].count / rows * own[at(t)].mean;
  for (const Index t : targets) {
    const Vector apart = own[at(t)].mean - sum.mean;
    sum.covariance += groups[at(t)].count / rows * (own[at(t)].covariance + apart * apart.transpose());
  }
  return sum;
}

DomainGaussian barycentre_of(const char* who, const std::vector<Index>& sources,
                             const std::vector<GroupMoments>& groups, const std::vector<DomainGaussian>& own,
                             DomainWeights by, Status& status, const Context& context) {
  Vector weights(std::ssize(sources));
  for (Index i = 0; i < weights.size(); ++i)
    weights[i] = by == DomainWeights::equal ? 1 : groups[at(sources[at(i)])].count;
  weights /= weights.sum();
  DomainGaussian found{Vector::Zero(own[0].mean.size()), {}};
  std::vector<Matrix> covariances;
  for (Index i = 0; i < weights.size(); ++i) {
    const DomainGaussian& each = own[at(sources[at(i)])];
    found.mean += weights[i] * each.mean;
    require_finite_products(who, each.covariance, each.covariance);
    covariances.push_back(each.covariance);
  }
  Barycentre barycentre = bures_barycentre(covariances, weights, context);
  if (!barycentre.converged)
    status = {false, fmt::format("the barycentre still changes by {:.2g} of itself after {} iterations",
                                 barycentre.change, barycentre.iterations)};
  found.covariance = std::move(barycentre.covariance);
  return found;
}

/// The shift of a domain with these moments to the parts' reference. A column of one value in every domain becomes
/// that of the reference: what is left of it beside others is rounding, which must not be learned from.
GroupShift shift_to(const Align::Parts& parts, const DomainGaussian& own, const AlignOptions& options,
                    const Context& context) {
  const char* who = parts.who.c_str();
  if (options.map == LinearMapKind::monge) require_finite_products(who, own.covariance, parts.reference);
  if (!own.covariance.allFinite() || !parts.reference.allFinite()) refuse_large_values(who);
  GroupShift shift{false, own.mean, aligning_map(options.map, own.covariance, parts.reference, context),
                   options.move_mean ? parts.reference_mean : own.mean};
  const bool rows_tell = parts.rows.maxCoeff() > 1;  // of domains of one row, no column varies
  for (Index j = 0; j < parts.prior.cols(); ++j) {
    if (parts.prior.variance[j] > 0 || !rows_tell) continue;
    shift.map.row(j).setZero();
    shift.map.col(j).setZero();
  }
  return shift;
}

void warn_of_few_rows(const char* who, const std::vector<std::string>& names, const std::vector<GroupMoments>& groups,
                      const Context& context) {
  Index few = 0, example = -1;
  for (Index e = 0; e < std::ssize(groups); ++e) {
    if (groups[at(e)].count == 0 ||
        groups[at(e)].count >= rows_per_aligned_column * static_cast<double>(groups[at(e)].cols()))
      continue;
    if (few++ == 0) example = e;
  }
  if (few == 0) return;
  context.warn("few_domain_rows",
               "{}: {} of {} domains have fewer rows than twice the {} columns ('{}' has {:g}), so their covariances "
               "are mostly those of all domains",
               who, few, groups.size(), groups[0].cols(), names[at(example)], groups[at(example)].count);
}

void require_few_columns(const char* who, Index cols, Index domains) {
  if (cols > most_aligned_columns)
    data_error("too_many_columns",
               "{}: {} columns are more than the {} that covariances are made of; add kpca before it", who, cols,
               most_aligned_columns);
  require_memory((3 * at(domains) + 10) * at(cols) * at(cols) * sizeof(double), who, "the covariances",
                 "use fewer columns");
}

void require_finite_groups(const char* who, const std::vector<GroupMoments>& groups) {
  for (const GroupMoments& each : groups)
    if (!each.mean.allFinite() || !each.scatter.allFinite()) refuse_large_values(who);
}

bool maps_are_finite(const std::vector<GroupShift>& shifts) {
  return std::ranges::all_of(shifts, [](const GroupShift& each) { return each.keep || each.map.allFinite(); });
}

/// Shifts of the domains of training.
std::vector<GroupShift> training_shifts(const Roles& roles, const Align::Parts& parts,
                                        const std::vector<GroupMoments>& groups, const std::vector<DomainGaussian>& own,
                                        const AlignOptions& options, const Context& context) {
  const std::vector<Index> sources = domains_in_role(roles, groups, Role::source);
  const std::vector<Index> targets = domains_in_role(roles, groups, Role::target);
  const bool one_target = parts.to == AlignTo::target && targets.size() == 1;
  GroupMoments pool(parts.prior.cols(), ScatterKind::full);
  for (const Index s : sources) pool.merge(groups[at(s)]);
  std::optional<GroupShift> pooled;
  if (options.pool_sources && !sources.empty())
    pooled = shift_to(parts, gaussian_of(parts.prior, pool, options), options, context);
  std::vector<GroupShift> shifts;
  for (Index e = 0; e < std::ssize(groups); ++e) {
    if (one_target && e == targets[0])
      shifts.push_back({.keep = true, .from = {}, .map = {}, .to = {}});
    else if (pooled && roles[at(e)] == Role::source)
      shifts.push_back(*pooled);
    else
      shifts.push_back(shift_to(parts, own[at(e)], options, context));
  }
  return shifts;
}

}  // namespace

Features shifted_by_place(const Features& x, std::vector<std::int32_t> place,
                          std::shared_ptr<const std::vector<GroupShift>> known, std::vector<GroupShift> fresh,
                          std::vector<std::string> names, const Context& context) {
  const GroupShift& first = known->front();
  const Index cols = first.keep ? x.cols() : first.map.cols();
  const auto of_new = std::make_shared<const std::vector<GroupShift>>(std::move(fresh));
  const auto map = [known, of_new](ConstMatrixMap rows, std::span<const std::int32_t> of, MatrixView z) {
    std::map<std::int32_t, std::vector<Index>> members;
    for (Index i = 0; i < rows.rows(); ++i) members[of[at(i)]].push_back(i);
    for (const auto& each : members) {
      const Index place_of = each.first, trained = std::ssize(*known);
      const GroupShift& shift = place_of < trained ? (*known)[at(place_of)] : (*of_new)[at(place_of - trained)];
      const std::vector<Index>& own = each.second;
      Matrix in(std::ssize(own), rows.cols()), out;
      for (Index i = 0; i < in.rows(); ++i) in.row(i) = rows.row(own[at(i)]);
      if (shift.keep) {
        out = std::move(in);
      } else {
        in.rowwise() -= shift.from.transpose();
        out.resize(in.rows(), shift.map.cols());
        multiply_rows(in, shift.map, out);
        out.rowwise() += shift.to.transpose();
      }
      for (Index i = 0; i < out.rows(); ++i) z.row(own[at(i)]) = out.row(i);
    }
  };
  return map_by_place(x, std::move(place), cols, std::move(names), map, context);
}

std::vector<GroupMoments> fresh_moments(const char* who, const Batch& batch, const PlacedRows& placed,
                                        const Context& context) {
  std::vector<GroupMoments> groups =
      group_moments(batch.x, placed.among_fresh(), std::ssize(placed.fresh), {}, ScatterKind::full, who, context);
  require_finite_groups(who, groups);
  return groups;
}

void save_prior(const MomentPrior& prior, StageState& state) {
  state.set("shared_mean", prior.mean);
  state.set("shared_covariance", prior.within);
  state.set("between", prior.between);
  state.set("kappa", prior.kappa);
}

MomentPrior load_prior(const StageState& state, Index cols) {
  MomentPrior prior{state.vector("shared_mean", cols),
                    {},
                    state.vector("between", cols),
                    state.vector("kappa", cols),
                    state.matrix("shared_covariance", cols, cols)};
  prior.variance = prior.within.diagonal();
  if ((prior.variance.array() < 0).any() || (prior.between.array() < 0).any() || (prior.kappa.array() < 0).any())
    file_error("bad_model", "'shared_covariance', 'between' and 'kappa' must be >= 0");
  return prior;
}

Align::Align(Parts parts, const AlignOptions& options)
    : parts_(std::make_shared<const Parts>(std::move(parts))), options_(options) {}

Align::Parts Align::parts_of(const char* who, SummedDomains domains, const AlignOptions& options, Status& status,
                             const Context& context) {
  const std::vector<GroupMoments>& groups = domains.groups;
  const Roles& roles = domains.role;
  require_finite_groups(who, groups);
  const std::vector<Index> sources = domains_in_role(roles, groups, Role::source);
  const std::vector<Index> targets = domains_in_role(roles, groups, Role::target);
  Parts parts;
  parts.who = who;
  parts.rows.resize(std::ssize(groups));
  for (Index e = 0; e < parts.rows.size(); ++e) parts.rows[e] = groups[at(e)].count;
  parts.prior = moment_prior(groups, who);
  parts.samples = sample_distances(parts.prior, groups, shrinkage_of(options));
  const bool automatic = options.to == AlignTo::automatic;
  parts.to = automatic ? (targets.empty() ? AlignTo::barycentre : AlignTo::target) : options.to;
  if (parts.to == AlignTo::barycentre && sources.empty())
    data_error("empty_data", "{}: there are no source rows for a barycentre", who);
  std::vector<DomainGaussian> own;
  for (const GroupMoments& each : groups) own.push_back(gaussian_of(parts.prior, each, options));
  DomainGaussian reference = parts.to == AlignTo::target
                                 ? target_reference(targets, groups, own)
                                 : barycentre_of(who, sources, groups, own, options.domain_weights, status, context);
  parts.reference_mean = std::move(reference.mean);
  parts.reference = std::move(reference.covariance);
  parts.shifts = training_shifts(roles, parts, groups, own, options, context);
  if (!maps_are_finite(parts.shifts))
    data_error("singular", "{}: the covariance of a domain is singular; use ridge > 0", who);
  warn_of_few_rows(who, domains.names, groups, context);
  parts.names = std::move(domains.names);
  return parts;
}

StageResult Align::fit(const char* who, const TrainView& view, const AlignOptions& options, const Context& context) {
  require_few_columns(who, view.x.cols(), view.domain.count());
  require_finite_features(who, view.x, view.origin, context);
  std::vector<GroupMoments> groups = group_moments(view.x, view.domain.index, view.domain.count(), weights_of_all(view),
                                                   ScatterKind::full, who, context);
  if (options.to == AlignTo::target && domains_in_role(view.role, groups, Role::target).empty())
    require_target(who, view, view.x.rows());
  Status status;
  Parts parts = parts_of(who, {view.domain.names, view.role, std::move(groups)}, options, status, context);
  tell_class_shares(who, view, context);
  return pass_on(std::make_shared<Align>(std::move(parts), options), view, context, std::move(status));
}

SumsResult Align::fit_on_sums(const char* who, const RowSums& sums, const AlignOptions& options,
                              const Context& context) {
  require_few_columns(who, sums.cols(), sums.moments.group_count() + sums.targets.group_count());
  if (options.to == AlignTo::target && !sums.has_targets())
    data_error("no_target", "{}: no part has rows of a target; give --target where they are summed", who);
  Status status;
  Parts parts = parts_of(who, summed_domains(who, sums, ScatterKind::full, context), options, status, context);
  tell_class_shares(who, sums, context);
  RowSums next = shifted_sums(sums, parts.names, parts.shifts, context);
  return {std::make_shared<Align>(std::move(parts), options), std::move(next), std::move(status)};
}

Features Align::transform(const Batch& batch, const Context& context) const {
  const char* who = parts_->who.c_str();
  require_finite_features(who, batch.x, batch.origin, context);
  PlacedRows placed = place_rows(batch, parts_->names);
  std::vector<GroupShift> fresh;
  if (options_.fresh == NewDomain::sample && !placed.fresh.empty()) {
    for (const GroupMoments& each : fresh_moments(who, batch, placed, context))
      fresh.push_back(shift_to(*parts_, gaussian_of(parts_->prior, each, options_), options_, context));
  } else if (!placed.fresh.empty()) {
    GroupShift pooled{.keep = true, .from = {}, .map = {}, .to = {}};
    if (parts_->to == AlignTo::barycentre)
      pooled = shift_to(*parts_, gaussian_of(parts_->prior, GroupMoments(batch.x.cols(), ScatterKind::full), options_),
                        options_, context);
    fresh.assign(placed.fresh.size(), pooled);
  }
  if (!maps_are_finite(fresh))
    data_error("singular", "{}: the covariance of a new domain is singular; use ridge > 0", who);
  return shifted_by_place(batch.x, std::move(placed.place), {parts_, &parts_->shifts}, std::move(fresh),
                          batch.x.names(), context);
}

StageState Align::save() const {
  StageState state;
  const Index count = parts_->rows.size(), d = parts_->prior.cols();
  save_domain_names(parts_->names, state);
  save_samples(parts_->names, parts_->rows, parts_->samples, state);
  state.info["to"] = parts_->to == AlignTo::target ? "target" : "barycentre";
  Vector keep(count);
  Matrix from = Matrix::Zero(count, d), maps = Matrix::Zero(count * d, d), to = Matrix::Zero(count, d);
  for (Index e = 0; e < count; ++e) {
    const GroupShift& shift = parts_->shifts[at(e)];
    keep[e] = shift.keep ? 1 : 0;
    if (shift.keep) continue;
    from.row(e) = shift.from.transpose();
    maps.middleRows(e * d, d) = shift.map;
    to.row(e) = shift.to.transpose();
  }
  state.set("rows", parts_->rows);
  state.set("keep", keep);
  state.set("from", from);
  state.set("maps", maps);
  state.set("means", to);
  state.set("reference_mean", parts_->reference_mean);
  state.set("reference_covariance", parts_->reference);
  save_prior(parts_->prior, state);
  return state;
}

std::shared_ptr<const Fitted> Align::load(const char* who, const StageState& state, const AlignOptions& options,
                                          const StageInput& input) {
  const Index d = input.cols;
  Parts parts;
  parts.who = who;
  parts.names = load_domain_names(state);
  const auto count = std::ssize(parts.names);
  const std::string to = state.text("to");
  if (to != "target" && to != "barycentre") file_error("bad_model", "'to' must be target or barycentre, is '{}'", to);
  parts.to = to == "target" ? AlignTo::target : AlignTo::barycentre;
  parts.rows = state.vector("rows", count);
  const Vector keep = state.vector("keep", count);
  const Matrix from = state.matrix("from", count, d), means = state.matrix("means", count, d);
  const Matrix maps = state.matrix("maps", count * d, d);
  for (Index e = 0; e < count; ++e)
    parts.shifts.push_back(
        {keep[e] != 0, from.row(e).transpose(), maps.middleRows(e * d, d), means.row(e).transpose()});
  parts.reference_mean = state.vector("reference_mean", d);
  parts.reference = state.matrix("reference_covariance", d, d);
  parts.prior = load_prior(state, d);
  parts.samples = load_samples(state, count);
  return std::make_shared<Align>(std::move(parts), options);
}

namespace {

template <class Options, const char* who>
StageResult fit_align(const TrainView& view, const Options& options, const Context& context, FitCache&) {
  return Align::fit(who, view, options, context);
}

template <class Options, const char* who>
SumsResult sum_align(const RowSums& sums, const Options& options, const Context& context) {
  return Align::fit_on_sums(who, sums, options, context);
}

template <class Options, const char* who>
std::shared_ptr<const Fitted> load_align(const StageState& state, const Options& options, const StageInput& input) {
  return Align::load(who, state, options, input);
}

constexpr char align_name[] = "align";
constexpr char coral_name[] = "coral";
constexpr char linot_name[] = "linot";
constexpr char barycentre_name[] = "barycentre";

}  // namespace

Method align_method() {
  return make_method<AlignOptions, fit_align<AlignOptions, align_name>, load_align<AlignOptions, align_name>>(
      {.name = align_name,
       .family = Family::represent,
       .summary = "Maps the rows of every domain linearly, so that means and covariances of domains agree.",
       .when = "when domains differ by a linear map of the features, as devices do, and the shares of classes are the "
               "same in all: it takes differences of shares away. In our study its kind was no better than "
               "nothing (see coral, linot and barycentre), so compare with nothing, as `fit --guard` does. Put "
               "scale before it: units decide otherwise.",
       .example = "impute | scale | align | logistic",
       .routes = {{Route::streamed}},
       .plain = PlainForm{},
       .sums = beside_targets(sums_route<AlignOptions, sum_align<AlignOptions, align_name>>())});
}

Method coral_method() {
  return make_method<CoralOptions, fit_align<CoralOptions, coral_name>, load_align<CoralOptions, coral_name>>(
      {.name = coral_name,
       .family = Family::represent,
       .summary = "Gives the rows of every source domain the mean and covariance of the target (align map=coral "
                  "to=target).",
       .when = "when source and target differ in scales and correlations and not in the shares of classes, whose "
               "differences it takes away. In our study it was better than nothing in 20 and worse in 28 of 66 new "
               "domains.",
       .example = "impute | scale | coral | logistic",
       .citation = "sun2016",
       .routes = {{Route::streamed}},
       .needs_target = true,
       .sums = beside_targets(sums_route<CoralOptions, sum_align<CoralOptions, coral_name>>())});
}

Method linot_method() {
  return make_method<LinotOptions, fit_align<LinotOptions, linot_name>, load_align<LinotOptions, linot_name>>(
      {.name = linot_name,
       .family = Family::represent,
       .summary = "Moves the rows of every source domain as little as gives them the mean and covariance of the target "
                  "(align map=monge to=target).",
       .when =
           "as coral, where columns should keep their meaning: its map is the one that moves Gaussian rows least. In "
           "our study it was better than nothing in 21 and worse in 25 of 66 new domains.",
       .example = "impute | scale | linot | logistic",
       .citation = "flamary2019",
       .routes = {{Route::streamed}},
       .needs_target = true,
       .sums = beside_targets(sums_route<LinotOptions, sum_align<LinotOptions, linot_name>>())});
}

Method barycentre_method() {
  return make_method<BarycentreOptions, fit_align<BarycentreOptions, barycentre_name>,
                     load_align<BarycentreOptions, barycentre_name>>(
      {.name = barycentre_name,
       .family = Family::represent,
       .summary = "Maps every domain to the mean and covariance between all source domains (align map=monge "
                  "to=barycentre).",
       .when = "when no target is known while fitting and new domains come with a sample of rows. It takes differences "
               "of class shares away; in our study it was better than nothing in 20 and worse in 26 of 66 new domains.",
       .example = "impute | scale | barycentre | logistic",
       .citation = "alvarez2016",
       .routes = {{Route::streamed}},
       .plain = PlainForm{},
       .sums = beside_targets(sums_route<BarycentreOptions, sum_align<BarycentreOptions, barycentre_name>>())});
}

}  // namespace ecotone
