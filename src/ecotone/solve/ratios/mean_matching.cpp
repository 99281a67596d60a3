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
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr Index rows_of_block = 512;
/// The first delta, and the one below which rounding is larger, in parts of the kernel's trace.
constexpr double first_delta = 1e-2, least_delta = 1e-9;
/// What is left to gain of a move, in parts of the gap before it.
constexpr double inner_tolerance = 1e-6;
/// Moves without the gap becoming half of what it was, after which there is no more to gain.
constexpr int most_idle_moves = 20;
/// A rise that rounding hides, in parts of the value.
constexpr double least_slope = 1e-12;

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

/// What nearest_in_box finds, and whether the sum is at one of its limits.
struct Nearest {
  Vector w;
  bool sum_at_limit = false;
};

Nearest nearest(const Vector& v, const WeightBox& box, const Vector& caps) {
  const double sum = clipped_sum(v, 0, caps);
  const double wanted = std::clamp(sum, box.low, box.high);
  const double t = sum == wanted ? 0 : shift_for_sum(v, caps, wanted);
  return {(v.array() - t).cwiseMax(0.0).cwiseMin(caps.array()), sum != wanted || box.low == box.high};
}

/// Minimum over the box of |G'w|^2 / 2 - kappa'w + delta |w - c|^2 / 2, c weights near by. With p in place of G'w the
/// rows are independent,
///
///   w(p) = nearest in the box to c + (kappa - G p) / delta,
///
/// and p maximises a concave function of few variables, whose gradient is G'w(p) - p: by Newton's method, with the rows
/// F that are not at a limit in the second derivative -I - G_F'(I - 11' / |F|) G_F / delta. That minimum is the next c
/// (the proximal point method), so what the last c still has to gain falls ever faster while delta does.
class NearMatching {
 public:
  NearMatching(const Matrix& g, const Vector& kappa, const WeightBox& box, const Context& context)
      : g_(g), kappa_(kappa), box_(box), caps_(caps_of(box, g.rows())), context_(context) {
    move_centre(caps_ / box.most);
  }

  /// One move of c; returns the number of Newton's steps, which end where what is left to gain is at most `tolerance`.
  /// Less than one: rounding hides that the objective falls.
  int move(double delta, double tolerance, int most_steps) {
    now_ = at_point(p_, gp_, delta);
    int steps = 0;
    for (bool last = false; steps < most_steps && !last; ++steps) {
      context_.check_cancelled();
      const Vector gradient = reduced(g_, now_.w, context_) - p_;
      const Vector direction = newton(gradient, delta);
      const double gain = 0.5 * gradient.dot(direction);
      if (!(gain > tolerance)) break;
      last = !search(direction, 2 * gain, delta);
    }
    const double before = objective();
    const Vector old = centre_, inner = inner_;
    move_centre(now_.w);
    if (objective() < before) return std::max(steps, 1);
    centre_ = old;
    inner_ = inner;
    return 0;
  }

  const Vector& weights() const { return centre_; }
  double objective() const { return 0.5 * inner_.squaredNorm() - kappa_.dot(centre_); }
  /// How far the objective is above its minimum, at most.
  double gap() const {
    const Vector gradient = expanded(g_, inner_, context_) - kappa_;
    return std::max(0.0, gradient.dot(centre_) - least_over_box(gradient, box_));
  }

 private:
  struct Point : Nearest {
    double value = 0;
  };

  const Matrix& g_;
  const Vector& kappa_;
  const WeightBox& box_;
  const Vector caps_;
  const Context& context_;
  Vector centre_;
  Vector inner_;  ///< G'c
  Vector p_;
  Vector gp_;  ///< G p
  Point now_;  ///< at p

  /// To the weights nearest to w: those of a small delta are off their sum by the rounding of large numbers.
  void move_centre(const Vector& w) {
    centre_ = nearest(w, box_, caps_).w;
    inner_ = reduced(g_, centre_, context_);
    p_ = inner_;
    gp_ = expanded(g_, p_, context_);
  }

  Point at_point(const Vector& p, const Vector& gp, double delta) const {
    const Vector pull = kappa_ - gp;
    Point point{nearest(centre_ + pull / delta, box_, caps_)};
    point.value = -0.5 * p.squaredNorm() - pull.dot(point.w) + 0.5 * delta * (point.w - centre_).squaredNorm();
    return point;
  }

