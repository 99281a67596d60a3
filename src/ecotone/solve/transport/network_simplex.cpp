#include "ecotone/solve/transport/network_simplex.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

using WholeNumber = std::int64_t;

constexpr double mass_steps = 1125899906842624.0;  // 2^50

/// Steps of costs: paths through the tree, and the cost of an artificial arc, are sums of up to n + m costs.
double cost_steps(Index nodes) {
  return std::min(mass_steps, std::floor(std::ldexp(1.0, 58) / static_cast<double>(nodes)));
}

/// Masses as whole numbers of the same sum on both sides: exact where all masses of a side are equal.
struct WholeMasses {
  std::vector<WholeNumber> a;
  std::vector<WholeNumber> b;
  double unit = 0;  ///< what one stands for
};

bool all_equal(ConstVectorView values) { return (values.array() == values[0]).all(); }

std::vector<WholeNumber> rounded_masses(ConstVectorView values) {
  std::vector<WholeNumber> result;
  const double total = values.sum();
  double sum = 0;
  WholeNumber before = 0;
  for (Index i = 0; i < values.size(); ++i) {
    sum += values[i];
    const WholeNumber upto = i + 1 == values.size() ? static_cast<WholeNumber>(mass_steps)
                                                    : static_cast<WholeNumber>(std::llround(sum / total * mass_steps));
    result.push_back(upto - before);
    before = upto;
  }
  return result;
}

WholeMasses whole_masses(ConstVectorView a, ConstVectorView b) {
  if (!all_equal(a) || !all_equal(b)) return {rounded_masses(a), rounded_masses(b), 1 / mass_steps};
  const Index shared = std::gcd(a.size(), b.size());
  const WholeNumber of_a = b.size() / shared;
  const WholeNumber of_b = a.size() / shared;
  return {std::vector<WholeNumber>(static_cast<std::size_t>(a.size()), of_a),
          std::vector<WholeNumber>(static_cast<std::size_t>(b.size()), of_b),
          1 / (static_cast<double>(a.size()) * static_cast<double>(of_a))};
}

/// Costs as whole numbers up to cost_steps, kept or computed anew.
class WholeCosts {
 public:
  WholeCosts(Index n, Index m, const TransportCosts& costs, std::string_view who, const Context& context)
      : m_(m), costs_(costs) {
    Vector largest(n);
    context.parallel(n, [&](Index i) {
      std::vector<double> row(static_cast<std::size_t>(m));
      costs(i, 0, m, row.data());
      double top = 0;
      for (const double cost : row) top = cost > top || std::isnan(cost) ? cost : top;
      largest[i] = top;
    });
    if (!largest.allFinite()) data_error("non_finite", "{}: the distances overflow; scale the features first", who);
    const double top = largest.maxCoeff();
    // Costs so small that their factor would overflow count as 0.
    const double factor = cost_steps(n + m) / top;
    factor_ = std::isfinite(factor) ? factor : 0;
    if (n > most_kept_transport || m > most_kept_transport) return;
    require_memory(static_cast<std::size_t>(n * m) * sizeof(WholeNumber), who, "the costs of all pairs of rows",
                   "use fewer rows, or solver=entropic");
    kept_.resize(static_cast<std::size_t>(n * m));
    context.parallel(n, [&](Index i) {
      std::vector<double> row(static_cast<std::size_t>(m));
      fill(i, 0, m, row, kept_.data() + i * m);
    });
  }

  /// By how much costs may have been rounded.
  double rounding() const { return factor_ > 0 ? 0.5 / factor_ : 0; }

  /// The costs of source i from sink `from` on; valid until the next call.
  const WholeNumber* row(Index i, Index from, Index count) {
    if (!kept_.empty()) return kept_.data() + i * m_ + from;
    real_.resize(static_cast<std::size_t>(count));
    whole_.resize(static_cast<std::size_t>(count));
    fill(i, from, count, real_, whole_.data());
    return whole_.data();
  }

