#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr Index map_strip = 512;   // rows per task
constexpr Index proposals = 64;    // candidates per round
constexpr double nothing = 1e-13;  // relative to the largest k(x, x): anything smaller is rounding
constexpr Index fourier_rows = 1000;

/// The rows that a map is made from: at most `most`, drawn with the seed.
Matrix sampled_rows(const Features& x, Index most, const Context& context) {
  if (x.rows() == 0) data_error("no_rows", "low-rank map: there are no rows");
  std::vector<Index> rows(at(std::min(x.rows(), most)));
  std::iota(rows.begin(), rows.end(), Index{0});
  if (x.rows() > most) {
    rows = context.random("low-rank rows").sample(x.rows(), most);
    std::sort(rows.begin(), rows.end());
  }
  Matrix sample = x.copy(rows);
  for (Index i = 0; i < sample.rows(); ++i) {
    for (Index j = 0; j < sample.cols(); ++j) {
      if (!std::isfinite(sample(i, j)))
        data_error("non_finite", "low-rank map: column '{}' is {} in row {}", x.name(j),
                   std::isnan(sample(i, j)) ? "not a number" : "infinite", rows[at(i)] + 1);
    }
  }
  return sample;
}

Matrix rows_of(const Matrix& x, const std::vector<Index>& rows) {
  Matrix chosen(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) chosen.row(static_cast<Index>(i)) = x.row(rows[i]);
  return chosen;
}

/// A partial Cholesky factorisation of the Gram matrix of the sample, K ~ F F', grown by several pivots at a time.
class Elimination {
 public:
  Elimination(const Matrix& x, const Kernel& kernel, Vector origin, Index rank, const Context& context)
      : x_(x), kernel_(kernel), origin_(std::move(origin)), context_(context), factor_(x.rows(), rank) {
    left_ = LandmarkKernel(kernel, origin_, Matrix(0, x.cols())).diagonal(x);
    if (!left_.allFinite())
      data_error("non_finite", "low-rank map: the kernel overflows on these rows; scale the columns first");
    floor_ = nothing * left_.maxCoeff();
    trace_ = left_.sum();
    lower_ = Matrix::Zero(rank, rank);
    open_ = left_;
    closed_.resize(at(x.rows()));
    drop_explained();
  }

  Index size() const { return static_cast<Index>(pivots_.size()); }
  Index rank() const { return factor_.cols(); }
  double trace() const { return trace_; }
  double residual() const { return trace_ > 0 ? left_.sum() / trace_ : 0; }
  /// The unexplained part of k(x, x) of each row that may still become a landmark; 0 for the others.
  const Vector& open() const { return open_; }

  /// Takes the candidates that `accept(before, now)` wants, in their order; the arguments are the unexplained part of
  /// k(x, x) before this round and after the pivots taken in it. Stops within the round when the residual is reached.
  template <class Accept>
  void take(const std::vector<Index>& candidates, double residual, Accept&& accept) {
    const Index done = size();
    const Matrix points = rows_of(x_, candidates);
    const Matrix past = rows_of(factor_, candidates).leftCols(done);
    // H = K_CC - F_C F_C', then its Cholesky factorisation, skipping candidates that are not accepted.
    Matrix h(points.rows(), points.rows());
    Matrix scratch;
    const LandmarkKernel kernel(kernel_, origin_, points);
    kernel.block(points, h, scratch);
    product_by_transpose(-1.0, past, past, 1.0, h);
    std::vector<Index> taken;
    Matrix small = Matrix::Zero(h.rows(), h.rows());
    Vector now = h.diagonal();
    for (Index c = 0; c < h.rows() && done + static_cast<Index>(taken.size()) < rank(); ++c) {
      const Index row = candidates[at(c)];
      if (taken.empty() && !(now[c] > floor_)) close(row);
      if (!(open_[row] > 0) || !(now[c] > floor_) || !accept(open_[row], now[c])) continue;
      const auto k = static_cast<Index>(taken.size());
      const double root = std::sqrt(now[c]);
      for (Index i = c; i < h.rows(); ++i) {
        const double value = (h(i, c) - small.row(i).head(k).dot(small.row(c).head(k))) / root;
        small(i, k) = i == c ? root : value;
        now[i] -= i == c ? 0 : value * value;
      }
      now[c] = 0;
      taken.push_back(c);
    }
    if (!taken.empty()) grow(candidates, taken, small, residual);
  }

  LowRankMap map() const {
    const Index r = size();
    return LowRankMap::of_landmarks(kernel_, origin_, rows_of(x_, pivots_), lower_.topLeftCorner(r, r));
  }

