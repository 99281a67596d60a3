#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Losses of boosted trees: where they start, and their derivatives by the score.
namespace ecotone {

enum class TreeLoss { logistic, softmax, probit, squared, poisson, absolute, quantile };
inline constexpr std::array<std::string_view, 7> tree_loss_names{"logistic", "softmax",  "probit",  "squared",
                                                                 "poisson",  "absolute", "quantile"};
constexpr std::string_view tree_loss_name(TreeLoss loss) { return tree_loss_names[static_cast<std::size_t>(loss)]; }

/// What trees learn: numbers, or classes 0, 1, ... as numbers.
struct TreeLabels {
  TreeLoss loss = TreeLoss::squared;
  Vector y = {};
  Index classes = 1;   ///< softmax: as many trees a round
  double tau = 0.5;    ///< quantile
  Vector weight = {};  ///< empty: all 1

  Index outputs() const { return loss == TreeLoss::softmax ? classes : 1; }
  double weight_of(Index i) const { return weight.size() == 0 ? 1.0 : weight[i]; }
  /// Whether leaves hold quantiles of the residuals, not Newton steps.
  bool by_quantile() const { return loss == TreeLoss::absolute || loss == TreeLoss::quantile; }
  double level() const { return loss == TreeLoss::absolute ? 0.5 : tau; }
};

/// The score of all rows before the first round, by output.
Vector start_scores(const TreeLabels& labels);

/// A step as the loss allows it: a leaf changes a Poisson rate by at most a factor of about 2.
double cut_step(const TreeLabels& labels, double step);

/// Derivatives of the weighted loss of every row by its scores: a vector for each output.
struct LossDerivatives {
  std::vector<Vector> first, second;
};
/// `scores`: rows x outputs. Of these rows alone; the others have no value.
LossDerivatives derivatives_of(const TreeLabels& labels, const Matrix& scores, Share rows, const Context& context);
inline LossDerivatives derivatives_of(const TreeLabels& labels, const Matrix& scores, const Context& context) {
  return derivatives_of(labels, scores, {0, labels.y.size()}, context);
}

/// The loss of row i by its scores, not weighted.
double tree_loss_at(const TreeLabels& labels, const Matrix& scores, Index i);
/// Weighted mean loss of these scores, of rows of labels of their own.
double mean_tree_loss(const TreeLabels& labels, const Matrix& scores);

/// The least value whose weight reaches `level` of the total.
double weighted_quantile(std::vector<std::pair<double, std::uint64_t>> values, double level);

}  // namespace ecotone
