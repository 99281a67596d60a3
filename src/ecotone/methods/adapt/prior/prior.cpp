#include "ecotone/methods/adapt/prior/prior.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> reasons = {
    {{"gain", "correcting gained when each source domain played the target"},
     {"no_gain", "correcting did not gain when each source domain played the target"},
     {"log_loss", "correcting made the log loss worse when each source domain played the target"},
     {"unverified", "fewer than three source domains could play the target, so a gain cannot be verified"},
     {"reversed", "higher probabilities go with fewer rows of the class in domains not seen"},
     {"always", "asked for"},
     {"never", "only the shares were asked for"}}};

/// Held-out predictions of the labelled rows of positive weight.
UnseenRows unseen_rows(const Upstream& upstream, const CrossFit& cross, std::vector<std::string>& names) {
  const TrainView& view = upstream.view;
  std::vector<Index> place(view.domain.names.size(), -1);
  std::vector<Index> kept;
  UnseenRows rows;
  for (std::size_t i = 0; i < cross.rows.size(); ++i) {
    const Index row = cross.rows[i];
    if (view.weight_of(row) == 0) continue;
    const auto domain = at(view.domain.index[at(row)]);
    if (place[domain] < 0) {
      place[domain] = rows.domains++;
      names.push_back(view.domain.names[domain]);
    }
    kept.push_back(static_cast<Index>(i));
    rows.domain.push_back(place[domain]);
    rows.label.push_back(view.y.index[at(row)]);
    rows.predicted.push_back(cross.predicted[i]);
    rows.weight.push_back(view.weight_of(row));
  }
  rows.probability = clipped_probabilities(Matrix(cross.probability(kept, Eigen::all)));
  return rows;
}

PriorReason reason_of(const PriorOptions& options, const ShareEstimator& estimator,
                      const std::optional<PriorReplay>& replay) {
  if (options.correct == PriorRule::never) return PriorReason::never;
  if (estimator.calibration().reversed()) return PriorReason::reversed;
  if (options.correct == PriorRule::always) return PriorReason::always;
  if (!replay) return PriorReason::unverified;
  if (!replay->gained()) return PriorReason::no_gain;
  return replay->misled() ? PriorReason::log_loss : PriorReason::gain;
}

/// The rows of every target domain.
std::vector<std::pair<std::string, std::vector<Index>>> rows_of_targets(const TrainView& view) {
  std::vector<std::pair<std::string, std::vector<Index>>> targets;
  for (Index d = 0; d < view.domain.count(); ++d) {
    std::vector<Index> rows = view.domain.rows_of(d);
    std::erase_if(rows, [&](Index row) { return row < view.labelled(); });
    if (!rows.empty()) targets.emplace_back(view.domain.names[at(d)], std::move(rows));
  }
  return targets;
}

}  // namespace

std::string_view reason_name(PriorReason reason) { return reasons[static_cast<std::size_t>(reason)].first; }
std::string_view reason_words(PriorReason reason) { return reasons[static_cast<std::size_t>(reason)].second; }

Prior::Prior(PriorState state) : state_(std::move(state)) {}

StageResult Prior::fit(const Upstream& upstream, const PriorOptions& options, const Context& context) {
  const TrainView& view = upstream.view;
  require_classes("adapt.prior", view);
  require_two_classes("adapt.prior", view);
  require_target("adapt.prior", view);
  PriorState state;
  const CrossFit cross = cross_fit(upstream, "adapt.prior", context, {.most_folds = 0});
  const UnseenRows rows = unseen_rows(upstream, cross, state.domains);
  if (rows.label.empty()) data_error("zero_weights", "adapt.prior: all held-out rows have weight 0");
  const ShareEstimator estimator(rows, rows.domain_equal(), options.method);
  state.a = estimator.calibration().a;
  state.bias = estimator.calibration().bias;
  state.source_share = estimator.source_share();
  if (options.correct == PriorRule::replay) state.replay = replay_correction(rows, options.method, context);
  state.reason = reason_of(options, estimator, state.replay);
  const TrainView named = with_schema_names(view, upstream.schema, context);
  Status status;
  for (auto& [name, own] : rows_of_targets(view)) {
    const Prediction seen = upstream.predict({named.x.take(own), named.domain.take(own)}, context);
    TargetShares shares = target_shares(rows, estimator, options.method, clipped_probabilities(seen.probability),
                                        seen.index, context.derived("target", state.targets.size()));
    shares.domain = name;
    if (!shares.converged) status = {false, "the shares of classes did not converge"};
    state.targets.push_back(std::move(shares));
  }
  if (rows.domains < fewest_drawn_domains)
    context.warn("few_domains",
                 "adapt.prior: {} source domains are too few to draw from, so domain-to-domain variation is not in the "
                 "standard errors of the shares",
                 rows.domains);
  if (!state.corrects()) context.note("adapt.prior: predictions are not corrected: {}", reason_words(state.reason));
  return {std::make_shared<Prior>(std::move(state)), view, status};
}