  /// (I + G_F'(I - 11' / |F|) G_F / delta)^-1 gradient
  Vector newton(const Vector& gradient, double delta) const {
    struct Sums {
      Matrix products;
      Vector sum;
      Index rows = 0;
      void merge(const Sums& other) {
        products += other.products;
        sum += other.sum;
        rows += other.rows;
      }
    };
    const Index r = g_.cols(), blocks = (g_.rows() + rows_of_block - 1) / rows_of_block;
    Sums sums = sum_blocks(blocks, context_, Sums{Matrix::Zero(r, r), Vector::Zero(r)}, [&](Sums& acc, Index b) {
      const Index first = b * rows_of_block, end = std::min(g_.rows(), first + rows_of_block);
      Matrix free(end - first, r);
      Index count = 0;
      for (Index i = first; i < end; ++i)
        if (now_.w[i] > 0 && now_.w[i] < caps_[i]) free.row(count++) = g_.row(i);
      add_gram(free.topRows(count), acc.products);
      acc.sum += free.topRows(count).colwise().sum().transpose();
      acc.rows += count;
    });
    if (now_.sum_at_limit && sums.rows > 0)
      sums.products.noalias() -= sums.sum * (sums.sum.transpose() / static_cast<double>(sums.rows));
    sums.products /= delta;
    sums.products.diagonal().array() += 1;
    const std::optional<Cholesky> factor = Cholesky::factor(std::move(sums.products), context_);
    return factor ? factor->solve(gradient, context_) : gradient;
  }

  /// Moves p along the direction, by halves until the value rises; false where rounding hides whether it does.
  bool search(const Vector& direction, double slope, double delta) {
    const Vector gd = expanded(g_, direction, context_);
    const bool hidden = slope < least_slope * std::abs(now_.value);
    for (double step = 1; step > 1e-6; step *= 0.5) {
      const Vector p = p_ + step * direction, gp = gp_ + step * gd;
      Point next = at_point(p, gp, delta);
      if (!hidden && next.value < now_.value + 1e-4 * step * slope) continue;
      p_ = p;
      gp_ = gp;
      now_ = std::move(next);
      return !hidden;
    }
    return false;
  }
};

/// The kernel map of the source rows, and its mean over the target rows.
struct MappedRows {
  Matrix sources;
  Vector target_mean;
};

MappedRows map_rows(const Features& x, Index sources, const LowRankMap& map, const char* who, const Context& context) {
  // Its products are summed in as many blocks as there are threads, and a few for their tree.
  const std::size_t rank = at(map.rank()), products = at(context.threads()) + 6;
  require_memory((at(sources) + products * rank) * rank * sizeof(double), who,
                 "the kernel map of the source rows and its products", "use a smaller rank");
  MappedRows mapped{Matrix(sources, map.rank()), {}};
  mapped.target_mean = sum_blocks(x.blocks(), context, Vector(Vector::Zero(map.rank())), [&](Vector& sum, Index b) {
    Scratch scratch;
    LowRankMap::Workspace workspace;
    const RowBlock block = x.block(b, scratch);
    Matrix features(block.x.rows(), map.rank());
    map.features(block.x, features, workspace);
    const Index own = std::clamp<Index>(sources - block.first, 0, features.rows());
    mapped.sources.middleRows(std::min(block.first, sources), own) = features.topRows(own);
    sum += features.bottomRows(features.rows() - own).colwise().sum().transpose();
  });
  mapped.target_mean /= static_cast<double>(x.rows() - sources);
  return mapped;
}

}  // namespace

Vector nearest_in_box(const Vector& v, const WeightBox& box) { return nearest(v, box, caps_of(box, v.size())).w; }

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
  MeanMatching found;
  NearMatching problem(g, kappa, box, context);
  const double trace = g.squaredNorm();
  double delta = first_delta * trace, least = least_delta * trace;
  double halved = HUGE_VAL;  // the gap when it last was half of the one before
  for (int idle = 0;; ++idle) {
    found.objective = problem.objective();
    found.gap = problem.gap();
    found.converged = found.gap <= tolerance * std::abs(found.objective);
    if (found.gap <= 0.5 * halved) {
      halved = found.gap;
      idle = 0;
    }
    if (found.converged || idle >= most_idle_moves || found.iterations >= most_steps || delta > first_delta * trace)
      break;
    const double enough = inner_tolerance * found.gap * std::min(1.0, found.gap / std::abs(found.objective));
    const int steps = problem.move(delta, enough, most_steps - found.iterations);
    found.iterations += std::max(steps, 1);
    // Where rounding is larger than what there is to gain, steps are shorter from then on.
    if (steps == 0) least = 30 * delta;
    delta = std::max(0.1 * delta, least);
  }
  found.weights = problem.weights();
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
  const MappedRows mapped = map_rows(x, sources, fit.map, options.who, context);
  const Matrix& g = mapped.sources;
  // kappa = n_s G_s (mean of G_t)
  const auto n = static_cast<double>(sources);
  const Vector kappa = n * expanded(g, mapped.target_mean, context);
  const WeightBox box{options.most, n * (1 - options.slack), n * (1 + options.slack), options.mass};
  MeanMatching found = match_means(g, kappa, box, options.tolerance, options.steps, context);
  found.sigma = sigma;
  found.rank = fit.map.rank();
  found.residual = fit.residual;
  return found;
}

}  // namespace ecotone