 private:
  Index m_;
  const TransportCosts& costs_;
  double factor_ = 0;
  std::vector<WholeNumber> kept_;
  std::vector<double> real_;
  std::vector<WholeNumber> whole_;

  void fill(Index i, Index from, Index count, std::vector<double>& real, WholeNumber* out) const {
    costs_(i, from, count, real.data());
    for (Index j = 0; j < count; ++j) out[j] = static_cast<WholeNumber>(std::llround(factor_ * real[at(j)]));
  }
};

/// The spanning tree: sources 0 .. n-1, sinks n .. n+m-1, and a root that is joined to all by artificial arcs.
class SimplexTree {
 public:
  SimplexTree(const WholeMasses& masses, WholeNumber artificial)
      : n_(static_cast<int>(masses.a.size())),
        m_(static_cast<int>(masses.b.size())),
        root_(n_ + m_),
        parent_(size(), root_),
        up_(size()),
        flow_(size()),
        cost_(size()),
        depth_(size(), 1),
        potential_(size()),
        first_child_(size(), -1),
        next_(size(), -1),
        previous_(size(), -1) {
    parent_[at_of(root_)] = -1;
    depth_[at_of(root_)] = 0;
    for (int v = n_ + m_ - 1; v >= 0; --v) {
      const std::size_t at_v = at_of(v);
      const bool source = v < n_;
      // A source's arc leads to the root, a sink's from it: an arc without flow leads to the root.
      up_[at_v] = source || masses.b[at_of(v - n_)] == 0;
      flow_[at_v] = source ? masses.a[at_v] : masses.b[at_of(v - n_)];
      cost_[at_v] = source ? 0 : artificial;
      potential_[at_v] = up_[at_v] ? -cost_[at_v] : cost_[at_v];
      attach(v, root_);
    }
  }

  WholeNumber potential(int v) const { return potential_[at_of(v)]; }
  const WholeNumber* sink_potentials() const { return potential_.data() + n_; }

  /// Takes the arc from source i to sink j into the tree, whose reduced cost is negative, and drops the arc that
  /// blocks.
  void pivot(int i, int j, WholeNumber cost) {
    const int second = n_ + j;
    // Where the paths to the root meet.
    int join_a = i;
    int join_b = second;
    while (join_a != join_b) {
      if (depth_[at_of(join_a)] >= depth_[at_of(join_b)])
        join_a = parent_[at_of(join_a)];
      else
        join_b = parent_[at_of(join_b)];
    }
    const int join = join_a;
    // Flow goes from the join down to i, along the arc, and from j up to the join. Of arcs that block equally, the last
    // one on this way leaves: the tree stays strongly feasible.
    WholeNumber least = std::numeric_limits<WholeNumber>::max();
    int out = -1;
    bool out_on_first = true;
    for (int u = i; u != join; u = parent_[at_of(u)]) {
      if (up_[at_of(u)] && flow_[at_of(u)] < least) {
        least = flow_[at_of(u)];
        out = u;
      }
    }
    for (int u = second; u != join; u = parent_[at_of(u)]) {
      if (!up_[at_of(u)] && flow_[at_of(u)] <= least) {
        least = flow_[at_of(u)];
        out = u;
        out_on_first = false;
      }
    }
    if (least > 0) {
      for (int u = i; u != join; u = parent_[at_of(u)]) flow_[at_of(u)] += up_[at_of(u)] ? -least : least;
      for (int u = second; u != join; u = parent_[at_of(u)]) flow_[at_of(u)] += up_[at_of(u)] ? least : -least;
    }
    // The part below the leaving arc hangs from the entering one.
    const int top = out_on_first ? i : second;
    const int below = out_on_first ? second : i;
    hang(top, below, out, least, cost, top == i);
  }

