#include "ecotone/evaluate/next_domain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/evaluate/split_fits.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

/// The most values (rows x columns x pairs of domains) that `automatic` replays.
constexpr double quick_values = 1e7;

/// metrics of domain j by a model without j and k, under {j, k}.
using PairScores = std::map<std::pair<std::size_t, std::size_t>, Metrics>;

bool one_by_one(Protocol protocol) { return protocol == Protocol::leave_one_domain_out || protocol == Protocol::adapt; }

NextDomainBy resolved_by(const Dataset& data, std::size_t domains, const EvaluateOptions& options) {
  if (options.next_domain != NextDomainBy::automatic) return options.next_domain;
  const auto k = static_cast<double>(domains);
  const double values = static_cast<double>(data.rows()) * static_cast<double>(data.x.cols()) * k * (k - 1) / 2;
  const bool few = static_cast<Index>(domains) <= most_replayed_domains;
  return few && values <= quick_values ? NextDomainBy::replay : NextDomainBy::cheap;
}

/// Pipelines whose models without two domains are fitted: not those that adapt, which would need a fit for each of the
/// two, and grids only when asked for, since each fit is a choice among their points.
std::vector<PipelineGrid> replayed_grids(const Evaluation& evaluation, const std::vector<Contender>& contenders,
                                         bool asked) {
  std::vector<PipelineGrid> grids;
  for (std::size_t p = 0; p < contenders.size(); ++p) {
    const auto* grid = std::get_if<PipelineGrid>(&contenders[p]);
    if (grid == nullptr || evaluation.pipelines[p].error || std::ranges::any_of(grid->points, adapts)) continue;
    if (grid->points.size() > 1 && !asked) continue;
    grids.push_back(*grid);
  }
  return grids;
}

void require_memory_of_pairs(const Dataset& data, const std::vector<Split>& splits, std::size_t grids) {
  std::size_t rows = 0;
  for (const Split& split : splits) rows += split.held_out.size();
  const std::size_t row_bytes = sizeof(Index) + sizeof(std::int32_t) + sizeof(double) * (data.y->classes.size() + 1);
  require_memory(rows * row_bytes * grids, "evaluate",
                 fmt::format("{} predictions of models without two domains", rows), "use --next-domain cheap");
}

struct PairOfDomains {
  std::size_t first, second;  ///< places among the scored domains
};

/// The scores of all grids in both domains of every pair, by grid; empty for a grid that could not be fitted on a pair.
/// `scored`: the places of the domains among the scores.
std::vector<std::optional<PairScores>> pair_scores(const Dataset& data, const std::vector<PipelineGrid>& grids,
                                                   const std::vector<Index>& domains,
                                                   const std::vector<std::size_t>& scored, const ScoreOptions& scoring,
                                                   EvaluateOptions options, const Context& context) {
  std::vector<PairOfDomains> pairs;
  std::vector<Split> splits;
  const RowPlaces places = places_of(data);
  for (std::size_t j = 0; j < domains.size(); ++j)
    for (std::size_t k = j + 1; k < domains.size(); ++k) {
      pairs.push_back({j, k});
      splits.push_back(split_without(places, {domains[j], domains[k]}));
    }
  options.keep_predictions = options.curves = false;
  options.importance = 0;
  options.threshold.clear();
  require_memory_of_pairs(data, splits, grids.size());
  ProgressOnly progress(context.observer(), "next domain");
  const auto fits = fit_splits(data, grids, splits, options, context.derived("next domain", 0).observed_by(&progress));
  std::vector<std::optional<PairScores>> scores(grids.size());
  context.parallel(std::ssize(grids), [&](Index g) {
    PairScores own;
    for (std::size_t s = 0; s < pairs.size(); ++s) {
      const SplitFit& fit = fits[at(g)][s];
      if (fit.error) return;
      std::vector<bool> held(data.domain.names.size(), false);
      held[at(domains[pairs[s].first])] = held[at(domains[pairs[s].second])] = true;
      const auto found = score_domains(data, held, {fit.outcome}, scoring, context);
      // In the order of the data's domains.
      const bool in_order = domains[pairs[s].first] < domains[pairs[s].second];
      const std::size_t j = scored[pairs[s].first], k = scored[pairs[s].second];
      own[{j, k}] = found[in_order ? 0 : 1].metrics;
      own[{k, j}] = found[in_order ? 1 : 0].metrics;
    }
    scores[at(g)] = std::move(own);
  });
  return scores;
}