 private:
  const Matrix& x_;
  Kernel kernel_;
  Vector origin_;
  const Context& context_;
  Matrix factor_;  // F
  Matrix lower_;   // rows of F at the pivots
  std::vector<Index> pivots_;
  Vector left_;  // the diagonal of K - F F'
  Vector open_;
  std::vector<std::uint8_t> closed_;  // 1: a pivot, or only rounding is left
  double floor_ = 0;
  double trace_ = 0;

  void close(Index row) {
    closed_[at(row)] = 1;
    open_[row] = 0;
  }

  void drop_explained() {
    for (Index i = 0; i < left_.size(); ++i) open_[i] = closed_[at(i)] == 0 && left_[i] > floor_ ? left_[i] : 0;
  }

  /// F_new = (K_T - F F_T') L_T^-T for the pivots T of this round; columns after the one that reaches the residual are
  /// dropped.
  void grow(const std::vector<Index>& candidates, const std::vector<Index>& taken, const Matrix& small,
            double residual) {
    const Index done = size();
    auto count = static_cast<Index>(taken.size());
    std::vector<Index> rows;
    Matrix corner(count, count);
    for (Index k = 0; k < count; ++k) {
      rows.push_back(candidates[at(taken[at(k)])]);
      corner.row(k) = small.row(taken[at(k)]).head(count);
    }
    const LandmarkKernel kernel(kernel_, origin_, rows_of(x_, rows));
    const Matrix past = rows_of(factor_, rows).leftCols(done);
    const RowSolver solver(corner);
    const Index strips = (x_.rows() + map_strip - 1) / map_strip;
    Matrix squares(strips, count);  // of the new columns, by strip
    context_.parallel(strips, [&](Index s) {
      const Index first = s * map_strip;
      const Index height = std::min(map_strip, x_.rows() - first);
      Matrix scratch;
      Matrix fresh(height, count);
      kernel.block(x_.middleRows(first, height), fresh, scratch);
      product_by_transpose(-1.0, factor_.block(first, 0, height, done), past, 1.0, fresh);
      solver.solve(fresh);
      squares.row(s) = fresh.colwise().squaredNorm();
      factor_.block(first, done, height, count) = fresh;
    });
    double trace = left_.sum();
    for (Index k = 0; k < count && residual > 0; ++k) {
      trace -= squares.col(k).sum();
      if (trace <= residual * trace_) count = k + 1;
    }
    for (Index k = 0; k < count; ++k) {
      lower_.row(done + k).head(done) = past.row(k);
      lower_.row(done + k).segment(done, k + 1) = corner.row(k).head(k + 1);
      pivots_.push_back(rows[at(k)]);
      close(rows[at(k)]);
    }
    left_ = (left_ - factor_.middleCols(done, count).rowwise().squaredNorm()).cwiseMax(0);
    drop_explained();
  }
};

/// Draws in proportion to `mass`, with replacement.
std::vector<Index> draws(const Vector& mass, Random& random) {
  std::vector<double> below(at(mass.size()));
  double sum = 0;
  for (Index i = 0; i < mass.size(); ++i) below[at(i)] = sum += mass[i];
  std::vector<Index> chosen;
  for (Index k = 0; k < proposals; ++k) {
    const double u = random.uniform() * sum;
    const auto found = std::upper_bound(below.begin(), below.end(), u);
    // u < sum up to the rounding of the product: otherwise take the last row with mass.
    auto i = std::min(found - below.begin(), std::ptrdiff_t(below.size()) - 1);
    while (i > 0 && mass[i] == 0) --i;
    chosen.push_back(i);
  }
  return chosen;
}

/// Randomly pivoted Cholesky (chen2022) with the rejections of epperly2024: a round of proposals drawn by the mass at
/// its start, each accepted with probability now / before, has the same distribution as drawing one by one.
void pivot_randomly(Elimination& work, double residual, const Context& context) {
  Random random = context.random("low-rank pivots");
  while (work.size() < work.rank() && work.open().sum() > 0 && work.residual() > residual) {
    context.check_cancelled();
    const std::vector<Index> candidates = draws(work.open(), random);
    work.take(candidates, residual, [&](double before, double now) { return random.uniform() * before < now; });
  }
}

void pivot_uniformly(Elimination& work, Index rows, double residual, const Context& context) {
  const std::vector<Index> order = context.random("low-rank pivots").permutation(rows);
  for (Index first = 0; first < rows && work.size() < work.rank() && work.residual() > residual; first += proposals) {
    context.check_cancelled();
    const auto begin = order.begin() + first;
    const std::vector<Index> candidates(begin, begin + std::min(proposals, rows - first));
    work.take(candidates, residual, [](double, double) { return true; });
  }
}

