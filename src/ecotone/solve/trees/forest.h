#pragma once

#include "ecotone/solve/trees/boosted.h"

/// Random forests: trees grown to the end, each on a bootstrap sample of the rows, with columns drawn anew for every
/// split. Their leaves hold means, and a forest answers with the mean over its trees.
namespace ecotone {

struct ForestOptions {
  Index trees = 300;
  Index columns = 1;  ///< drawn for a split; more are drawn while none of them can be split
  bool bootstrap = true;
  TreeOptions growth;  ///< of these depth, min_rows and cat_*
};

/// `labels` are numbers (loss squared) or classes (logistic or softmax): then each class has trees of its own where
/// there are more than two, and leaves hold shares of the class, of the second one where there are two. Scores are sums
/// over the trees, to be divided by their number. The bytes do not depend on the number of threads. Memory is checked.
BoostedTrees grow_forest(const TreeRows& data, const TreeLabels& labels, const ForestOptions& options,
                         const Context& context);

}  // namespace ecotone
