#include "ecotone/trust/replay.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/next_domain.h"
#include "ecotone/evaluate/split_fits.h"
#include "ecotone/linalg/stacked.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/solve/ratios/domain_auroc.h"

namespace ecotone {
namespace {

bool has_weight(const Dataset& data, Index row) { return data.weight.size() == 0 || data.weight[row] != 0; }

bool counts(const Dataset& data, Index row) {
  return data.role_of(row) == Role::source && !data.y->missing(row) && has_weight(data, row);
}

/// The source domains with rows that count.
std::vector<Index> source_domains(const Dataset& data) {
  std::vector<bool> there(data.domain.names.size(), false);
  for (Index row = 0; row < data.rows(); ++row)
    if (counts(data, row)) there[at(data.domain.index[at(row)])] = true;
  std::vector<Index> domains;
  for (std::size_t d = 0; d < there.size(); ++d)
    if (there[d]) domains.push_back(static_cast<Index>(d));
  return domains;
}

/// The split without these source domains: nothing of targets is trained on, and rows of the first are predicted. A
/// pipeline that adapts sees them without labels.
Split source_split(const Dataset& data, const std::vector<Index>& without, bool adapting) {
  Split split = split_without(places_of(data), without);
  std::erase_if(split.source, [&](Index row) { return data.role_of(row) != Role::source; });
  std::erase_if(split.held_out, [&](Index row) { return !has_weight(data, row); });
  if (!adapting) return split;
  std::erase_if(split.held_out, [&](Index row) { return data.domain.index[at(row)] != without.front(); });
  split.target = split.held_out;
  return split;
}

NextDomainBy resolved_replay(NextDomainBy by, std::size_t domains) {
  if (by == NextDomainBy::replay || by == NextDomainBy::cheap) return by;
  return static_cast<Index>(domains) <= most_replayed_domains ? NextDomainBy::replay : NextDomainBy::cheap;
}

Outcome fitted_outcome(SplitFit& fit) {
  if (fit.error) throw Error(*fit.error);
  return std::move(fit.outcome);
}

}  // namespace

ReplayFits::ReplayFits(const Dataset& data, const Pipeline& pipeline, NextDomainBy by, Journal* journal,
                       const Context& context)
    : data_(data), context_(context), adapts_(ecotone::adapts(pipeline)), domains_(source_domains(data)) {
  if (std::ssize(domains_) < fewest_replayed_domains)
    data_error("too_few_domains",
               "expect: {} source domain{} with labels; at least {} are needed to see how much domains differ",
               domains_.size(), domains_.size() == 1 ? "" : "s", fewest_replayed_domains);
  by_ = resolved_replay(by, domains_.size());
  metrics_ = score_metrics(data.y->task, std::ssize(data.y->classes), {.sets = pipeline.makes_sets()});
  std::vector<Split> splits;
  for (const Index domain : domains_) splits.push_back(source_split(data, {domain}, adapts_));
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t j = 0; j < domains_.size() && by_ == NextDomainBy::replay; ++j)
    for (std::size_t k = adapts_ ? 0 : j + 1; k < domains_.size(); ++k) {
      if (k == j) continue;
      pairs.emplace_back(j, k);
      splits.push_back(source_split(data, {domains_[j], domains_[k]}, adapts_));
    }
  for (Split& split : splits)
    if (split.source.empty())
      data_error("no_training_rows", "expect: no rows are left to train on without {}", split.name);
  std::size_t held = 0;
  for (const Split& split : splits) held += split.held_out.size();
  const std::size_t row_bytes = sizeof(Index) + sizeof(std::int32_t) + sizeof(double) * (data.y->classes.size() + 1);
  require_memory(held * row_bytes, "expect", fmt::format("{} predictions of replays", held), "use --replay cheap");
  EvaluateOptions options;
  options.keep_predictions = true;  // whether or not rows have labels
  options.journal = journal;
  ProgressOnly progress(context.observer(), "replay");
  auto fits =
      fit_splits(data, {{pipeline.text(), {pipeline}}}, splits, options, context.observed_by(&progress)).front();
  for (std::size_t k = 0; k < domains_.size(); ++k) without_one_.push_back(fitted_outcome(fits[k]));
  for (std::size_t s = 0; s < pairs.size(); ++s) without_two_[pairs[s]] = fitted_outcome(fits[domains_.size() + s]);
  std::vector<Piece> all;
  for (std::size_t k = 0; k < domains_.size(); ++k) all.push_back({&without_one_[k], k});
  sources_ = gathered(all);
}

SourceRows ReplayFits::sources_without(std::size_t k) const {
  std::vector<Piece> pieces;
  for (std::size_t j = 0; j < domains_.size(); ++j)
    if (j != k) pieces.push_back({by_ == NextDomainBy::replay ? &without_two(j, k) : &without_one_[j], j});
  return gathered(pieces);
}

const Outcome& ReplayFits::without_two(std::size_t j, std::size_t k) const {
  return without_two_.at(adapts_ ? std::pair(j, k) : std::minmax({j, k}));
}

TargetRows ReplayFits::as_target(std::size_t k) const {
  const Outcome& outcome = without_one_[k];
  return {outcome.probability, outcome.predicted, outcome.value};
}

TrainView ReplayFits::training_view(const std::string& target) const {
  std::vector<Index> source, adapted_to;
  const Index domain = std::ranges::find(data_.domain.names, target) - data_.domain.names.begin();
  for (Index row = 0; row < data_.rows(); ++row) {
    if (counts(data_, row)) source.push_back(row);
    if (adapts_ && data_.domain.index[at(row)] == domain && has_weight(data_, row)) adapted_to.push_back(row);
  }
  return train_view(data_, source, adapted_to, context_);
}