void pivot_greedily(Elimination& work, double residual, const Context& context) {
  while (work.size() < work.rank() && work.residual() > residual) {
    context.check_cancelled();
    Index largest = 0;
    if (!(work.open().maxCoeff(&largest) > 0)) return;
    work.take({largest}, residual, [](double, double) { return true; });
  }
}

LowRankFit landmarks(const Matrix& sample, const Kernel& kernel, const LowRankOptions& options,
                     const Context& context) {
  const Index rank = std::min(options.rank, sample.rows());
  const auto bytes = (at(sample.rows()) + at(rank)) * at(rank) * sizeof(double);
  require_memory(bytes, "low-rank map", fmt::format("a factor of {} rows and rank {}", sample.rows(), rank),
                 "use a lower rank");
  Elimination work(sample, kernel, typical_row(sample), rank, context);
  if (!(work.trace() > 0))
    data_error("no_variation", "low-rank map: the {} kernel is 0 on all rows", kernel_name(kernel.kind));
  switch (options.kind) {
    case LowRankKind::uniform:
      pivot_uniformly(work, sample.rows(), options.residual, context);
      break;
    case LowRankKind::greedy:
      pivot_greedily(work, options.residual, context);
      break;
    default:
      pivot_randomly(work, options.residual, context);
  }
  return {work.map(), work.residual(), sample.rows(), work.trace() / static_cast<double>(sample.rows())};
}

/// ||K - R R'||_F / ||K||_F over the rows.
double relative_error(const LowRankMap& map, const Matrix& x, const Context& context) {
  const Matrix k = kernel_gram(map.kernel(), x, context);
  Matrix r(x.rows(), map.rank());
  LowRankMap::Workspace workspace;
  map.features(x, r, workspace);
  return (k - product(r, r.transpose().eval(), context)).norm() / k.norm();
}

/// By Bochner's theorem: w is normal with variance 1 / sigma^2 for rbf, Cauchy with scale 1 / sigma for laplacian.
LowRankFit frequencies(const Matrix& sample, const Kernel& kernel, const LowRankOptions& options,
                       const Context& context) {
  if (options.residual > 0)
    option_error("bad_option", "fourier: residual limits the choice of landmarks, and fourier has none");
  LowRankMap map = drawn_map(kernel, typical_row(sample), options.rank, context);
  const Index rows = std::min(sample.rows(), fourier_rows);
  // Drawn at random: the first rows of a file may belong to one domain.
  std::vector<Index> drawn = context.random("low-rank residual").sample(sample.rows(), rows);
  std::sort(drawn.begin(), drawn.end());
  const double error = relative_error(map, rows_of(sample, drawn), context);
  return {std::move(map), error, rows, 1.0};
}

}  // namespace

LowRankMap drawn_map(const Kernel& kernel, Vector origin, Index rank, const Context& context) {
  check_kernel(kernel);
  constexpr double pi = 3.14159265358979323846;
  Random random = context.random("low-rank frequencies");
  Matrix w(rank, origin.size());
  for (Index j = 0; j < w.size(); ++j) {
    const double draw = kernel.kind == KernelKind::rbf ? random.normal() : std::tan(pi * (random.uniform() - 0.5));
    w.data()[j] = draw / kernel.sigma / (2 * pi);
  }
  Vector phases(rank);
  for (Index j = 0; j < phases.size(); ++j) phases[j] = random.uniform();
  return LowRankMap::of_frequencies(kernel, std::move(origin), std::move(w), std::move(phases));
}

LowRankFit fit_low_rank(const Features& x, const Kernel& kernel, const LowRankOptions& options,
                        const Context& context) {
  if (options.rank < 1) option_error("bad_option", "low-rank map: rank must be >= 1, got {}", options.rank);
  if (options.sample < 1) option_error("bad_option", "low-rank map: sample must be >= 1, got {}", options.sample);
  if (!(options.residual >= 0) || !(options.residual < 1))
    option_error("bad_option", "low-rank map: residual must be in [0, 1), got {}", options.residual);
  const bool drawn = options.kind == LowRankKind::fourier;
  const Matrix sample = sampled_rows(x, drawn ? options.sample : std::max(options.sample, options.rank), context);
  return drawn ? frequencies(sample, kernel, options, context) : landmarks(sample, kernel, options, context);
}

}  // namespace ecotone
