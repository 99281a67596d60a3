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

namespace ecotone {

/// Which of the candidates of a round is taken. max_wtplus: most target weight outside the band |h| <= gamma;
/// min_bound: smallest bound Z' of the round; min_source: smallest source error, always so without a target.
enum class BoostSelect { max_wtplus, min_bound, min_source };

/// Where the stumps of a round come from. drawn: thresholds at random on one random attribute; all: the best over all
/// attributes and thresholds, without a target only; fixed: the lists of BoostOptions::fixed.
enum class BoostSearch { drawn, all, fixed };

/// How the rows are held. exact: as numbers; binned: one byte a value, thresholds at the edges of 256 bins.
/// automatic: binned from boost_binned_rows rows on.
enum class BoostRowsKind { automatic, exact, binned };
/// Edges of the bins: equally far apart, or with equally many rows of a sample between them.
enum class BoostBins { uniform, quantile };

/// Source and target rows together from which automatic means binned.
constexpr Index boost_binned_rows = 100'000;
/// Limits of the random keys.
constexpr int boost_most_rounds = 1 << 26;
constexpr int boost_most_candidates = 1 << 14;
constexpr int boost_most_runs = 1 << 16;
/// Smallest floor, and largest alpha and beta gamma: ln((1 - floor) / floor) / 2.
constexpr double boost_least_floor = 1e-12;
constexpr double boost_most_vote = 13.82;
/// Draws of a round of which none is a weak learner before it gives up.
constexpr int boost_redraws = 50;

/// Labelled source rows and target rows without labels.
struct BoostProblem {
  Features source;
  std::span<const double> y;  ///< -1 or +1 of each source row
  /// Of source rows, not negative; empty: all 1. A common factor does not matter: where all weights are whole multiples
  /// of the smallest, these multiples count copies of rows; otherwise the mean weight counts as one row.
  std::span<const double> weight = {};
  bool copies = true;    ///< whether whole multiples count copies; otherwise the mean weight is one row in any case
  Features target = {};  ///< may have no rows: AdaBoost
  const char* who = "daboost";  ///< in messages
};

struct BoostOptions {
  double gamma = 0.2;  ///< margin, in (0, 1)
  int rounds = 1500;
  int candidates = 1;  ///< thresholds that are drawn in a round
  BoostSelect select = BoostSelect::max_wtplus;
  StumpScale scale = {};
  double b_t = 1;  ///< largest share of the target weight that may lie outside the band, in (1/2, 1]; 1: no limit
  std::optional<double> floor;  ///< of both ratios, in (0, 1/2); none: 1/(2 n) of each domain, at most 1/4
  std::uint64_t seed = 0;
  int run = 0;  ///< independent runs have different draws
  BoostSearch search = BoostSearch::drawn;
  std::span<const std::vector<StumpCandidate>> fixed = {};  ///< candidates of each round, in order
  int depth = 0;  ///< of trees, up to boost_most_depth; 0: stumps. Trees are on bins, drawn or the best of all
  BoostRowsKind rows = BoostRowsKind::automatic;
  BoostBins bins = BoostBins::uniform;
  bool criteria = false;  ///< also d_H, d_Hgamma, d_band, eq. 13 and eq. 14 of every round; sorts all rows each time
  bool weights = true;    ///< whether the fit has the weights of the rows after the last round
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

/// Why it stopped. rounds: all were run; no_weak_da_learner: no candidate was good on the source and had most of
/// the target weight outside the band; no_weak_learner: the same without a target; perfect: the best of all stumps
/// makes no error, and would be taken for ever.
enum class BoostStop { rounds, no_weak_da_learner, no_weak_learner, perfect };
/// n_iter, no_weak_da_learner, no_weak_learner, perfect.
std::string_view boost_stop_name(BoostStop stop);

/// Candidates of the last round that were refused, by reason; all 0 unless it stopped for want of a candidate.
struct BoostRefusals {
  Index source = 0;  ///< error not below 1/2
  Index target = 0;  ///< half of the target weight or more in the band
  Index b_t = 0;     ///< more than b_t outside
};

struct BoostFit {
  std::vector<BoostRound> rounds;
  std::vector<BoostTree> trees;  ///< of each round, where trees were asked for
  BoostStop stop = BoostStop::rounds;
  BoostRefusals refused;
  bool constant = false;    ///< every column is, so that there are no stumps
  double log_w_source = 0;  ///< after the last round
  double log_w_target = 0;
  Vector source_weight;  ///< BoostOptions::weights only. D_S after the last round, sum 1; rows of weight 0 have 0
  Vector target_weight;  ///< D_T, sum 1
  bool binned = false;

  /// Weights alpha or beta of the first `count` rounds.
  std::vector<double> alphas(Index count) const;
  std::vector<double> betas(Index count) const;
  std::vector<Stump> stumps(Index count) const;
  /// How many rounds to keep: those up to the last minimum of eq. 13 or eq. 14. `criteria` must have been asked for.
  Index rounds_by_eq13() const;
  Index rounds_by_eq14() const;
};

/// Boosting with a target that has no labels (habrard2012), and AdaBoost where it has no rows. A round takes a stump h
/// and alpha = 1/2 ln((1 - eps)/eps), beta = 1/(2 gamma) ln((1 - viol)/viol); f_S = sum alpha sign(h) predicts in the
/// source and f_T = sum beta sign(h) in the target. The same bytes for any number of threads. A run on numbers takes
/// one thread, and runs take theirs side by side; on bins the rows of a run are shared out. Data errors, in this order:
/// shape_mismatch, empty_data, bad_label, negative_weight, zero_weights, one_class, non_finite, not_enough_memory.
/// Option error `bad_option`.
BoostFit fit_boost(const BoostProblem& problem, const BoostOptions& options, const Context& context);

/// Independent runs options.run, options.run + 1, ... on the same rows, which are prepared once.
std::vector<BoostFit> fit_boost_runs(const BoostProblem& problem, const BoostOptions& options, int runs,
                                     const Context& context);

}  // namespace ecotone
