#include "ecotone/methods/query/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/solve/neighbours/neighbours.h"

namespace ecotone {
namespace {

/// The largest entry of a row and the next one.
struct Top {
  double first = 0;
  double second = 0;
};

template <class Row>
Top top_two(const Row& row) {
  Top top{-INFINITY, -INFINITY};
  for (Index k = 0; k < row.size(); ++k) {
    if (row[k] > top.first) {
      top = {row[k], top.first};
    } else if (row[k] > top.second) {
      top.second = row[k];
    }
  }
  return top;
}

void require_variance(const Prediction& prediction) {
  if (prediction.variance.size() == prediction.value.size()) return;
  data_error("needs_uncertainty",
             "the learner does not say how sure it is of a number; use the strategy neighbours or random, or gp");
}

template <class Measure>
Vector by_rows(const Matrix& values, Measure&& measure) {
  Vector result(values.rows());
  for (Index i = 0; i < values.rows(); ++i) result[i] = measure(values.row(i));
  return result;
}

double entropy_of(const auto& row) {
  // H = -sum_k p_k log2 p_k, (59.40)
  double sum = 0;
  for (Index k = 0; k < row.size(); ++k)
    if (row[k] > 0) sum -= row[k] * std::log2(row[k]);
  return sum;
}

}  // namespace

Vector entropy_bits(ConstMatrixView probability) {
  Vector result(probability.rows());
  for (Index i = 0; i < probability.rows(); ++i) result[i] = entropy_of(probability.row(i));
  return result;
}

Vector uncertainty(QueryRule rule, const Prediction& prediction) {
  if (prediction.task == Task::regress) {
    require_variance(prediction);
    return prediction.variance;
  }
  const Matrix score = decision_scores(prediction);
  if (score.cols() == 1) return -score.col(0).cwiseAbs();
  switch (rule) {
    case QueryRule::entropy:
      return entropy_bits(prediction.probability);
    case QueryRule::margin:
      return by_rows(prediction.probability, [](const auto& row) {
        const Top top = top_two(row);
        return top.second - top.first;
      });
    case QueryRule::hyperplane:
      return by_rows(score, [](const auto& row) {
        const Top top = top_two(row);
        return top.second - top.first;
      });
    default:
      return by_rows(prediction.probability, [](const auto& row) { return -row.maxCoeff(); });
  }
}

Vector uncertainty_share(QueryRule rule, const Prediction& prediction) {
  if (prediction.task == Task::regress) {
    require_variance(prediction);
    return prediction.variance;
  }
  switch (rule) {
    case QueryRule::entropy:
      return entropy_bits(prediction.probability);
    case QueryRule::margin:
    case QueryRule::hyperplane:
      return by_rows(prediction.probability, [](const auto& row) {
        const Top top = top_two(row);
        return 1 - (top.first - top.second);
      });
    default:
      return by_rows(prediction.probability, [](const auto& row) { return 1 - row.maxCoeff(); });
  }
}

Vector vote_uncertainty(ConstMatrixView rows, ConstMatrixView labelled, const Labels& y, Index k,
                        const Context& context) {
  const Index voters = std::min(k, labelled.rows());
  const Neighbours near = nearest_neighbours(rows, labelled, voters, Self::keep, context, "neighbours");
  Vector result(rows.rows());
  std::vector<Index> votes(y.classes.size());
  for (Index i = 0; i < rows.rows(); ++i) {
    if (y.task == Task::classify) {
      std::ranges::fill(votes, 0);
      for (Index n = 0; n < voters; ++n) ++votes[at(y.index[at(near.index(i, n))])];
      // N - (K - N) as whole numbers: 1/3 and 2/3 do not tie in floating point
      result[i] = -static_cast<double>(2 * std::ranges::max(votes) - voters);
    } else {
      double sum = 0, squares = 0;
      for (Index n = 0; n < voters; ++n) sum += y.value[near.index(i, n)];
      for (Index n = 0; n < voters; ++n)
        squares += std::pow(y.value[near.index(i, n)] - sum / static_cast<double>(voters), 2);
      result[i] = squares / static_cast<double>(voters);
    }
  }
  return result;
}

}  // namespace ecotone