  /// Flows of the arcs between sources and sinks.
  template <class Visit>
  void each_flow(Visit&& visit) const {
    for (int v = 0; v < n_ + m_; ++v) {
      const int p = parent_[at_of(v)];
      if (p == root_ || flow_[at_of(v)] == 0) continue;
      visit(v < n_ ? v : p, (v < n_ ? p : v) - n_, flow_[at_of(v)]);
    }
  }

  /// What is left on artificial arcs: 0 at the end.
  WholeNumber artificial_flow() const {
    WholeNumber sum = 0;
    for (int v = 0; v < n_ + m_; ++v)
      if (parent_[at_of(v)] == root_) sum += flow_[at_of(v)];
    return sum;
  }

 private:
  int n_;
  int m_;
  int root_;
  std::vector<int> parent_;
  std::vector<char> up_;  ///< whether the arc to the parent leads to it
  std::vector<WholeNumber> flow_;
  std::vector<WholeNumber> cost_;  ///< of the arc to the parent
  std::vector<int> depth_;
  std::vector<WholeNumber> potential_;  ///< cost + potential(from) - potential(to) is 0 on the tree
  std::vector<int> first_child_;
  std::vector<int> next_;
  std::vector<int> previous_;
  std::vector<int> stack_;

  std::size_t size() const { return static_cast<std::size_t>(n_ + m_ + 1); }
  static std::size_t at_of(int v) { return static_cast<std::size_t>(v); }

  void attach(int v, int to) {
    parent_[at_of(v)] = to;
    previous_[at_of(v)] = -1;
    next_[at_of(v)] = first_child_[at_of(to)];
    if (next_[at_of(v)] >= 0) previous_[at_of(next_[at_of(v)])] = v;
    first_child_[at_of(to)] = v;
  }
  void detach(int v) {
    const int before = previous_[at_of(v)];
    const int after = next_[at_of(v)];
    if (before >= 0)
      next_[at_of(before)] = after;
    else
      first_child_[at_of(parent_[at_of(v)])] = after;
    if (after >= 0) previous_[at_of(after)] = before;
  }

  /// Turns the path from `top` to `out` around and hangs `top` from `below`.
  void hang(int top, int below, int out, WholeNumber flow, WholeNumber cost, bool up) {
    int v = top;
    int to = below;
    WholeNumber new_flow = flow;
    WholeNumber new_cost = cost;
    bool new_up = up;
    for (;;) {
      const int old_parent = parent_[at_of(v)];
      const WholeNumber old_flow = flow_[at_of(v)];
      const WholeNumber old_cost = cost_[at_of(v)];
      const bool old_up = up_[at_of(v)] != 0;
      detach(v);
      attach(v, to);
      flow_[at_of(v)] = new_flow;
      cost_[at_of(v)] = new_cost;
      up_[at_of(v)] = new_up;
      if (v == out) break;
      // The arc to the old parent now leads from there to v.
      to = v;
      v = old_parent;
      new_flow = old_flow;
      new_cost = old_cost;
      new_up = !old_up;
    }
    refresh(top);
  }

  /// Depths and potentials of the part below v, which is shifted as a whole.
  void refresh(int v) {
    const std::size_t at_v = at_of(v);
    const WholeNumber fresh =
        up_[at_v] ? potential_[at_of(parent_[at_v])] - cost_[at_v] : potential_[at_of(parent_[at_v])] + cost_[at_v];
    const WholeNumber shift = fresh - potential_[at_v];
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const int u = stack_.back();
      stack_.pop_back();
      potential_[at_of(u)] += shift;
      depth_[at_of(u)] = depth_[at_of(parent_[at_of(u)])] + 1;
      for (int child = first_child_[at_of(u)]; child >= 0; child = next_[at_of(child)]) stack_.push_back(child);
    }
  }
};

/// The entering arc: the smallest reduced cost of the first block of arcs that has a negative one.
class BlockSearch {
 public:
  BlockSearch(Index n, Index m) : n_(n), m_(m) {
    block_ = std::max<Index>(static_cast<Index>(std::sqrt(static_cast<double>(n) * static_cast<double>(m))), 10);
  }