SourceRows ReplayFits::gathered(const std::vector<Piece>& pieces) const {
  struct Place {
    Index row;
    std::size_t piece;
    Index local;
  };
  SourceRows result;
  result.task = data_.y->task;
  std::vector<Place> places;
  const ScoreOptions scoring{{.sets = pieces.front().outcome->set.size() > 0 || pieces.front().outcome->low.size() > 0},
                             0};
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Index domain = domains_[pieces[p].domain];
    const Outcome& outcome = *pieces[p].outcome;
    std::vector<bool> held(data_.domain.names.size(), false);
    held[at(domain)] = true;
    const DomainScore score = score_domains(data_, held, {outcome}, scoring, context_).front();
    result.domains.push_back(score.domain);
    result.metrics.push_back(score.metrics);
    result.count.push_back(score.rows);
    for (std::size_t i = 0; i < outcome.rows.size(); ++i)
      if (data_.domain.index[at(outcome.rows[i])] == domain && counts(data_, outcome.rows[i]))
        places.push_back({outcome.rows[i], p, static_cast<Index>(i)});
  }
  std::ranges::sort(places, {}, &Place::row);
  const bool classes = result.task == Task::classify;
  const auto rows = std::ssize(places);
  Matrix probability(classes ? rows : 0, std::ssize(data_.y->classes));
  if (!classes) {
    result.value.resize(rows);
    result.truth.resize(rows);
  }
  UnseenRows& unseen = result.unseen;
  unseen.domains = std::ssize(pieces);
  for (Index i = 0; i < rows; ++i) {
    const Place& place = places[at(i)];
    const Outcome& outcome = *pieces[place.piece].outcome;
    result.row.push_back(place.row);
    unseen.domain.push_back(static_cast<Index>(place.piece));
    unseen.weight.push_back(data_.weight.size() == 0 ? 1 : data_.weight[place.row]);
    if (classes) {
      probability.row(i) = outcome.probability.row(place.local);
      unseen.predicted.push_back(outcome.predicted[at(place.local)]);
      unseen.label.push_back(data_.y->index[at(place.row)]);
    } else {
      result.value[i] = outcome.value[place.local];
      result.truth[i] = data_.y->value[place.row];
    }
  }
  if (!classes) return result;
  result.log_loss = log_losses(unseen.label, probability);
  result.brier_sum = brier_sums(unseen.label, probability);
  unseen.probability = clipped_probabilities(probability);
  return result;
}

RowRatio ratio_to(const Dataset& data, const SourceRows& sources, const Batch& target, const Context& context) {
  const TrainView view = train_view(data, sources.row, {}, context);
  const Model prepare = Model::fit(Pipeline::parse("impute | scale"), view, data.schema, context);
  const Features x = Features::dense(stacked(prepare.transform(batch(data, sources.row), context).to_matrix(),
                                             prepare.transform(target, context).to_matrix()));
  const Index rows = std::ssize(sources.row);
  return {logistic_ratio(x, rows, {.who = "expect"}, context).log_weight, x.cols()};
}

Features compared_rows(const Dataset& data, const std::vector<Index>& sources, const Features& target,
                       const Context& context) {
  const Context quiet = context.observed_by(nullptr);
  Features x = Features::dense(stacked(data.x.take(sources).to_matrix(), target.to_matrix()));
  std::vector<Index> all(at(x.rows()));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<Index> first(all.begin(), all.begin() + std::ssize(sources));
  const auto prepare = [&](const char* stage, const std::vector<Index>& learned_from) {
    // Without names, as a column may be called like the indicator of another; without labels, as statistics are then
    // those of all rows.
    Dataset both;
    for (const std::string& name : x.names()) both.schema.columns.push_back({name, ColumnKind::numeric, {}});
    both.domain = {{"all"}, std::vector<std::int32_t>(all.size(), 0)};
    both.role = {Role::source};
    both.x = std::move(x);
    const Model model =
        Model::fit(Pipeline::parse(stage), train_view(both, learned_from, {}, quiet), both.schema, quiet);
    x = Features::dense(model.transform(batch(both, all), quiet).to_matrix());
  };
  prepare("impute indicator=true", all);
  prepare("scale", first);
  return x;
}

Overlap overlap_with(const Dataset& data, const std::vector<Index>& sources, const Features& target,
                     const Context& context) {
  const Features x = compared_rows(data, sources, target, context);
  const Index rows = std::ssize(sources);
  const Vector log_weight = logistic_ratio(x, rows, {.who = "expect"}, context).log_weight;
  return {.auroc = domain_auroc(x, rows, {.who = "expect"}, context),
          .ess_raw = effective_sample_size((log_weight.array() - log_weight.maxCoeff()).exp().matrix()),
          .rows = rows,
          .cols = x.cols()};
}

TargetRows target_rows(const Model& model, const Labels& y, const Batch& batch, const Context& context) {
  Split split;
  split.held_out.resize(at(batch.x.rows()));
  std::iota(split.held_out.begin(), split.held_out.end(), 0);
  Outcome outcome = outcome_of(model.predict(batch, context), model.classes(), y, split);
  return {std::move(outcome.probability), std::move(outcome.predicted), std::move(outcome.value)};
}

}  // namespace ecotone
