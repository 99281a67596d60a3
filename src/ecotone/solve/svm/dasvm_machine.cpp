#include "ecotone/solve/svm/dasvm_machine.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/solve/svm/cache.h"
#include "ecotone/solve/svm/inner.h"
#include "ecotone/solve/svm/loops.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {
namespace {

constexpr Index most_steps = 10'000'000;  ///< per fit, at least
constexpr Index most_sets = 10'000;       ///< working sets per fit, at least: near rounding each makes few steps

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows(at(n));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Kernel rows in one precision.
template <class Scalar>
class CachedRows {
 public:
  CachedRows(SvmSource& source, const char* who, const Context& context)
      : context_(context),
        n_(source.rows()),
        cache_(source, std::min(svm_working_rows, n_), available_memory() / 2, who, context) {}

  /// sum -= sum_r factor_r K_rows[r], for at most a working set of rows.
  void subtract(std::span<const Index> rows, const std::vector<double>& factor, Vector& sum) {
    const std::vector<const Scalar*> values = rows_of(rows);
    context_.parallel((sum.size() + svm_piece - 1) / svm_piece, [&](Index p) {
      const Index first = p * svm_piece;
      subtract_rows(values.data(), factor.data(), std::ssize(values), first, std::min(svm_piece, sum.size() - first),
                    sum.data() + first);
    });
  }

  /// The kernel matrix of a working set.
  void fill(std::span<const Index> rows, Matrix& k) {
    const std::vector<const Scalar*> values = rows_of(rows);
    for (Index r = 0; r < std::ssize(rows); ++r)
      for (Index c = 0; c <= r; ++c) k(r, c) = k(c, r) = static_cast<double>(values[at(r)][rows[at(c)]]);
  }

 private:
  /// A round needs few new rows, and a product of few rows is slow: once a third of all rows was needed, the others are
  /// computed together.
  std::vector<const Scalar*> rows_of(std::span<const Index> wanted) {
    if (!complete_ && cache_.holds_all() && 3 * cache_.computed() > n_) {
      complete_ = true;
      const std::vector<Index> all = all_rows(n_);
      for (Index i = 0; i < n_; i += svm_working_rows)
        cache_.rows(std::span(all).subspan(at(i), at(std::min(svm_working_rows, n_ - i))), n_);
    }
    return cache_.rows(wanted, n_);
  }

  const Context& context_;
  Index n_;
  bool complete_ = false;
  SvmCache<Scalar> cache_;
};

}  // namespace

/// The features and their kernel rows.
class DasvmMachine::Rows {
 public:
  Rows(const Kernel& kernel, ConstMatrixView x, const char* who, const Context& context)
      : linear_(kernel.kind == KernelKind::linear), source_(kernel, x, all_rows(x.rows())) {
    if (x.rows() < svm_single_rows) {
      exact_ = std::make_unique<CachedRows<double>>(source_, who, context);
    } else {
      single_ = std::make_unique<CachedRows<float>>(source_, who, context);
    }
  }

  const Vector& diagonal() const { return source_.diagonal(); }

  void subtract(std::span<const Index> rows, const std::vector<double>& factor, Vector& sum) {
    if (exact_) return exact_->subtract(rows, factor, sum);
    single_->subtract(rows, factor, sum);
  }

  void fill(std::span<const Index> rows, Matrix& k) {
    if (exact_) return exact_->fill(rows, k);
    single_->fill(rows, k);
  }

  /// x.z of centred rows, with sum beta = 0: sum_i beta_i (x_i - c).(z - c) = sum_i beta_i x_i.z - sum_i beta_i x_i.c
  double moved_offset(double offset, const Vector& beta) const {
    if (!linear_) return offset;
    const Matrix centred = source_.gather(all_rows(beta.size()));
    return offset - (centred.transpose() * beta).dot(source_.centre()) - beta.sum() * source_.centre().squaredNorm();
  }

 private:
  bool linear_;
  SvmFeatures source_;
  std::unique_ptr<CachedRows<double>> exact_;
  std::unique_ptr<CachedRows<float>> single_;
};

DasvmMachine::DasvmMachine(const Kernel& kernel, ConstMatrixView x, double tolerance, const char* who,
                           const Context& context)
    : context_(context),
      tolerance_(tolerance),
      beta_(Vector::Zero(x.rows())),
      minus_sum_(Vector::Zero(x.rows())),
      taken_(at(x.rows()), 0) {
  check_kernel(kernel);
  for (Index i = 0; i < x.rows(); ++i)
    if (!x.row(i).allFinite()) data_error("non_finite", "{}: row {} has a value that is not finite", who, i + 1);
  // The rows, and a second copy when all of them are gathered.
  require_memory(2 * at(x.rows()) * at(x.cols()) * sizeof(double), who, fmt::format("{} rows", x.rows()),
                 "use fewer rows or columns");
  rows_ = std::make_unique<Rows>(kernel, x, who, context_);
}

DasvmMachine::~DasvmMachine() = default;

DasvmStep DasvmMachine::fit(const Vector& y, const Vector& cost) {
  if (y.size() != beta_.size() || cost.size() != beta_.size())
    internal_error("dasvm: {} labels and {} costs for {} rows", y.size(), cost.size(), beta_.size());
  y_ = y;
  open_.clear();
  for (Index i = 0; i < y.size(); ++i)
    if (cost[i] > 0) open_.push_back(i);
  // 0 <= y beta <= cost
  high_ = (y.array() > 0).select(cost, 0.0);
  low_ = (y.array() > 0).select(Vector::Zero(y.size()), -cost);
  start();
  const Index steps_at_most = std::max(100 * std::ssize(open_), most_steps);
  const Index sets_at_most = std::max(std::ssize(open_), most_sets);
  DasvmStep step;
  for (Index set = 0;; ++set) {
    context_.check_cancelled();
    find_ends();
    step.kkt = std::max(0.0, top_ - bottom_);
    step.converged = step.kkt <= tolerance_;
    if (step.converged || step.iterations >= steps_at_most || set >= sets_at_most) break;
    choose();
    const Index steps = solve_working_set();
    if (steps == 0) break;
    step.iterations += steps;
  }
  set_offset();
  return step;
}

