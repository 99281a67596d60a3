#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/choose/row_loss.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

/// What candidates would lose on a target whose labels nobody has: estimates from the labelled source rows and the
/// unlabelled target rows of a training view.
namespace ecotone {

enum class Scorer { automatic, transfer, importance, control_variate, reverse, circular, entropy, density };

/// One scorer, for tables and messages.
struct ScorerInfo {
  Scorer scorer;
  std::string_view name;     ///< as on the command line: "control_variate"
  std::string_view summary;  ///< one sentence
  bool numbers;              ///< whether it is defined for regression, too
};
/// All scorers, the default first.
std::span<const ScorerInfo> scorer_infos();
std::string_view scorer_name(Scorer scorer);
/// Option error `unknown_scorer` with a suggestion.
Scorer scorer_by_name(std::string_view name);
/// Those that are defined for a task, in order.
std::vector<Scorer> scorers_of(Task task);

struct ScorerOptions {
  RowLoss loss = RowLoss::automatic;  ///< brier for classes, squared for numbers
  int folds = 5;                      ///< of source rows that are held out: whole domains where there are three
};

/// What a scorer says of one candidate. Lower is better.
struct CandidateScore {
  std::string pipeline;
  std::optional<double> estimate;        ///< an estimated mean loss, or a score that falls as the candidate gets better
  std::optional<double> standard_error;  ///< where the scorer has losses of rows or of domains
  std::optional<double> gain;            ///< the reference's estimate minus this one's; the reference's own is 0
  std::optional<double> gain_error;      ///< of the paired gain
  /// The gain that `importance` sees, which `automatic` asks beside `transfer`: other domains may gain what rows like
  /// the target's do not.
  std::optional<double> importance_gain;
  std::string error_code;  ///< why there is no estimate; empty when there is one
  std::string error;
};

struct Scores {
  Scorer asked = Scorer::automatic;
  Scorer used = Scorer::importance;  ///< never automatic
  RowLoss loss = RowLoss::error;     ///< never automatic
  Index freedom = 0;                 ///< degrees of freedom of errors over domains; 0: they are over rows
  /// In the order of the candidates; the first is the reference, «no adaptation».
  std::vector<CandidateScore> candidates;
};

class CandidateFits;

/// Scores candidates by one scorer after the other; fits that several scorers need are done once. Equal bytes for any
/// number of threads.
class CandidateScorer {
 public:
  /// Option errors: `no_pipeline`, `no_learner`, `bad_option`.
  CandidateScorer(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates,
                  const ScorerOptions& options, const Context& context);
  ~CandidateScorer();

  /// A candidate whose fit fails has its error instead of an estimate. Data errors: `no_target`, `needs_two_domains`,
  /// `too_few_rows`, and the first candidate's error when all fail. Option error `scorer_undefined`: not for this task.
  Scores scores(Scorer scorer);

 private:
  std::unique_ptr<CandidateFits> fits_;
};

/// The same for one scorer.
Scores score_candidates(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates, Scorer scorer,
                        const ScorerOptions& options, const Context& context);

/// How many standard errors a gain must exceed: one, or what Student's t asks of few domains in its place.
double errors_to_exceed(const Scores& scores);

/// The candidate to take: the one of the lowest estimate, the first among equals. `automatic`, which must do no harm,
/// takes another than the reference only if its paired gain exceeds `errors_to_exceed` of its standard errors and
/// `importance` does not see a loss; of several, the one whose gain exceeds them by most.
std::size_t choose(const Scores& scores);

}  // namespace ecotone
