#include "ecotone/solve/svm/smo.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/base/numbers.h"
#include "ecotone/solve/svm/cache.h"
#include "ecotone/solve/svm/inner.h"
#include "ecotone/solve/svm/loops.h"

namespace ecotone {
namespace {

template <class Scalar>
class Smo {
 public:
  Smo(const SmoProblem& problem, SvmSource& source, std::size_t cache_bytes, const Context& context)
      : problem_(problem),
        source_(source),
        context_(context),
        n_(source.rows()),
        set_size_(std::min(n_, svm_working_rows)),
        next_size_(std::min(n_, svm_first_rows)),
        active_(n_),
        order_(at(n_)),
        low_(problem.low),
        high_(problem.high),
        beta_(problem.start),
        u_(problem.target),
        up_(n_),
        down_(n_),
        cache_(source, set_size_, cache_bytes, problem.who, context) {
    std::iota(order_.begin(), order_.end(), Index{0});
    for (Index i = 0; i < n_; ++i) set_slopes(i);
  }

  SmoSolution run() {
    start();
    for (;;) {
      context_.check_cancelled();
      find_ends();
      const double gap = top_ - bottom_;
      if (active_ < n_ && (gap <= problem_.tolerance || (gap <= 10 * problem_.tolerance && !reopened_))) {
        reopen();
        continue;
      }
      if (gap <= problem_.tolerance || result_.iterations >= problem_.max_iterations) break;
      if (result_.iterations >= next_shrink_) shrink();
      if (!round(gap)) {
        if (active_ == n_) break;
        reopen();
      }
    }
    if (active_ < n_) reopen();
    find_ends();
    result_.converged = top_ - bottom_ <= problem_.tolerance;
    return finished();
  }

 private:
  /// The state for which the residuals of rows shrunk together were computed.
  struct LeftOut {
    Index begin, end;
    Vector beta;
  };

  void set_slopes(Index i) {
    up_[i] = svm_up(beta_[i], high_[i], problem_.epsilon);
    down_[i] = svm_down(beta_[i], low_[i], problem_.epsilon);
  }

  /// u = t - Kb for the starting coefficients.
  void start() {
    LeftOut all{0, n_, Vector::Zero(n_)};
    catch_up({std::move(all)});
    next_shrink_ = std::min<Index>(n_, 1000);
    result_.fewest_rows = n_;
  }

  /// Calls body(p, first, last) for pieces of the active rows, on all threads if there are many.
  template <class Body>
  void over_pieces(const Body& body) const {
    constexpr Index worth_waking = 8;  // pieces, for threads that may be asleep
    const Index pieces = (active_ + svm_piece - 1) / svm_piece;
    context_.parallel(
        pieces, [&](Index p) { body(p, p * svm_piece, std::min(active_, (p + 1) * svm_piece)); },
        pieces < worth_waking ? 1 : 0);
  }

  void find_ends() {
    std::vector<std::pair<double, double>> ends(at(n_ / svm_piece + 1), {-infinity, infinity});
    over_pieces([&](Index p, Index first, Index last) {
      auto [top, bottom] = ends[at(p)];
      for (Index i = first; i < last; ++i) {
        top = std::max(top, u_[i] + up_[i]);
        bottom = std::min(bottom, u_[i] + down_[i]);
      }
      ends[at(p)] = {top, bottom};
    });
    top_ = -infinity;
    bottom_ = infinity;
    for (const auto& [top, bottom] : ends) {
      top_ = std::max(top_, top);
      bottom_ = std::min(bottom_, bottom);
    }
  }

  /// u -= sum_r factor_r K_rows[r] in [begin, end), by pieces on all threads.
  void subtract(const std::vector<const Scalar*>& rows, const std::vector<double>& factor, Index begin, Index end) {
    if (rows.empty()) return;
    context_.parallel((end - begin + svm_piece - 1) / svm_piece, [&](Index p) {
      const Index first = begin + p * svm_piece;
      subtract_rows(rows.data(), factor.data(), std::ssize(rows), first, std::min(svm_piece, end - first),
                    u_.data() + first);
    });
  }