/// The coefficients of the previous fit clipped to the new bounds, the heavier sign scaled down so that the sum is 0.
void DasvmMachine::start() {
  Vector beta = beta_.cwiseMax(low_).cwiseMin(high_);
  const double plus = beta.cwiseMax(0.0).sum();
  const double minus = -beta.cwiseMin(0.0).sum();
  if (plus == 0 || minus == 0) {
    beta.setZero();
  } else {
    for (double& b : beta) b *= b > 0 ? std::min(1.0, minus / plus) : std::min(1.0, plus / minus);
  }
  move_to(beta);
}

void DasvmMachine::move_to(const Vector& beta) {
  std::vector<Index> changed;
  for (Index i = 0; i < beta.size(); ++i)
    if (beta[i] != beta_[i]) changed.push_back(i);
  for (std::size_t c = 0; c < changed.size(); c += at(svm_working_rows)) {
    const auto some = std::span<const Index>(changed).subspan(c, std::min(at(svm_working_rows), changed.size() - c));
    std::vector<double> factor;
    for (const Index i : some) factor.push_back(beta[i] - beta_[i]);
    rows_->subtract(some, factor, minus_sum_);
  }
  beta_ = beta;
}

void DasvmMachine::find_ends() {
  top_ = -infinity;
  bottom_ = infinity;
  for (const Index i : open_) {
    if (beta_[i] < high_[i]) top_ = std::max(top_, slope(i));
    if (beta_[i] > low_[i]) bottom_ = std::min(bottom_, slope(i));
  }
}

/// The worst violators of both sides, half of a working set; then rows of the previous set and those between their
/// bounds, which move with them.
void DasvmMachine::choose() {
  std::vector<std::pair<double, Index>> rise, fall;
  for (const Index i : open_) {
    if (beta_[i] < high_[i] && slope(i) > bottom_) rise.emplace_back(-slope(i), i);
    if (beta_[i] > low_[i] && slope(i) < top_) fall.emplace_back(slope(i), i);
  }
  constexpr Index fresh = svm_working_rows / 2;
  for (auto* const side : {&rise, &fall}) {
    const auto count = std::min(std::ssize(*side), fresh);
    std::partial_sort(side->begin(), side->begin() + count, side->end());
    side->resize(at(count));
  }
  std::vector<Index> next;
  const auto take = [&](Index i, Index limit) {
    if (std::ssize(next) >= limit || taken_[at(i)] != 0) return;
    taken_[at(i)] = 1;
    next.push_back(i);
  };
  for (std::size_t r = 0; r < std::max(rise.size(), fall.size()); ++r) {
    if (r < rise.size()) take(rise[r].second, fresh);
    if (r < fall.size()) take(fall[r].second, fresh);
  }
  for (const Index i : working_)
    if (low_[i] < high_[i] && beta_[i] != 0) take(i, svm_working_rows);
  for (const Index i : open_)
    if (beta_[i] > low_[i] && beta_[i] < high_[i]) take(i, svm_working_rows);
  for (const Index i : next) taken_[at(i)] = 0;
  working_ = std::move(next);
}

/// Steps of two coefficients within the working set; returns their number.
Index DasvmMachine::solve_working_set() {
  SvmInner inner(std::ssize(working_));
  rows_->fill(working_, inner.k);
  for (Index r = 0; r < inner.size; ++r) {
    const Index i = working_[at(r)];
    inner.diagonal[r] = rows_->diagonal()[i];
    inner.beta[r] = beta_[i];
    inner.low[r] = low_[i];
    inner.high[r] = high_[i];
    inner.u[r] = slope(i);
  }
  inner.prepare();
  const bool all = inner.size == std::ssize(open_);
  const Index steps = inner.solve(all ? tolerance_ : std::max(tolerance_, 0.1 * (top_ - bottom_)), svm_steps_in_round);
  std::vector<Index> moved;
  std::vector<double> factor;
  for (Index r = 0; r < inner.size; ++r) {
    const Index i = working_[at(r)];
    if (inner.beta[r] == beta_[i]) continue;
    moved.push_back(i);
    factor.push_back(inner.beta[r] - beta_[i]);
    beta_[i] = inner.beta[r];
  }
  if (moved.empty()) return 0;
  rows_->subtract(moved, factor, minus_sum_);
  return steps;
}

/// The mean slope of coefficients between their bounds; if there are none, the middle of the admissible range.
void DasvmMachine::set_offset() {
  double sum = 0;
  Index free = 0;
  for (const Index i : open_) {
    // One that only rounding keeps off its bound does not count.
    const double room = 1e-12 * (high_[i] - low_[i]);
    if (!(beta_[i] > low_[i] + room && beta_[i] < high_[i] - room)) continue;
    sum += slope(i);
    ++free;
  }
  offset_ = free > 0 ? sum / static_cast<double>(free) : (top_ + bottom_) / 2;
}

double DasvmMachine::offset() const { return rows_->moved_offset(offset_, beta_); }

}  // namespace ecotone
