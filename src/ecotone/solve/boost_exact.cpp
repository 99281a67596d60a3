#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/solve/boost_loops.h"
#include "ecotone/solve/boost_rows.h"

namespace ecotone {
namespace {

/// The margin of rows that only fill up the last vector: never lost, never the least.
constexpr double far_margin = 1e300;
/// Source weights are multiplied; when the margins may have moved apart by this since, they are computed anew, so
/// that none is lost below the smallest number.
constexpr double refresh_after = 300;

Index padded(Index rows) { return (rows + boost_lanes - 1) / boost_lanes * boost_lanes; }

/// One domain: columns of numbers, weights and margins, padded.
struct Sample {
  Index rows = 0, size = 0;
  std::vector<double> x;      ///< column after column
  std::vector<double> first;  ///< weights before the first round, 0 in the padding
  std::vector<double> weight, margin;

  const double* column(Index j) const { return x.data() + j * size; }
  Vector normalised() const {
    const Vector w = Eigen::Map<const Vector>(weight.data(), rows);
    return w / w.sum();
  }
};

Sample read_sample(const Features& x, std::span<const double> weight) {
  Sample s;
  s.rows = x.rows();
  s.size = padded(s.rows);
  s.x.resize(static_cast<std::size_t>(s.size * x.cols()));
  Scratch scratch;
  for (Index b = 0; b < x.blocks(); ++b) {
    const RowBlock block = x.block(b, scratch);
    for (Index j = 0; j < x.cols(); ++j) {
      double* to = s.x.data() + j * s.size + block.first;
      for (Index i = 0; i < block.x.rows(); ++i) to[i] = block.x(i, j);
    }
  }
  s.first.assign(static_cast<std::size_t>(s.size), 0);
  s.margin.assign(static_cast<std::size_t>(s.size), far_margin);
  for (Index i = 0; i < s.rows; ++i) {
    s.first[static_cast<std::size_t>(i)] = weight.empty() ? 1 : weight[static_cast<std::size_t>(i)];
    s.margin[static_cast<std::size_t>(i)] = 0;
  }
  s.weight = s.first;
  return s;
}

class ExactRows : public BoostRows {
 public:
  ExactRows(const BoostData& data, Sample source, Sample target)
      : source_(std::move(source)), target_(std::move(target)), gamma_(data.gamma), total_(data.total) {
    y_.assign(static_cast<std::size_t>(source_.size), 1);
    std::copy(data.y.begin(), data.y.end(), y_.begin());
    source_sum_ = data.total;
    target_sum_ = static_cast<double>(target_.rows);
    for (Index j = 0; j < data.source.cols(); ++j) set_range(j);
  }

  double nearest_threshold(Index, double theta) const override { return theta; }

  void masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context&) override {
    for (std::size_t k = 0; k < stumps.size(); ++k) {
      const Stump& stump = stumps[k];
      StumpMasses& m = result[k];
      source_masses(source_.column(stump.attribute), y_.data(), source_.weight.data(), stump.theta, source_.size,
                    m.right, m.wrong);
      target_masses(target_.column(stump.attribute), target_.weight.data(), stump, gamma_, target_.size, m.inside,
                    m.outside);
    }
  }

  StumpCandidate best_split(const Context& context) override;

  UpdateSums update(const BoostStep& step, const Context&) override {
    UpdateSums result;
    update_source_rows(step, result);
    if (target_.rows == 0) return result;
    const TargetSums sums = update_target(target_.column(step.stump.attribute), target_.first.data(), step.stump,
                                          gamma_, step.beta, target_.margin.data(), target_.size);
    // D_T = exp(-margin), up to a factor: ln Z_T = ln sum exp(-margin) after, less the same before.
    const double before = std::log(target_sum_) - target_least_;
    target_least_ = sums.least;
    target_sum_ = weights_of_margins(target_.first.data(), target_.margin.data(), target_least_, target_.weight.data(),
                                     target_.size);
    result.log_z_target = std::log(target_sum_) - target_least_ - before;
    result.loss_target = sums.lost / static_cast<double>(target_.rows);
    return result;
  }

  void project(const Stump& stump, double weight, Projected& p, const Context&) const override {
    const double* s = source_.column(stump.attribute);
    for (std::size_t i = 0; i < p.source.size(); ++i) p.source[i].first += weight * stump.value(s[i]);
    const double* t = target_.column(stump.attribute);
    for (std::size_t i = 0; i < p.target.size(); ++i) p.target[i].first += weight * stump.value(t[i]);
  }

  Vector source_weight() const override { return source_.normalised(); }
  Vector target_weight() const override { return target_.rows == 0 ? Vector() : target_.normalised(); }

