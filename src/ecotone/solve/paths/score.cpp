#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/measure/intervals.h"
#include "ecotone/solve/paths/greedy.h"
#include "ecotone/solve/paths/side_by_side.h"

/// Scoring of the features of a path and the choice of the next one.
namespace ecotone {
namespace {

constexpr Index score_strip = 512;        // features scored at once, with their sums on the stack
constexpr Index task = 16 * score_strip;  // features per task
constexpr double infinite = std::numeric_limits<double>::infinity();

using Strip = std::array<double, score_strip>;

/// sum += values, or sum += factor (values)
void add(const double* values, double factor, Index count, Strip& sum) {
  for (Index j = 0; j < count; ++j) sum[at(j)] += factor * values[j];
}

void add_squares(const double* values, const Strip& mean, Index count, Strip& sum) {
  for (Index j = 0; j < count; ++j) {
    const double off = values[j] - mean[at(j)];
    sum[at(j)] += off * off;
  }
}

/// Whether a is at least as large as b.
bool reaches(double a, double b) { return a == b || a >= b * (1 - path_tie); }

}  // namespace

/// Scores features [first, last), at most a strip. T uses the plain mean over groups; gain uses the mean by shares.
void GreedyPath::score_range(Index first, Index last) {
  const Matrix& c = judged();
  const Index count = last - first;
  const auto n = static_cast<double>(means_.used());
  const bool pooled = options_.shares == GroupShares::pooled;
  Strip mean{}, shared{}, squares{};
  for (const Index d : means_.in_use) {
    add(c.row(d).data() + first, 1.0 / n, count, mean);
    if (pooled) add(c.row(d).data() + first, means_.share[d], count, shared);
  }
  if (!pooled) shared = mean;
  for (const Index d : means_.in_use) add_squares(c.row(d).data() + first, mean, count, squares);
  const bool given = options_.ex2.size() > 0;
  for (Index k = 0; k < count; ++k) {
    const Index j = first + k;
    score_[j] = -1;
    const double norm = scale(j);
    const double mu = shared[at(k)];
    // s_i = sqrt(E[X_i^2] E[Y^2]); for X~_i, whose norm is 1, on the same scale.
    const double size = options_.zero * std::sqrt(norm * means_.y2);
    if (taken(j) || !(rest_[j] > (refits() ? spent_part * means_.x2[j] : 0.0)) || !(std::abs(mu) > size)) continue;
    if (mu < 0 && (!options_.absolute || (options_.nonnegative && weight_of(j) <= 0))) continue;
    const double unit = given ? options_.ex2[j] : norm;
    double gain = mu * mu / unit;
    if (options_.nonnegative && mu < 0) {
      // The step ends where the weight reaches 0.
      const double step = std::max(mu / unit, -weight_of(j));
      gain = 2 * step * mu - step * step * unit;
    }
    // Sums of huge values overflow, and so do Gram matrices that do not belong to the other sums.
    if (!std::isfinite(gain) || !std::isfinite(squares[at(k)])) continue;
    if (gain < options_.min_gain * means_.y2) continue;
    gain_[j] = gain;
    if (options_.rule == PathRule::greedy) {
      score_[j] = gain;
      continue;
    }
    const double sigma = std::sqrt(squares[at(k)] / (n - 1));
    score_[j] = sigma <= size ? infinite : std::abs(mean[at(k)]) * std::sqrt(n) / sigma;
  }
}

std::optional<Index> GreedyPath::choose(const Context& context) {
  chosen_ = -1;
  if (result_.stopped_early) return {};
  const Index cols = means_.cols();
  const auto work = [&](Index t) {
    const Index end = std::min(cols, (t + 1) * task);
    for (Index first = t * task; first < end; first += score_strip)
      score_range(first, std::min(end, first + score_strip));
  };
  const Index tasks = (cols + task - 1) / task;
  if (tasks == 1) {
    work(0);
  } else {
    context.parallel(tasks, work);
  }
  const double best = score_.maxCoeff();
  if (!(best >= 0)) {
    result_.stopped_early = true;
    return {};
  }
  double gain = -1;
  for (Index j = 0; j < cols; ++j)
    if (reaches(score_[j], best)) gain = std::max(gain, gain_[j]);
  for (Index j = 0; j < cols && chosen_ < 0; ++j)
    if (reaches(score_[j], best) && reaches(gain_[j], gain)) chosen_ = j;
  return chosen_;
}

std::vector<Index> GreedyPath::runners_up(Index count) const { return best_after(score_, chosen_, count); }

/// Records T, mu, sigma, gain and the p-value of feature j before its step.
void GreedyPath::record(Index j) {
  const Matrix& c = judged();
  const auto n = static_cast<double>(means_.used());
  // E[X~_i Y|d] is divided by the norm of the rest of X_i.
  const bool normed = options_.mode == PathMode::ortho || options_.mode == PathMode::ortho_resid;
  const double norm = normed ? std::sqrt(rest_[j]) : 1.0;
  double mean = 0, mu = 0, squares = 0;
  for (const Index d : means_.in_use) {
    mean += c(d, j) / n;
    mu += means_.share[d] * c(d, j);
  }
  for (const Index d : means_.in_use) squares += (c(d, j) - mean) * (c(d, j) - mean);
  const double sigma = n > 1 ? std::sqrt(squares / (n - 1)) : 0.0;
  const double size = options_.zero * std::sqrt(scale(j) * means_.y2);
  double t = 0;
  if (n > 1 && std::abs(mean) > size) t = sigma <= size ? std::copysign(infinite, mean) : mean * std::sqrt(n) / sigma;
  result_.indices.push_back(j);
  result_.t.push_back(t);
  result_.mu.push_back(mu / norm);
  result_.sigma.push_back(sigma / norm);
  result_.gain.push_back(gain_[j]);
  result_.pvalue.push_back(n > 1 ? t_two_sided(t, n - 1) : std::nan(""));
}

}  // namespace ecotone