/// What the other domains lead one to expect of domain k: the mean over j of what models without j, and without k if
/// there are replays, score in j.
std::optional<double> expected_of(const PipelineScore& score, std::size_t k, const std::string& metric,
                                  const PairScores* replays) {
  std::vector<double> values;
  for (std::size_t j = 0; j < score.domains.size(); ++j) {
    if (j == k || score.domains[j].rows == 0) continue;
    const auto value = value_of(replays ? replays->at({j, k}) : score.domains[j].metrics, metric);
    if (value) values.push_back(*value);
  }
  return mean_of(values);
}

std::optional<NextDomain> next_domain_of(const PipelineScore& score, const std::string& metric, Index classes,
                                         const PairScores* replays) {
  const auto mean = value_of(score.mean, metric);
  if (!mean) return std::nullopt;
  const MetricScale scale = find_metric(metric)->scale(classes);
  std::vector<double> residuals;
  for (std::size_t k = 0; k < score.domains.size(); ++k) {
    if (score.domains[k].rows == 0) continue;
    const auto truth = value_of(score.domains[k].metrics, metric);
    const auto expected = expected_of(score, k, metric, replays);
    const auto residual = truth && expected ? scale.residual(*truth, *expected) : std::nullopt;
    if (residual) residuals.push_back(*residual);
  }
  if (std::ssize(residuals) < fewest_replayed_domains) return std::nullopt;
  return NextDomain{*mean, t_reach(*mean, residuals, next_domain_level, scale),
                    conformal_reach(*mean, residuals, next_domain_level, scale), std::ssize(residuals)};
}

}  // namespace

void add_next_domain(Evaluation& evaluation, const Dataset& data, const std::vector<Contender>& contenders,
                     const EvaluateOptions& options, const Context& context) {
  if (options.next_domain == NextDomainBy::none || !one_by_one(options.protocol) || !options.target.empty()) return;
  // Places of the domains with scored rows: the others cannot play the next one.
  std::vector<std::size_t> scored;
  std::vector<Index> domains;
  const std::vector<DomainScore>& all = evaluation.pipelines[evaluation.reference].domains;
  for (std::size_t d = 0; d < all.size(); ++d) {
    if (all[d].rows == 0) continue;
    scored.push_back(d);
    domains.push_back(std::ranges::find(data.domain.names, all[d].domain) - data.domain.names.begin());
  }
  if (std::ssize(domains) < fewest_replayed_domains) return;
  const bool replayed = options.protocol == Protocol::leave_one_domain_out &&
                        resolved_by(data, domains.size(), options) == NextDomainBy::replay;
  const std::vector<PipelineGrid> grids =
      replayed ? replayed_grids(evaluation, contenders, options.next_domain == NextDomainBy::replay)
               : std::vector<PipelineGrid>();
  const ScoreOptions scoring{
      {false,
       std::ranges::any_of(evaluation.metrics, [](const std::string& name) { return find_metric(name)->of_sets; })},
      0};
  std::vector<std::optional<PairScores>> replays;
  if (!grids.empty()) replays = pair_scores(data, grids, domains, scored, scoring, options, context);
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    PipelineScore& score = evaluation.pipelines[p];
    if (score.error) continue;
    const auto own = std::ranges::find(grids, score.pipeline, &PipelineGrid::text);
    const PairScores* of_pairs = nullptr;
    if (own != grids.end() && replays[static_cast<std::size_t>(own - grids.begin())])
      of_pairs = &*replays[static_cast<std::size_t>(own - grids.begin())];
    score.next_by = of_pairs ? NextDomainBy::replay : NextDomainBy::cheap;
    for (const std::string& metric : evaluation.metrics)
      // A threshold is chosen anew in every split, and not in replays.
      if (!find_metric(metric)->at_threshold || !of_pairs)
        score.next.emplace_back(metric, next_domain_of(score, metric, std::ssize(evaluation.classes), of_pairs));
  }
}

}  // namespace ecotone