 private:
  void set_range(Index j) {
    double lo = std::numeric_limits<double>::infinity(), hi = -lo;
    for (const Sample* s : {&source_, &target_}) {
      for (Index i = 0; i < s->rows; ++i) {
        lo = std::min(lo, s->column(j)[i]);
        hi = std::max(hi, s->column(j)[i]);
      }
    }
    low_.push_back(lo);
    high_.push_back(hi);
  }

  void update_source_rows(const BoostStep& step, UpdateSums& result) {
    SourceUpdate update{.alpha = step.alpha};
    update.when_right = std::exp(-step.alpha) / source_sum_;
    update.when_wrong = std::exp(step.alpha) / source_sum_;
    update.gamma = gamma_;
    update.normalised = gamma_ * step.alpha_sum;
    const SourceSums sums =
        update_source(source_.column(step.stump.attribute), y_.data(), source_.first.data(), step.stump, update,
                      source_.weight.data(), source_.margin.data(), source_.size);
    source_sum_ = sums.total;
    result.log_z_source = std::log(sums.total);
    result.err = sums.err / total_;
    result.margin = sums.margin / total_;
    result.margin_normalised = sums.margin_normalised / total_;
    since_refresh_ += 2 * step.alpha;
    if (since_refresh_ < refresh_after) return;
    since_refresh_ = 0;
    source_sum_ = weights_of_margins(source_.first.data(), source_.margin.data(), sums.least, source_.weight.data(),
                                     source_.size);
  }

  void sort_columns(const Context& context);
  StumpCandidate best_of_column(Index j, double& best) const;

  Sample source_, target_;
  std::vector<double> y_;
  double gamma_;
  double total_;  ///< of the first source weights
  double source_sum_ = 0, target_sum_ = 0;
  double target_least_ = 0;
  double since_refresh_ = 0;
  /// Rows of each column by value; odd entries (2 row + 1) are the last of their value. Made when first needed.
  std::vector<std::uint32_t> order_;
};

void ExactRows::sort_columns(const Context& context) {
  const Index n = source_.rows;
  order_.resize(static_cast<std::size_t>(n * cols()));
  context.parallel(cols(), [&](Index j) {
    const double* x = source_.column(j);
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(n));
    std::iota(rows.begin(), rows.end(), 0U);
    std::stable_sort(rows.begin(), rows.end(), [x](std::uint32_t a, std::uint32_t b) { return x[a] < x[b]; });
    std::uint32_t* to = order_.data() + j * n;
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const bool last = i + 1 < n && x[rows[k]] < x[rows[k + 1]];
      to[i] = 2 * rows[k] + (last ? 1U : 0U);
    }
  });
}

/// The threshold at which |sum_{x > theta} D y - sum_{x <= theta} D y| is largest; `best` is that value.
StumpCandidate ExactRows::best_of_column(Index j, double& best) const {
  const Index n = source_.rows;
  const std::uint32_t* order = order_.data() + j * n;
  double all = 0;
  for (Index i = 0; i < n; ++i) {
    const std::uint32_t row = order[i] >> 1U;
    all += source_.weight[row] * y_[row];
  }
  Index at = -1;
  double below = 0;
  best = -1;
  for (Index i = 0; i < n; ++i) {
    const std::uint32_t row = order[i] >> 1U;
    below += source_.weight[row] * y_[row];
    if ((order[i] & 1U) == 0) continue;
    const double gain = std::abs(all - 2 * below);
    if (gain > best) {
      best = gain;
      at = i;
    }
  }
  if (at < 0) return {-1, 0};
  // Midway, but never above the next value: rounding may not move the threshold past it.
  const double low = source_.column(j)[order[at] >> 1U];
  const double high = source_.column(j)[order[at + 1] >> 1U];
  const double middle = low + (high - low) / 2;
  return {j, middle < high ? middle : low};
}

StumpCandidate ExactRows::best_split(const Context& context) {
  if (order_.empty()) sort_columns(context);
  std::vector<StumpCandidate> found(static_cast<std::size_t>(cols()));
  std::vector<double> gain(found.size(), -1);
  context.parallel(cols(), [&](Index j) {
    const auto k = static_cast<std::size_t>(j);
    found[k] = best_of_column(j, gain[k]);
  });
  std::size_t best = 0;
  for (std::size_t k = 1; k < found.size(); ++k)
    if (gain[k] > gain[best]) best = k;
  return found[best];
}

}  // namespace

std::unique_ptr<BoostRows> make_exact_rows(const BoostData& data, const Context&) {
  const auto values =
      static_cast<std::size_t>((padded(data.source.rows()) + padded(data.target.rows())) * (data.source.cols() + 4));
  require_memory(12 * values, data.who, "exact boosting", "use exact=false, which takes one byte a value");
  return std::make_unique<ExactRows>(data, read_sample(data.source, data.weight), read_sample(data.target, {}));
}

}  // namespace ecotone
