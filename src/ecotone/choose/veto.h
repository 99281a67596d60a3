#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ecotone/choose/scorer.h"

/// Why `automatic`, which must do no harm, does not take a candidate. The list is ordered: the first veto that applies
/// names the decision.
namespace ecotone {

struct Veto {
  std::string_view name;  ///< in JSON: "no_overlap"
  bool before;            ///< it needs no estimate, and no estimate counts where it applies
  bool (*against)(const Scores& scores, const CandidateScore& candidate);
  /// The rest of a sentence that begins with "because".
  std::string (*words)(const Scores& scores, const CandidateScore& candidate);
};

/// All vetoes, in the order in which they are looked at.
std::span<const Veto> vetoes();
/// The first veto that needs no estimate; null when there is none.
const Veto* veto_before_estimates(const Scores& scores);
/// The first veto against a candidate other than the reference; null when there is none.
const Veto* veto_against(const Scores& scores, std::size_t candidate);

/// The name of a decision that no veto made: the gain is large enough.
inline constexpr std::string_view decided_by_gain = "gain";
/// The same where the reference could not be scored and the others were compared with each other.
inline constexpr std::string_view decided_by_failure = "reference_failed";

/// A decision of `automatic`, and what decided it.
struct Decision {
  std::size_t chosen = 0;
  std::string_view by;  ///< decided_by_gain, decided_by_failure, or the veto against the most promising candidate
  std::string words;    ///< of that veto; empty otherwise
};
/// What `choose` takes, with the reason. The most promising candidate is the one whose gain exceeds its needed size by
/// the most, or falls short of it by the least; the first one where nothing was estimated.
Decision decide(const Scores& scores);

}  // namespace ecotone