void Prior::warn_of_uncorrected(const Batch& batch, const std::vector<Index>& target_of, const Context& context) const {
  if (!loaded_) return;
  std::vector<std::string> names, known;
  for (const TargetShares& target : state_.targets) known.push_back(target.domain);
  if (batch.domain) {
    std::vector<bool> there(target_of.size(), false);
    for (const std::int32_t d : batch.domain->index) there[at(d)] = true;
    for (std::size_t d = 0; d < target_of.size(); ++d)
      if (there[d] && target_of[d] < 0) names.push_back(batch.domain->names[d]);
    if (names.empty()) return;
  } else if (state_.targets.size() == 1) {
    return;
  }
  constexpr std::size_t most_named = 5;
  const std::size_t others = names.size() > most_named ? names.size() - most_named : 0;
  names.resize(names.size() - others);
  context.warn("uncorrected_rows",
               "adapt.prior: {} are predicted without a correction, as the model has shares of classes for '{}' alone",
               names.empty() ? std::string("rows without a domain")
                             : fmt::format("rows of '{}'{}", fmt::join(names, "', '"),
                                           others == 0 ? "" : fmt::format(" and {} other domains", others)),
               fmt::join(known, "', '"));
}

Prediction Prior::revised(Prediction before, const Batch& batch, const Context& context) const {
  if (!state_.corrects()) return before;
  // Which target each domain of the batch is; -1: none.
  std::vector<Index> target_of;
  const auto named = [&](const std::string& name) -> Index {
    const auto found = std::ranges::find(state_.targets, name, &TargetShares::domain);
    return found == state_.targets.end() ? -1 : found - state_.targets.begin();
  };
  if (batch.domain)
    for (const std::string& name : batch.domain->names) target_of.push_back(named(name));
  warn_of_uncorrected(batch, target_of, context);
  const Bcts calibration{.a = state_.a, .bias = state_.bias};
  const bool scored = before.score.cols() == 1;
  if (!scored) before.score.resize(0, 0);  // made from the probabilities
  parallel_rows(batch.x.rows(), context, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const Index target =
          batch.domain ? target_of[at(batch.domain->index[at(row)])] : (state_.targets.size() == 1 ? 0 : -1);
      if (target < 0) continue;
      const Matrix p = clipped_probabilities(before.probability.row(row));
      before.probability.row(row) = reweighted(calibration.calibrated(p), state_.targets[at(target)].weight);
      before.index[at(row)] = predicted_class(before.probability.row(row));
      // Of the same sign as the class that is predicted.
      if (scored)
        before.score(row, 0) = std::log(std::max(before.probability(row, 1), 1e-300)) -
                               std::log(std::max(before.probability(row, 0), 1e-300));
    }
  });
  return before;
}

Method adapt_prior_method() {
  return make_follower<PriorOptions, Prior::fit, Prior::load>(
      {.name = "adapt.prior",
       .family = Family::adapt,
       .summary =
           "Corrects the preceding learner for other shares of classes in the target, where replay shows a gain.",
       .when =
           "when classes look alike everywhere and only their shares differ (label shift). It harms elsewhere, so it "
           "corrects nothing unless that gained in the source domains.",
       .example = "impute | scale | logistic | adapt.prior",
       .citation = "alexandari2020",
       .routes = {{Route::streamed}},
       .learns = Learns::labels});
}

}  // namespace ecotone