  /// Processes one working set; returns whether anything moved.
  bool round(double gap) {
    choose(working_);
    const std::vector<const Scalar*> rows = cache_.rows(working_, active_);
    SvmInner inner = inner_problem(rows);
    const Index left = std::min(problem_.max_iterations - result_.iterations, svm_steps_in_round);
    const double tolerance = active_ <= set_size_ ? problem_.tolerance : std::max(problem_.tolerance, 0.1 * gap);
    result_.iterations += inner.solve(tolerance, left);
    ++result_.rounds;
    std::vector<const Scalar*> moved;
    std::vector<double> factor;
    for (Index r = 0; r < inner.size; ++r) {
      const Index i = working_[at(r)];
      if (inner.beta[r] == beta_[i]) continue;
      moved.push_back(rows[at(r)]);
      factor.push_back(inner.beta[r] - beta_[i]);
      beta_[i] = inner.beta[r];
      set_slopes(i);
    }
    subtract(moved, factor, 0, active_);
    return !moved.empty();
  }

  SvmInner inner_problem(const std::vector<const Scalar*>& rows) const {
    SvmInner inner(std::ssize(working_));
    inner.epsilon = problem_.epsilon;
    for (Index r = 0; r < inner.size; ++r) {
      const Index i = working_[at(r)];
      inner.diagonal[r] = source_.diagonal()[i];
      inner.beta[r] = beta_[i];
      inner.low[r] = low_[i];
      inner.high[r] = high_[i];
      inner.u[r] = u_[i];
      // One triangle only: these reads are far apart.
      for (Index c = 0; c <= r; ++c) inner.k(r, c) = inner.k(c, r) = static_cast<double>(rows[at(r)][working_[at(c)]]);
    }
    inner.prepare();
    return inner;
  }

  using Ranked = std::vector<std::pair<double, Index>>;

  static void keep_worst(Ranked& side, Index most) {
    const auto count = std::min(std::ssize(side), most);
    std::partial_sort(side.begin(), side.begin() + count, side.end());
    side.resize(at(count));
  }

  /// Half of a working set are new rows, the worst violators of both sides; the other half come from the previous set,
  /// the latest first.
  void choose(std::vector<Index>& working) {
    // Sets grow to their full size: an easy problem is solved before that, with few kernel rows.
    const Index size = std::min(next_size_, active_);
    next_size_ = std::min(2 * next_size_, set_size_);
    const Index fresh = working.empty() ? size : std::max<Index>(size / 2, 2);
    std::vector<std::pair<Ranked, Ranked>> sides(at(n_ / svm_piece + 1));
    over_pieces([&](Index p, Index first, Index last) {
      auto& [up, down] = sides[at(p)];
      for (Index i = first; i < last; ++i) {
        if (u_[i] + up_[i] > bottom_) up.emplace_back(-(u_[i] + up_[i]), i);
        if (u_[i] + down_[i] < top_) down.emplace_back(u_[i] + down_[i], i);
      }
      keep_worst(up, fresh);
      keep_worst(down, fresh);
    });
    Ranked rise, fall;
    for (const auto& [up, down] : sides) {
      rise.insert(rise.end(), up.begin(), up.end());
      fall.insert(fall.end(), down.begin(), down.end());
    }
    keep_worst(rise, fresh);
    keep_worst(fall, fresh);
    std::vector<Index> next;
    taken_.assign(at(active_), false);
    const auto take = [&](Index i, Index limit) {
      if (std::ssize(next) >= limit || taken_[at(i)]) return;
      taken_[at(i)] = true;
      next.push_back(i);
    };
    for (std::size_t r = 0; r < std::max(rise.size(), fall.size()); ++r) {
      if (r < rise.size()) take(rise[r].second, fresh);
      if (r < fall.size()) take(fall[r].second, fresh);
    }
    for (const Index i : working) take(i, size);
    working = std::move(next);
  }

