#include "ecotone/solve/trees/importance.h"

#include <algorithm>
#include <mutex>

namespace ecotone {

namespace {

constexpr Index summed_at_once = 1 << 16;

/// Sums by leaf and domain.
std::vector<GradientSums> leaf_sums(const GrownTree& grown, const Gradients& gradients, const TreeDomains& domains,
                                    const Context& context) {
  const Share rows = gradients.rows.own;
  const Index cells = std::ssize(grown.tree.value) * domains.count;
  std::vector<GradientSums> sums(at(cells));
  std::mutex adding;
  context.parallel((rows.last - rows.first + summed_at_once - 1) / summed_at_once, [&](Index b) {
    std::vector<GradientSums> own(at(cells));
    const Index first = rows.first + b * summed_at_once;
    for (Index i = first; i < std::min(rows.last, first + summed_at_once); ++i) {
      const Gradients::Row row = gradients.row[at(i)];
      own[at(grown.leaf[at(i)] * domains.count + domains.index[at(i)])] += GradientSums{row.g, row.h, 1};
    }
    const std::lock_guard lock(adding);  // integers: the order does not matter
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += own[c];
  });
  if (gradients.rows.divided) sum_over_ranks("sums by leaf and domain", sums, context);
  return sums;
}

}  // namespace

void add_gains(const DecisionTree& tree, Vector& of_column) {
  for (const TreeNode& node : tree.nodes) of_column[node.feature] += node.gain;
}

void add_domain_gains(const GrownTree& grown, const Gradients& gradients, const TreeDomains& domains, double lam,
                      const Context& context, Matrix& of_domain) {
  const std::vector<TreeNode>& nodes = grown.tree.nodes;
  const Index count = domains.count;
  const std::vector<GradientSums> leaf = leaf_sums(grown, gradients, domains, context);
  std::vector<GradientSums> inner(nodes.size() * at(count));
  const auto sums_at = [&](std::int32_t place) {
    return place < 0 ? leaf.data() + (-place - 1) * count : inner.data() + place * count;
  };
  const auto change = [&](const GradientSums& sums, double w) {
    return gradients.g_scale.decode(sums.g) * w + gradients.h_scale.decode(sums.h) * w * w / 2;
  };
  const auto step = [&](const GradientSums* sums) {
    GradientSums all;
    for (Index e = 0; e < count; ++e) all += sums[e];
    const double below = gradients.h_scale.decode(all.h) + lam;
    return below > 0 ? -gradients.g_scale.decode(all.g) / below : 0;
  };
  // Children come after their node, so backwards every node finds its children's sums.
  for (std::size_t k = nodes.size(); k-- > 0;) {
    const GradientSums *left = sums_at(nodes[k].left), *right = sums_at(nodes[k].right);
    GradientSums* own = inner.data() + static_cast<Index>(k) * count;
    for (Index e = 0; e < count; ++e) (own[e] = left[e]) += right[e];
    const double w0 = step(own), wl = step(left), wr = step(right);
    for (Index e = 0; e < count; ++e)
      of_domain(e, nodes[k].feature) += -change(left[e], wl) - change(right[e], wr) + change(own[e], w0);
  }
}

}  // namespace ecotone
