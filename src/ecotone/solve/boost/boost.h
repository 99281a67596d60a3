#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/boost/stump.h"
#include "ecotone/solve/boost/tree.h"

/// Boosting of stumps and small trees with a target sample (habrard2012), and AdaBoost without one. Each round draws
/// candidates keyed by (seed, run, round, draw, candidate), judges them by their masses and records the history. The
/// weights of the two domains are normalised separately, and the total target weight W_T is kept as a logarithm.
///
/// Several runs share one table of rows. Exact rows are numbers, processed in vectorised loops with one thread per run.
/// Binned rows take one byte per value; updating the weights of a round and making the histogram of the next are one
/// pass, and a weight is the only state of a row. Trees use bins as well.
///
/// Written by hand because no library has the target's half of the algorithm, and for row weights and equal bytes for
/// any number of threads.
namespace ecotone {

/// Which candidate of a round is taken. max_wtplus: most target weight outside the band |h| <= gamma; min_bound:
/// smallest bound Z' of the round; min_source: smallest source error, always used without a target.
enum class BoostSelect { max_wtplus, min_bound, min_source };

/// Where the stumps of a round come from. drawn: random thresholds on one random attribute; all: the best over all
/// attributes and thresholds, only without a target; fixed: the lists in BoostOptions::fixed.
enum class BoostSearch { drawn, all, fixed };

/// How the rows are held. exact: as doubles; binned: one byte per value, with thresholds at the edges of 256 bins.
/// automatic: binned from boost_binned_rows rows on.
enum class BoostRowsKind { automatic, exact, binned };
/// Edges of the bins: equally spaced, or with equally many rows of a sample between them.
enum class BoostBins { uniform, quantile };

/// Number of source and target rows from which automatic means binned.
constexpr Index boost_binned_rows = 100'000;
/// Limits of the random keys.
constexpr int boost_most_rounds = 1 << 26;
constexpr int boost_most_candidates = 1 << 14;
constexpr int boost_most_runs = 1 << 16;
/// Smallest floor; it bounds alpha and beta gamma by ln((1 - floor) / floor) / 2.
constexpr double boost_least_floor = 1e-12;
constexpr double boost_most_vote = 13.82;
/// Draws without a weak learner after which a round gives up.
constexpr int boost_redraws = 50;

/// Labelled source rows and unlabelled target rows.
struct BoostProblem {
  Features source;
  std::span<const double> y;  ///< -1 or +1 for each source row
  /// Nonnegative weights of the source rows; empty: all 1. A common factor does not matter: if all weights are integer
  /// multiples of the smallest, these multiples count copies of rows; otherwise the mean weight counts as one row.
  std::span<const double> weight = {};
  bool copies = true;    ///< whether integer multiples count copies; otherwise the mean weight always counts as one row
  Features target = {};  ///< may have no rows: AdaBoost
  const char* who = "daboost";  ///< the name used in messages
};

struct BoostOptions {
  double gamma = 0.2;  ///< margin, in (0, 1)
  int rounds = 1500;
  int candidates = 1;  ///< thresholds drawn per round
  BoostSelect select = BoostSelect::max_wtplus;
  StumpScale scale = {};
  double b_t = 1;  ///< largest share of the target weight that may lie outside the band, in (1/2, 1]; 1: no limit
  std::optional<double> floor;  ///< floor of both ratios, in (0, 1/2); none: 1/(2 n) of each domain, at most 1/4
  std::uint64_t seed = 0;
  int run = 0;  ///< independent runs have different random draws
  BoostSearch search = BoostSearch::drawn;
  std::span<const std::vector<StumpCandidate>> fixed = {};  ///< candidates of each round, in order
  int depth = 0;  ///< of trees, up to boost_most_depth; 0: stumps. Trees use bins, drawn or the best of all
  BoostRowsKind rows = BoostRowsKind::automatic;
  BoostBins bins = BoostBins::uniform;
  bool criteria = false;  ///< also d_H, d_Hgamma, d_band, eq. 13 and eq. 14 of every round; sorts all rows each time
  bool weights = true;    ///< whether the fit returns the weights of the rows after the last round
};

/// One round: the stump, its masses before the update, and the losses of the votes after it.
struct BoostRound {
  Stump stump;
  double eps = 0;   ///< share of the source weight that the stump gets wrong, before the floor
  double viol = 0;  ///< share of the target weight with |h| <= gamma, before the floor
  double alpha = 0;
  double beta = 0;
  double log_z = 0;                          ///< Z, the sum of all weights after the update
  double log_bound = 0;                      ///< Z', right side of eq. 6
  double log_w_source = 0;                   ///< W_S before the update; W_S + W_T = 1
  double log_w_target = 0;                   ///< W_T before the update; minus infinity without a target
  double err_source = 0;                     ///< y f_S <= 0
  double margin_loss = 0;                    ///< y f_S <= gamma
  double margin_loss_normalised = 0;         ///< y f_S <= gamma sum alpha
  double loss_target = 0;                    ///< sum beta y^n h < 0, where y^n h = -|h| inside the band, |h| outside
  double d_h = 0, d_hgamma = 0, d_band = 0;  ///< criteria only
  double eq13 = 0;                           ///< margin_loss + d_hgamma / 2; criteria only
  double eq14 = 0;                           ///< err_source + d_h / 2; criteria only
};

/// Why boosting stopped. rounds: all rounds were run; no_weak_da_learner: no candidate was good on the source and had
/// most of the target weight outside the band; no_weak_learner: the same without a target; perfect: the best of all
/// stumps makes no error and would be taken forever.
enum class BoostStop { rounds, no_weak_da_learner, no_weak_learner, perfect };
/// n_iter, no_weak_da_learner, no_weak_learner, perfect.
std::string_view boost_stop_name(BoostStop stop);

/// Candidates rejected in the last round, by reason; all 0 unless it stopped for lack of a candidate.
struct BoostRefusals {
  Index source = 0;  ///< error not below 1/2
  Index target = 0;  ///< half of the target weight or more in the band
  Index b_t = 0;     ///< more than b_t of the target weight outside
};

struct BoostFit {
  std::vector<BoostRound> rounds;
  std::vector<BoostTree> trees;  ///< the tree of each round, if trees were requested
  BoostStop stop = BoostStop::rounds;
  BoostRefusals refused;
  bool constant = false;    ///< every column is constant, so that there are no stumps
  double log_w_source = 0;  ///< after the last round
  double log_w_target = 0;
  Vector source_weight;  ///< only with BoostOptions::weights. D_S after the last round, summing to 1; 0 for rows of
                         ///< weight 0
  Vector target_weight;  ///< D_T, summing to 1
  bool binned = false;

