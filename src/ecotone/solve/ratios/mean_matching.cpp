#include "ecotone/solve/ratios/mean_matching.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr int steps_between_checks = 10;

/// The largest weight of each of n rows.
Vector caps_of(const WeightBox& box, Index n) {
  return box.mass.size() == 0 ? Vector(Vector::Constant(n, box.most)) : Vector(box.most * box.mass);
}

double clipped_sum(const Vector& v, double t, const Vector& caps) {
  return (v.array() - t).cwiseMax(0.0).cwiseMin(caps.array()).sum();
}

/// t with sum clip(v - t, 0, caps) = wanted. The sum falls in straight pieces, so Newton's steps end at t itself once
/// they reach its piece, which takes a few passes from near by; the middle of the bracket keeps them from circling.
double shift_for_sum(const Vector& v, const Vector& caps, double wanted) {
  constexpr int most_passes = 200, newton_passes = 7;
  double low = (v - caps).minCoeff(), high = v.maxCoeff(), t = std::clamp(0.0, low, high);
  for (int pass = 1; pass <= most_passes; ++pass) {
    const double sum = clipped_sum(v, t, caps);
    if (sum == wanted) break;
    (sum > wanted ? low : high) = t;
    const auto inside = static_cast<double>((v.array() > t && v.array() < t + caps.array()).count());
    double next = t + (sum - wanted) / inside;
    if (!(next > low && next < high) || pass % newton_passes == 0) next = low + (high - low) / 2;
    if (next == t || next <= low || next >= high) break;
    t = next;
  }
  return t;
}

/// G'w and G v, in pieces that depend on the number of rows alone.
Vector reduced(const Matrix& g, const Vector& w, const Context& context) {
  return transpose_product(g, Matrix(w), context).col(0);
}

Vector expanded(const Matrix& g, const Vector& v, const Context& context) {
  Vector result(g.rows());
  parallel_rows(g.rows(), context, [&](Index first, Index last) {
    multiply(g.middleRows(first, last - first), v, result.segment(first, last - first));
  });
  return result;
}

/// The kernel map of all rows.
Matrix mapped_rows(const Features& x, const LowRankMap& map, const char* who, const Context& context) {
  require_memory(2 * static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(map.rank()) * sizeof(double), who,
                 "the kernel map of the rows", "use a smaller rank");
  Matrix g(x.rows(), map.rank());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    LowRankMap::Workspace workspace;
    const RowBlock block = x.block(b, scratch);
    map.features(block.x, g.middleRows(block.first, block.x.rows()), workspace);
  });
  return g;
}

}  // namespace

Vector nearest_in_box(const Vector& v, const WeightBox& box) {
  const Vector caps = caps_of(box, v.size());
  const double sum = clipped_sum(v, 0, caps);
  double t = 0;
  if (sum > box.high)
    t = shift_for_sum(v, caps, box.high);
  else if (sum < box.low)
    t = shift_for_sum(v, caps, box.low);
  return (v.array() - t).cwiseMax(0.0).cwiseMin(caps.array());
}

double least_over_box(const Vector& gradient, const WeightBox& box) {
  const Vector caps = caps_of(box, gradient.size());
  std::vector<Index> order(at(gradient.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order,
                    [&](Index i, Index j) { return gradient[i] != gradient[j] ? gradient[i] < gradient[j] : i < j; });
  double sum = 0, value = 0;
  for (const Index i : order) {
    const double room = (gradient[i] < 0 ? box.high : box.low) - sum;
    if (room <= 0) break;
    const double taken = std::min(caps[i], room);
    value += taken * gradient[i];
    sum += taken;
  }
  return value;
}

MeanMatching match_means(const Matrix& g, const Vector& kappa, const WeightBox& box, double tolerance, int most_steps,
                         const Context& context) {
  const double largest = symmetric_eigen(gram(g, context), context).values[0];
  const double step = largest > 0 ? 1 / largest : 1;
  MeanMatching found;
  Vector w = nearest_in_box(Vector::Ones(g.rows()), box), y = w;
  double momentum = 1;
  const auto check = [&] {
    const Vector inner = reduced(g, w, context);
    const Vector gradient = expanded(g, inner, context) - kappa;
    found.objective = 0.5 * inner.squaredNorm() - kappa.dot(w);
    found.gap = std::max(0.0, gradient.dot(w) - least_over_box(gradient, box));
    found.converged = found.gap <= tolerance * std::abs(found.objective);
  };
  check();
  while (!found.converged && found.iterations < most_steps) {
    const Vector gradient = expanded(g, reduced(g, y, context), context) - kappa;
    Vector next = nearest_in_box(y - step * gradient, box);
    if ((y - next).dot(next - w) > 0) {
      momentum = 1;
      y = next;
    } else {
      const double after = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
      y = next + (momentum - 1) / after * (next - w);
      momentum = after;
    }
    w = std::move(next);
    if (++found.iterations % steps_between_checks == 0) {
      context.check_cancelled();
      check();
    }
  }
  check();
  found.weights = std::move(w);
  return found;
}

MeanMatching mean_matching(const Features& x, Index sources, const MeanMatchingOptions& options,
                           const Context& context) {
  const Index targets = x.rows() - sources;
  if (sources <= 0 || targets <= 0)
    data_error("empty_data", "{}: the {} domain has no rows", options.who, sources <= 0 ? "source" : "target");
  if (options.most < 1 - options.slack)
    option_error("bad_option", "{}: most must be at least 1 - slack = {}, got {}", options.who, 1 - options.slack,
                 options.most);
  const double sigma = options.sigma ? *options.sigma : median_bandwidth(x, context).sigma;
  if (!std::isfinite(sigma))
    data_error("non_finite", "{}: the distances between rows overflow; add scale before it", options.who);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = sigma};
  const LowRankKind kind = x.rows() <= options.rank ? LowRankKind::greedy : LowRankKind::pivoted;
  const LowRankFit fit = fit_low_rank(x, kernel, {.kind = kind, .rank = options.rank}, context);
  const Matrix all = mapped_rows(x, fit.map, options.who, context);
  const Matrix g = all.topRows(sources);
  // kappa = n_s G_s (mean of G_t)
  const Vector target = reduced(all.bottomRows(targets), Vector::Ones(targets), context) / static_cast<double>(targets);
  const auto n = static_cast<double>(sources);
  const Vector kappa = n * expanded(g, target, context);
  const WeightBox box{options.most, n * (1 - options.slack), n * (1 + options.slack), options.mass};
  MeanMatching found = match_means(g, kappa, box, options.tolerance, options.steps, context);
  found.sigma = sigma;
  found.rank = fit.map.rank();
  found.residual = fit.residual;
  return found;
}

}  // namespace ecotone
