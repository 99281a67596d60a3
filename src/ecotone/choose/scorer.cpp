#include "ecotone/choose/scorer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ecotone/base/options.h"
#include "ecotone/choose/score_kinds.h"
#include "ecotone/choose/veto.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {

namespace {

constexpr std::array<ScorerInfo, 11> infos = {{
    {Scorer::automatic, "auto",
     "transfer and importance with at least three source domains, else importance; keeps the first candidate unless "
     "sources reach the target and the gain is large for its standard error",
     true},
    {Scorer::transfer, "transfer", "Mean loss over the source domains, each treated as the target in turn", true},
    {Scorer::importance, "importance", "Loss on held-out source rows, weighted by the density ratio to the target",
     true},
    {Scorer::control_variate, "control_variate",
     "Weighted loss with the weights as a control variate (deep embedded validation)", true},
    {Scorer::reverse, "reverse",
     "Loss on held-out source rows of the pipeline refitted on the target with its predicted labels", true},
    {Scorer::circular, "circular",
     "Errors on all source rows of the pipeline refitted on the target with its predicted labels (circular validation)",
     true},
    {Scorer::entropy, "entropy", "Mean entropy of the predictions for the target", false},
    {Scorer::density, "density", "How densely the predictions for the target cluster (soft neighbourhood density)",
     false},
    {Scorer::ensemble, "ensemble",
     "How often the predictions differ from those of all candidates together (ensemble validation)", false},
    {Scorer::nuclear, "nuclear", "How sure and diverse the predictions for the target are (batch nuclear norm)", false},
    {Scorer::mixval, "mixval", "How often mixtures of two target rows are not predicted like the larger part", false},
}};

const ScorerInfo& info_of(Scorer scorer) {
  for (const ScorerInfo& info : infos)
    if (info.scorer == scorer) return info;
  internal_error("scorer {} is not in the table", static_cast<int>(scorer));
}

std::vector<CandidateScore> run(Scorer scorer, CandidateFits& fits) {
  switch (scorer) {
    case Scorer::transfer:
      return score_transfer(fits);
    case Scorer::control_variate:
      return score_control_variate(fits);
    case Scorer::reverse:
      return score_reverse(fits);
    case Scorer::circular:
      return score_circular(fits);
    case Scorer::entropy:
      return score_entropy(fits);
    case Scorer::density:
      return score_density(fits);
    case Scorer::ensemble:
      return score_ensemble(fits);
    case Scorer::nuclear:
      return score_nuclear(fits);
    case Scorer::mixval:
      return score_mixval(fits);
    default:
      return score_importance(fits);
  }
}

/// Looks at the target's rows and at the overlap. False if no estimate would count, so that none is needed.
bool look_first(Scores& scores, CandidateFits& fits) {
  scores.targets = fits.targets();
  scores.cols = fits.view().x.cols();
  for (const Pipeline& candidate : fits.candidates()) scores.candidates.emplace_back().pipeline = candidate.text();
  if (scores.targets == 0) return true;
  if (veto_before_estimates(scores) != nullptr) return false;
  scores.overlap = fits.overlap();
  if (!scores.overlap->enough() && scores.used == Scorer::transfer) scores.apart = domains_apart(fits);
  return veto_before_estimates(scores) == nullptr;
}

}  // namespace

std::span<const ScorerInfo> scorer_infos() { return infos; }

std::string_view scorer_name(Scorer scorer) { return info_of(scorer).name; }

Scorer scorer_by_name(std::string_view name) {
  std::vector<std::string> names;
  for (const ScorerInfo& info : infos) {
    if (info.name == name) return info.scorer;
    names.emplace_back(info.name);
  }
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) option_error("unknown_scorer", "unknown scorer '{}'; did you mean '{}'?", name, near);
  option_error("unknown_scorer", "unknown scorer '{}'; choose one of {}", name, fmt::join(names, ", "));
}