  /// Weights alpha or beta of the first `count` rounds.
  std::vector<double> alphas(Index count) const;
  std::vector<double> betas(Index count) const;
  std::vector<Stump> stumps(Index count) const;
  /// Number of rounds to keep: up to the last minimum of eq. 13 or eq. 14. Requires `criteria`.
  Index rounds_by_eq13() const;
  Index rounds_by_eq14() const;
};

/// Boosting with an unlabelled target (habrard2012), or AdaBoost if the target has no rows. A round takes a stump h
/// with alpha = 1/2 ln((1 - eps)/eps) and beta = 1/(2 gamma) ln((1 - viol)/viol); f_S = sum alpha sign(h) predicts on
/// the source and f_T = sum beta sign(h) on the target. The bytes of the result do not depend on the number of threads.
/// An exact run uses one thread, and several runs proceed in parallel; on bins, the threads share the rows of a run.
/// Data errors, in this order: shape_mismatch, empty_data, bad_label, negative_weight, zero_weights, one_class,
/// non_finite, not_enough_memory. Option error `bad_option`.
BoostFit fit_boost(const BoostProblem& problem, const BoostOptions& options, const Context& context);

/// Independent runs options.run, options.run + 1, ... on the same rows, which are prepared once.
std::vector<BoostFit> fit_boost_runs(const BoostProblem& problem, const BoostOptions& options, int runs,
                                     const Context& context);

}  // namespace ecotone
