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
#include "ecotone/methods/overlap.h"
#include "ecotone/methods/pipeline.h"

/// Estimates what candidates would lose on a target without labels, from the labelled source rows and the unlabelled
/// target rows of a training view.
namespace ecotone {

enum class Scorer {
  automatic,
  transfer,
  importance,
  control_variate,
  reverse,
  circular,
  entropy,
  density,
  ensemble,
  nuclear,
  mixval
};

/// One scorer, for tables and messages.
struct ScorerInfo {
  Scorer scorer;
  std::string_view name;     ///< as on the command line: "control_variate"
  std::string_view summary;  ///< one sentence
  bool numbers;              ///< whether it is also defined for regression
};
/// All scorers, the default first.
std::span<const ScorerInfo> scorer_infos();
std::string_view scorer_name(Scorer scorer);
/// Option error `unknown_scorer` with a suggestion.
Scorer scorer_by_name(std::string_view name);
/// The scorers defined for a task, in order.
std::vector<Scorer> scorers_of(Task task);

struct ScorerOptions {
  RowLoss loss = RowLoss::automatic;  ///< log_loss for classification, squared for regression
  int folds = 5;                      ///< of held-out source rows; whole domains if there are at least three
};

/// How a candidate does beside the reference in the source domains that are treated as the target in turn, in points:
/// of accuracy for classes, per cent of the reference's root mean squared error for numbers.
struct DomainGains {
  double mean = 0;
  double worst = 0;
  std::string worst_domain;
  Index worse = 0;  ///< domains that lose more than half a point
  Index domains = 0;
};

/// A scorer's result for one candidate. Lower is better.
struct CandidateScore {
  std::string pipeline;
  std::optional<double> estimate;        ///< an estimated mean loss, or a score that is lower for better candidates
  std::optional<double> standard_error;  ///< if the scorer has losses of rows or of domains
  std::optional<double> gain;            ///< the reference's estimate minus this one's; the reference's own is 0
  std::optional<double> gain_error;      ///< of the paired gain
  /// The gain by `importance`, which `automatic` uses besides `transfer`: other domains may gain where rows like the
  /// target's do not.
  std::optional<double> importance_gain;
  std::optional<DomainGains> by_domain;  ///< of the scorer `transfer`
  std::optional<double> tie_break;       ///< among equal estimates the lowest is chosen
  /// How much less of the target's rows than the reference it classifies as the mean of all candidates does;
  /// `automatic` of classes only.
  std::optional<double> agreement_loss;
  std::optional<double> agreement_loss_error;
  std::string error_code;  ///< why there is no estimate; empty when there is one
  std::string error;
};

struct Scores {
  Scorer asked = Scorer::automatic;
  Scorer used = Scorer::importance;  ///< never automatic
  RowLoss loss = RowLoss::error;     ///< never automatic
  Index freedom = 0;                 ///< degrees of freedom of errors over domains; 0: they are over rows
  /// What `automatic` looks at before any estimate; the others leave it empty.
  std::optional<Overlap> overlap = {};
  Index targets = 0;  ///< target rows
  Index cols = 0;     ///< columns of the view
  Index apart = 0;    ///< source domains that the others do not overlap; counted only if the target is such a domain
  /// In the order of the candidates; the first is the reference, "no adaptation".
  std::vector<CandidateScore> candidates;
};

class CandidateFits;

/// Scores candidates by one scorer after another; fits that several scorers need are done once. Results do not depend
/// on the number of threads.
class CandidateScorer {
 public:
  /// Option errors: `no_pipeline`, `no_learner`, `bad_option`.
  CandidateScorer(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates,
                  const ScorerOptions& options, const Context& context);
  ~CandidateScorer();

  /// A candidate whose fit fails gets an error instead of an estimate. Data errors: `no_target`, `needs_two_domains`,
  /// `too_few_rows`, and the first candidate's error when all fail. Option error `scorer_undefined`: not for this task.
  Scores scores(Scorer scorer);

 private:
  std::unique_ptr<CandidateFits> fits_;
};

/// The same for one scorer.
Scores score_candidates(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates, Scorer scorer,
                        const ScorerOptions& options, const Context& context);

/// How many standard errors a gain must exceed. Over domains: one, or the corresponding quantile of Student's t for few
/// of them. Over weighted rows of one or two source domains: 1.28, which a gain of 0 exceeds in one case of ten.
double errors_to_exceed(const Scores& scores);

/// The candidate to take: the one with the lowest estimate, the first among ties. `automatic`, which must do no harm,
/// departs from the reference only for a candidate that no veto speaks against (veto.h): among others its paired gain
/// exceeds `errors_to_exceed` standard errors; among several, the one that exceeds them by most.
std::size_t choose(const Scores& scores);

}  // namespace ecotone
