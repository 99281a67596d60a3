#pragma once

#include <vector>

#include "ecotone/methods/query/strategy.h"
#include "ecotone/reproduce/kinds/logistic_parts.h"

/// Parts of kind `logistic_queries`: rows of a known model, learned from all at once or one by one.
namespace ecotone {

struct QueryProblem {
  Index rows = 0, features = 0;
  double step = 0, l2 = 0;
  int epochs = 0;    ///< with all labels; 0: none
  Index seed = 0;    ///< rows that are labelled at first
  Index subset = 0;  ///< random rows among which a strategy picks
};

/// Normal features with noise-free labels (59.36).
struct LogisticDraw {
  Vector truth;  ///< w^a
  Matrix x;
  std::vector<std::int32_t> cls;
};
LogisticDraw draw_logistic_rows(const QueryProblem& problem, const Context& context);

/// The risk at the beginning of each epoch, and after the last, less the smallest risk, relative to the largest of
/// them: the exponential of (59.37).
struct LearningCurve {
  std::vector<double> excess;
  Vector optimum;  ///< w*
};
LearningCurve learning_curve(const QueryProblem& problem, const LogisticDraw& draw, const Context& context);

/// A seed learned from by (59.35), and then rows that are picked one by one.
class QueryWalk {
 public:
  QueryWalk(const QueryProblem& problem, const LogisticDraw& draw, int passes, const Context& context);

  Vector weights() const { return steps_.weights(); }
  double cosine_to_truth() const { return cosine(steps_.weights(), draw_.truth); }

  /// Draws the rows that may be asked now, as places in the pool.
  std::vector<Index> candidates() { return random_.sample(std::ssize(pool_), problem_.subset); }
  /// The candidate that a strategy asks.
  Index choice(const Strategy& strategy, const std::vector<Index>& candidates);
  /// Learns the label of a row of the pool.
  void learn(Index place);

 private:
  const QueryProblem& problem_;
  const LogisticDraw& draw_;
  const Context& context_;
  Random random_;
  LogisticSteps steps_;
  std::vector<Index> labelled_, pool_;

  Matrix features_of(const std::vector<Index>& rows) const;
  Vector scores(const Strategy& strategy, const std::vector<Index>& candidates) const;
};

}  // namespace ecotone
