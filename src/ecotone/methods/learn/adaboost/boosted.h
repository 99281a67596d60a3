#pragma once

#include <string>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/boost/boost.h"
#include "ecotone/solve/paths/means.h"

namespace ecotone {

/// Whether rows are held as numbers (true) or in 256 bins (false); automatic: depends on how many there are.
enum class ExactRowsOption { automatic, yes, no };
BoostRowsKind rows_kind(ExactRowsOption option);

/// Weak learners of one attribute, or small trees.
enum class BoostBase { stump, tree };

/// The labels of two classes as -1 and +1. Data errors `needs_classes` and `one_class`.
std::vector<double> boost_labels(const TrainView& view, const char* who);

/// Row weights of the labelled rows; empty: all 1. equal: times a factor, so that domains have the same total.
std::vector<double> boost_weights(const TrainView& view, GroupShares shares);

/// "1 round", "3 rounds".
std::string rounds_text(Index rounds);

/// Which weights a vote uses: those for the source or those for the target.
enum class BoostSide { source, target };

/// Fitted runs of boosting as stages keep them: stumps or trees with their weights, and the history of every round.
class BoostedRuns {
 public:
  BoostedRuns() = default;
  /// What the runs have: target histories, criteria, and trees of this depth in place of stumps.
  struct Shape {
    bool has_target = false;
    bool criteria = false;
    int depth = 0;
    double gamma = 1;  ///< no beta is larger than boost_most_vote / gamma
  };
  /// `kept[r]` rounds of run r vote.
  BoostedRuns(std::vector<BoostFit> fits, std::vector<Index> kept, Shape shape);

  /// sum over kept rounds of alpha sign(h) (source) or beta sign(h) (target), divided by the sum of the weights, as the
  /// mean over the runs that have rounds: in [-1, 1].
  Vector mean_vote(BoostSide side, const Features& x, const Context& context) const;
  /// sum alpha sign(h) of the first run, as it is.
  Vector plain_vote(const Features& x, const Context& context) const;

  const std::vector<BoostFit>& fits() const { return fits_; }
  const std::vector<Index>& kept() const { return kept_; }
  Index rounds() const;

  void save(StageState& state) const;
  /// Checks every array: file error `bad_model`.
  static BoostedRuns load(const StageState& state, Index cols, Shape shape);

 private:
  std::vector<BoostFit> fits_;
  std::vector<Index> kept_;
  Shape shape_;

  /// Appends run r with these weights, times a factor, to a vote.
  struct Vote {
    std::vector<Stump> stumps;
    std::vector<BoostTree> trees;
    std::vector<double> weights;
  };
  void add_run(std::size_t r, BoostSide side, double factor, Vote& vote) const;
  double weight_sum(std::size_t r, BoostSide side) const;
  static Vector values(const Vote& vote, const Features& x, const Context& context);
};

}  // namespace ecotone
