#include "ecotone/choose/veto.h"

#include <array>
#include <limits>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

bool few_target_rows(const Scores& scores, const CandidateScore&) {
  return scores.targets > 0 && scores.targets <= scores.cols;
}

std::string few_target_rows_words(const Scores& scores, const CandidateScore&) {
  return fmt::format("the target has {} row{}, and {} column{} at least {}", scores.targets,
                     scores.targets == 1 ? "" : "s", scores.cols, scores.cols == 1 ? " needs" : "s need",
                     scores.cols + 1);
}

bool lacks_overlap(const Scores& scores) { return scores.overlap && !scores.overlap->enough(); }

bool no_overlap(const Scores& scores, const CandidateScore&) {
  return lacks_overlap(scores) && scores.used != Scorer::transfer;
}

std::string no_overlap_words(const Scores& scores, const CandidateScore&) {
  return fmt::format(
      "source and target do not overlap ({}), so weighted source rows say nothing about the target, and fewer than "
      "three source domains cannot replace them",
      scores.overlap->words());
}

bool beyond_sources(const Scores& scores, const CandidateScore&) {
  return lacks_overlap(scores) && scores.used == Scorer::transfer && 2 * scores.apart < scores.freedom + 1;
}

std::string beyond_sources_words(const Scores& scores, const CandidateScore&) {
  return fmt::format(
      "source and target do not overlap ({}), while only {} of {} source domains are as far from the others, so they "
      "do not show what happens there",
      scores.overlap->words(), scores.apart, scores.freedom + 1);
}

/// The rule was written once, before any of our tables, and is not tuned.
constexpr double most_points_lost = 5;

bool uneven_gain(const Scores&, const CandidateScore& candidate) {
  const auto& gains = candidate.by_domain;
  return gains && (gains->mean <= 0 || 2 * gains->worse > gains->domains || gains->worst <= -most_points_lost);
}

std::string uneven_gain_words(const Scores&, const CandidateScore& candidate) {
  const DomainGains& gains = *candidate.by_domain;
  if (gains.mean <= 0)
    return fmt::format("over {} source domains treated as the target in turn it gains nothing ({:+.2f} points)",
                       gains.domains, gains.mean);
  if (2 * gains.worse > gains.domains)
    return fmt::format(
        "it loses more than half a point in {} of {} source domains treated as the target in turn, though {:+.2f} "
        "points on average",
        gains.worse, gains.domains, gains.mean);
  return fmt::format("it loses {:.1f} points in source domain '{}' treated as the target", -gains.worst,
                     gains.worst_domain);
}

bool not_scored(const Scores&, const CandidateScore& candidate) { return !candidate.gain || !candidate.gain_error; }

std::string not_scored_words(const Scores&, const CandidateScore& candidate) {
  return candidate.error.empty() ? "its gain has no standard error"
                                 : fmt::format("it could not be scored ({})", candidate.error);
}

/// How far a gain exceeds the noise that it must exceed.
double beyond_noise(const Scores& scores, const CandidateScore& candidate) {
  return *candidate.gain - errors_to_exceed(scores) * *candidate.gain_error;
}

bool within_error(const Scores& scores, const CandidateScore& candidate) {
  return beyond_noise(scores, candidate) <= 0;
}

std::string within_error_words(const Scores& scores, const CandidateScore& candidate) {
  return fmt::format("its estimated gain of {:.3g} does not exceed {:.2f} standard errors of {:.3g}", *candidate.gain,
                     errors_to_exceed(scores), *candidate.gain_error);
}

bool loss_near_target(const Scores&, const CandidateScore& candidate) {
  return candidate.importance_gain.value_or(0) < 0;
}

std::string loss_near_target_words(const Scores&, const CandidateScore& candidate) {
  return fmt::format("source rows near the target lose {:.3g} by it, though other domains gain",
                     -*candidate.importance_gain);
}

bool disagrees(const Scores&, const CandidateScore& candidate) {
  constexpr double errors = 2;
  return candidate.agreement_loss && candidate.agreement_loss_error &&
         *candidate.agreement_loss > errors * *candidate.agreement_loss_error;
}

std::string disagrees_words(const Scores&, const CandidateScore& candidate) {
  return fmt::format(
      "it agrees with all candidates together on {:.1f} points fewer of the target's rows than the reference, more "
      "than two standard errors",
      100 * *candidate.agreement_loss);
}

constexpr std::array<Veto, 8> list = {{
    {"few_target_rows", true, few_target_rows, few_target_rows_words},
    {"no_overlap", true, no_overlap, no_overlap_words},
    {"beyond_sources", true, beyond_sources, beyond_sources_words},
    {"uneven_gain", false, uneven_gain, uneven_gain_words},
    {"not_scored", false, not_scored, not_scored_words},
    {"within_error", false, within_error, within_error_words},
    {"loss_near_target", false, loss_near_target, loss_near_target_words},
    {"disagrees", false, disagrees, disagrees_words},
}};

}  // namespace

std::span<const Veto> vetoes() { return list; }

const Veto* veto_before_estimates(const Scores& scores) {
  for (const Veto& veto : list)
    if (veto.before && veto.against(scores, {})) return &veto;
  return nullptr;
}

const Veto* veto_against(const Scores& scores, std::size_t candidate) {
  for (const Veto& veto : list)
    if (veto.against(scores, scores.candidates[candidate])) return &veto;
  return nullptr;
}

Decision decide(const Scores& scores) {
  const auto& all = scores.candidates;
  const std::size_t chosen = choose(scores);
  if (chosen > 0) return {chosen, all.front().estimate ? decided_by_gain : decided_by_failure, {}};
  if (all.size() < 2) return {0, decided_by_gain, {}};
  // The candidate that came closest.
  std::size_t nearest = 1;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 1; c < all.size(); ++c) {
    if (!all[c].gain || !all[c].gain_error || beyond_noise(scores, all[c]) <= most) continue;
    nearest = c;
    most = beyond_noise(scores, all[c]);
  }
  const Veto* veto = veto_against(scores, nearest);
  if (veto == nullptr) return {0, decided_by_failure, {}};
  return {0, veto->name, veto->words(scores, all[nearest])};
}

}  // namespace ecotone