  struct Arc {
    int i = -1;
    int j = -1;
    WholeNumber cost = 0;
  };
  /// i is -1 if no arc has a negative reduced cost.
  Arc next(WholeCosts& costs, const SimplexTree& tree) {
    const Index arcs = n_ * m_;
    Arc best;
    WholeNumber least = 0;
    Index in_block = 0;
    for (Index seen = 0; seen < arcs;) {
      const Index i = place_ / m_;
      const Index from = place_ % m_;
      const Index count = std::min({m_ - from, block_ - in_block, arcs - seen});
      const WholeNumber* cost = costs.row(i, from, count);
      const WholeNumber* sink = tree.sink_potentials() + from;
      const WholeNumber own = tree.potential(static_cast<int>(i));
      for (Index k = 0; k < count; ++k) {
        const WholeNumber reduced = cost[k] + own - sink[k];
        if (reduced < least) {
          least = reduced;
          best = {static_cast<int>(i), static_cast<int>(from + k), cost[k]};
        }
      }
      seen += count;
      in_block += count;
      place_ = place_ + count == arcs ? 0 : place_ + count;
      if (in_block == block_) {
        if (least < 0) return best;
        in_block = 0;
      }
    }
    return best;
  }

 private:
  Index n_;
  Index m_;
  Index block_ = 0;
  Index place_ = 0;
};

}  // namespace

ExactPlan exact_transport(ConstVectorView a, ConstVectorView b, const TransportCosts& costs, std::string_view who,
                          const Context& context) {
  const Index n = a.size();
  const Index m = b.size();
  if (n == 0 || m == 0) data_error("empty_data", "{}: there are no rows to move", who);
  if (n > most_exact_transport || m > most_exact_transport)
    data_error("too_many_rows", "{}: an exact plan between {} and {} rows takes too long, {} is the most; {}", who, n,
               m, most_exact_transport, "use solver=entropic, or fewer rows");
  const WholeMasses masses = whole_masses(a, b);
  WholeCosts whole(n, m, costs, who, context);
  const auto artificial = static_cast<WholeNumber>(cost_steps(n + m) + 1) * (n + m);
  SimplexTree tree(masses, artificial);
  BlockSearch search(n, m);
  ExactPlan plan;
  for (;; ++plan.pivots) {
    if (plan.pivots % 1000 == 0) context.check_cancelled();
    const BlockSearch::Arc arc = search.next(whole, tree);
    if (arc.i < 0) break;
    tree.pivot(arc.i, arc.j, arc.cost);
  }
  if (tree.artificial_flow() != 0) internal_error("{}: a plan that does not move all masses", who);
  tree.each_flow([&](int i, int j, WholeNumber flow) {
    plan.moved.push_back({i, j, static_cast<double>(flow) * masses.unit});
  });
  std::ranges::sort(plan.moved, [](const TransportMass& x, const TransportMass& y) {
    return x.from != y.from ? x.from < y.from : x.to < y.to;
  });
  for (const TransportMass& each : plan.moved) {
    double cost = 0;
    costs(each.from, each.to, 1, &cost);
    plan.cost += each.mass * cost;
  }
  plan.rounding = whole.rounding();
  return plan;
}

TransportCosts squared_distance_costs(ConstMatrixView x, ConstMatrixView y) {
  const double* xs = x.data();
  const double* ys = y.data();
  const Index x_stride = x.outerStride();
  const Index y_stride = y.outerStride();
  const Index cols = x.cols();
  return [xs, ys, x_stride, y_stride, cols](Index i, Index from, Index count, double* out) {
    const double* own = xs + i * x_stride;
    for (Index j = 0; j < count; ++j) {
      const double* other = ys + (from + j) * y_stride;
      double sum = 0;
      for (Index k = 0; k < cols; ++k) sum += (own[k] - other[k]) * (own[k] - other[k]);
      out[j] = sum;
    }
  };
}

}  // namespace ecotone
