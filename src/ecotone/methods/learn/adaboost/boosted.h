#pragma once

#include <string>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/boost.h"

namespace ecotone {

/// Whether rows are held as numbers (true) or in 256 bins (false); automatic: by their number.
enum class ExactRowsOption { automatic, yes, no };
BoostRowsKind rows_kind(ExactRowsOption option);

/// The labels of two classes as -1 and +1. Data errors `needs_classes` and `one_class`.
std::vector<double> boost_labels(const TrainView& view, const char* who);

/// The class, and 1 / (1 + exp(-2 score)), of decision values; a score of 0 goes to the second class.
Prediction boost_prediction(Vector score);

/// What a vote says of rows: the weights of which domain.
enum class BoostSide { source, target };

/// Fitted runs of boosting as stages keep them: stumps or trees with their weights, and the history of every round.
class BoostedRuns {
 public:
  BoostedRuns() = default;
  /// `kept[r]` rounds of run r vote. Target histories are there when `has_target`, criteria when they were computed.
  BoostedRuns(std::vector<BoostFit> fits, std::vector<Index> kept, bool has_target, bool criteria);

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
  static BoostedRuns load(const StageState& state, Index cols, bool has_target, bool criteria);

 private:
  std::vector<BoostFit> fits_;
  std::vector<Index> kept_;
  bool has_target_ = false;
  bool criteria_ = false;
};

}  // namespace ecotone