std::vector<Scorer> scorers_of(Task task) {
  std::vector<Scorer> result;
  for (const ScorerInfo& info : infos)
    if (task == Task::classify || info.numbers) result.push_back(info.scorer);
  return result;
}

CandidateScorer::CandidateScorer(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates,
                                 const ScorerOptions& options, const Context& context)
    : fits_(std::make_unique<CandidateFits>(view, schema, std::move(candidates), options, context)) {}

CandidateScorer::~CandidateScorer() = default;

Scores CandidateScorer::scores(Scorer scorer) {
  Scores result{.asked = scorer, .used = scorer, .loss = fits_->loss(), .overlap = {}, .candidates = {}};
  const Index folds = transfer_folds(fits_->view(), fits_->context());
  if (scorer == Scorer::automatic) result.used = folds >= 3 ? Scorer::transfer : Scorer::importance;
  if (result.used == Scorer::transfer) result.freedom = folds - 1;
  const ScorerInfo& info = info_of(result.used);
  if (fits_->view().y.task == Task::regress && !info.numbers)
    option_error("scorer_undefined", "{}: it is defined for classification only, and the label is a number to predict",
                 info.name);
  if (result.used != Scorer::transfer && fits_->targets() == 0)
    data_error("no_target",
               "{}: it needs unlabelled rows of a target domain; name it with --target or use --protocol adapt "
               "(evaluate)",
               info.name);
  if (result.used == Scorer::circular) result.loss = simple_loss(fits_->view().y.task);
  if (scorer == Scorer::automatic && !look_first(result, *fits_)) return result;
  result.candidates = run(result.used, *fits_);
  if (result.used == Scorer::transfer && result.overlap && result.overlap->enough()) {
    const std::vector<CandidateScore> near = score_importance(*fits_);
    for (std::size_t c = 0; c < near.size(); ++c) result.candidates[c].importance_gain = near[c].gain;
  }
  if (scorer == Scorer::automatic && fits_->targets() > 0 && fits_->view().y.task == Task::classify)
    add_disagreement(result.candidates, *fits_);
  for (const CandidateScore& score : result.candidates)
    if (score.estimate) return result;
  const CandidateScore& first = result.candidates.front();
  data_error(first.error_code, "{}: no candidate can be scored; \"{}\": {}", info.name, first.pipeline, first.error);
}

Scores score_candidates(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates, Scorer scorer,
                        const ScorerOptions& options, const Context& context) {
  return CandidateScorer(view, schema, std::move(candidates), options, context).scores(scorer);
}

double errors_to_exceed(const Scores& scores) {
  constexpr double up_to_one = 0.84134474606854293;  // P(Z <= 1)
  constexpr double of_rows = 1.28;                   // P(Z > 1.28) = 0.1
  return scores.freedom > 0 ? t_quantile(up_to_one, static_cast<double>(scores.freedom)) : of_rows;
}

namespace {

std::size_t lowest(const std::vector<CandidateScore>& all) {
  std::optional<std::size_t> best;
  const auto lower = [&](const CandidateScore& a, const CandidateScore& b) {
    return *a.estimate != *b.estimate ? *a.estimate < *b.estimate : a.tie_break.value_or(0) < b.tie_break.value_or(0);
  };
  for (std::size_t c = 0; c < all.size(); ++c)
    if (all[c].estimate && (!best || lower(all[c], all[*best]))) best = c;
  return best.value_or(0);
}

}  // namespace

std::size_t choose(const Scores& scores) {
  const auto& all = scores.candidates;
  if (scores.asked != Scorer::automatic || !all.front().estimate) return lowest(all);
  // Do no harm.
  const double needed = errors_to_exceed(scores);
  std::size_t best = 0;
  double most = 0;
  for (std::size_t c = 1; c < all.size(); ++c) {
    if (veto_against(scores, c) != nullptr) continue;
    const double sure = *all[c].gain - needed * *all[c].gain_error;
    if (sure <= most) continue;
    best = c;
    most = sure;
  }
  return best;
}

}  // namespace ecotone