  /// Shrinks: leaves out rows whose coefficients stay, that is rows that violate nothing and lie beyond both ends.
  void shrink() {
    next_shrink_ = result_.iterations + std::min<Index>(n_, 1000);
    std::vector<Index> from, out;
    for (Index i = 0; i < active_; ++i) (u_[i] + up_[i] < bottom_ && u_[i] + down_[i] > top_ ? out : from).push_back(i);
    // Moving the cached rows has a cost: only if it pays.
    if (std::ssize(out) * 5 < active_ || active_ <= 2 * set_size_) return;
    const Index kept = std::ssize(from);
    left_out_.push_back({kept, active_, beta_});
    from.insert(from.end(), out.begin(), out.end());
    for (Index i = active_; i < n_; ++i) from.push_back(i);
    move(from, kept);
    active_ = kept;
    result_.fewest_rows = std::min(result_.fewest_rows, active_);
    working_.clear();
  }

  void move(std::span<const Index> from, Index kept) {
    const auto moved = [&](auto& values) {
      auto old = values;
      for (Index k = 0; k < active_; ++k) values[k] = old[from[at(k)]];
    };
    for (Vector* v : {&low_, &high_, &beta_, &u_, &up_, &down_}) moved(*v);
    for (LeftOut& part : left_out_) moved(part.beta);
    const std::vector<Index> old = order_;
    for (Index k = 0; k < active_; ++k) order_[at(k)] = old[at(from[at(k)])];
    source_.permute(from);
    cache_.permute(from, active_, kept);
  }

  /// Takes all rows back.
  void reopen() {
    catch_up(std::exchange(left_out_, {}));
    active_ = n_;
    reopened_ = true;
    next_shrink_ = result_.iterations + std::min<Index>(n_, 1000);
  }

  /// u -= K (b - b_then) in each part, over the rows whose coefficients changed since then.
  void catch_up(const std::vector<LeftOut>& parts) {
    std::vector<Index> changed;
    for (Index i = 0; i < n_; ++i) {
      if (std::any_of(parts.begin(), parts.end(), [&](const LeftOut& part) { return part.beta[i] != beta_[i]; }))
        changed.push_back(i);
    }
    for (std::size_t c = 0; c < changed.size(); c += at(set_size_)) {
      const auto some = std::span<const Index>(changed).subspan(c, std::min(at(set_size_), changed.size() - c));
      const std::vector<const Scalar*> rows = cache_.rows(some, n_);
      for (const LeftOut& part : parts) {
        std::vector<double> factor;
        for (const Index i : some) factor.push_back(beta_[i] - part.beta[i]);
        subtract(rows, factor, part.begin, part.end);
      }
    }
  }

  SmoSolution finished() {
    result_.beta.resize(n_);
    result_.residual.resize(n_);
    for (Index k = 0; k < n_; ++k) {
      result_.beta[order_[at(k)]] = beta_[k];
      result_.residual[order_[at(k)]] = u_[k];
    }
    result_.top = top_;
    result_.bottom = bottom_;
    result_.kernel_rows = cache_.computed();
    return std::move(result_);
  }

  const SmoProblem& problem_;
  SvmSource& source_;
  const Context& context_;
  Index n_;
  Index set_size_;            ///< rows of a working set
  Index next_size_;           ///< the same for the next one, which may be smaller
  Index active_;              ///< rows 0 .. active - 1 are worked on
  std::vector<Index> order_;  ///< the row of the problem at each position
  Vector low_, high_, beta_, u_, up_, down_;
  SvmCache<Scalar> cache_;
  std::vector<LeftOut> left_out_;
  std::vector<Index> working_;
  std::vector<bool> taken_;
  double top_ = 0;
  double bottom_ = 0;
  Index next_shrink_ = 0;
  bool reopened_ = false;
  SmoSolution result_;
};

}  // namespace

template <class Scalar>
SmoSolution solve_smo(const SmoProblem& problem, SvmSource& source, std::size_t cache_bytes, const Context& context) {
  return Smo<Scalar>(problem, source, cache_bytes, context).run();
}

template SmoSolution solve_smo<float>(const SmoProblem&, SvmSource&, std::size_t, const Context&);
template SmoSolution solve_smo<double>(const SmoProblem&, SvmSource&, std::size_t, const Context&);

}  // namespace ecotone
