#include "ecotone/solve/trees/refit.h"

#include "ecotone/base/error.h"

namespace ecotone {

BoostedTrees refit_trees(BoostedTrees model, const std::vector<TreeColumn>& columns, const Features& x,
                         const TreeLabels& labels, double rate, double strength, const Context& context) {
  if (labels.by_quantile()) internal_error("trees: leaves of quantiles cannot be refitted by Newton steps");
  Matrix scores = model.start.transpose().replicate(x.rows(), 1);
  for (std::size_t t = 0; t < model.trees.size(); t += at(model.outputs)) {
    // All trees of a round see the scores before it, each with its own old values.
    const Matrix before = scores;
    for (Index k = 0; k < model.outputs; ++k) {
      DecisionTree& tree = model.trees[t + at(k)];
      const std::vector<std::int32_t> leaf = tree_leaves(tree, columns, x, context);
      Matrix own = before;
      for (Index i = 0; i < x.rows(); ++i) own(i, k) += tree.value[at(leaf[at(i)])];
      const LossDerivatives derivatives = derivatives_of(labels, own, context);
      std::vector<double> g(tree.value.size(), 0.0), h(tree.value.size(), 0.0);
      for (Index i = 0; i < x.rows(); ++i) {
        g[at(leaf[at(i)])] += derivatives.first[at(k)][i];
        h[at(leaf[at(i)])] += derivatives.second[at(k)][i];
      }
      for (std::size_t l = 0; l < tree.value.size(); ++l)
        tree.value[l] -= rate * cut_step(labels, g[l] / (h[l] + strength));
      for (Index i = 0; i < x.rows(); ++i) scores(i, k) = before(i, k) + tree.value[at(leaf[at(i)])];
    }
  }
  return model;
}

}  // namespace ecotone
