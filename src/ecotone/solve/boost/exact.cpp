#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/boost/loops.h"
#include "ecotone/solve/boost/rows.h"

namespace ecotone {
namespace {

/// Source weights are updated by multiplication; once the margins may have moved apart by this much, they are
/// recomputed, so that none underflows.
constexpr double refresh_after = 300;

/// One domain: columns of values, padded.
struct Columns {
  Index rows = 0, size = 0;
  std::vector<double> x;      ///< column after column
  std::vector<double> first;  ///< weights before the first round, 0 in the padding

  const double* column(Index j) const { return x.data() + j * size; }
};

Columns read_columns(const Features& x, std::span<const double> weight) {
  Columns s;
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
  std::fill(s.first.begin(), s.first.begin() + s.rows, 1.0);
  std::copy(weight.begin(), weight.end(), s.first.begin());
  return s;
}

/// The data shared by all runs.
struct ExactTable : BoostTable {
  Columns source, target;
  std::vector<double> y;  ///< padded
  double gamma;
  double total;  ///< of the source weights
  std::vector<double> low, high;

  explicit ExactTable(const BoostData& data)
      : source(read_columns(data.source, data.weight)),
        target(read_columns(data.target, {})),
        y(static_cast<std::size_t>(source.size), 1),
        gamma(data.gamma),
        total(data.total) {
    std::copy(data.y.begin(), data.y.end(), y.begin());
    for (Index j = 0; j < data.source.cols(); ++j) set_range(j);
  }

  std::unique_ptr<BoostRows> start() const override;
  bool runs_side_by_side() const override { return true; }

  void set_range(Index j) {
    double lo = std::numeric_limits<double>::infinity(), hi = -lo;
    for (const Columns* s : {&source, &target}) {
      for (Index i = 0; i < s->rows; ++i) {
        lo = std::min(lo, s->column(j)[i]);
        hi = std::max(hi, s->column(j)[i]);
      }
    }
    low.push_back(lo);
    high.push_back(hi);
  }
};

class ExactRows : public BoostRows {
 public:
  explicit ExactRows(const ExactTable& table)
      : table_(table),
        source_(table.source.first, table.source.rows),
        target_(table.target.first, table.target.rows),
        source_sum_(table.total),
        target_sum_(static_cast<double>(table.target.rows)) {
    low_ = table.low;
    high_ = table.high;
  }

  double nearest_threshold(Index, double theta) const override { return theta; }
  void masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context&) override;
  StumpCandidate best_split(const Context& context) override;
  UpdateSums update(const BoostStep& step, const Context&) override;
  void project(const Stump& stump, double weight, Projected& p, const Context&) const override;
  Vector source_weight() const override { return source_.normalised(table_.source.rows); }
  Vector target_weight() const override {
    return table_.target.rows == 0 ? Vector() : target_.normalised(table_.target.rows);
  }

 private:
  void update_source_rows(const BoostStep& step, UpdateSums& result);
  void sort_columns(const Context& context);
  StumpCandidate best_of_column(Index j, double& best) const;

  const ExactTable& table_;
  PaddedWeights source_, target_;
  double source_sum_, target_sum_;
  double target_least_ = 0;
  double since_refresh_ = 0;
  /// Rows of each column sorted by value; odd entries (2 row + 1) are the last of their value. Made on first use.
  std::vector<std::uint32_t> order_;
};

std::unique_ptr<BoostRows> ExactTable::start() const { return std::make_unique<ExactRows>(*this); }

void ExactRows::masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context&) {
  const Columns &s = table_.source, &t = table_.target;
  for (std::size_t k = 0; k < stumps.size(); ++k) {
    const Stump& stump = stumps[k];
    StumpMasses& m = result[k];
    source_masses(s.column(stump.attribute), table_.y.data(), source_.weight.data(), stump.theta, s.size, m.right,
                  m.wrong);
    target_masses(t.column(stump.attribute), target_.weight.data(), stump, table_.gamma, t.size, m.inside, m.outside);
  }
}

UpdateSums ExactRows::update(const BoostStep& step, const Context&) {
  UpdateSums result;
  update_source_rows(step, result);
  const Columns& t = table_.target;
  if (t.rows == 0) return result;
  const TargetSums sums = update_target(t.column(step.stump.attribute), t.first.data(), step.stump, table_.gamma,
                                        step.beta, target_.margin.data(), t.size);
  // D_T = exp(-margin), up to a factor: ln Z_T = ln sum exp(-margin) after the update, minus the same before.
  const double before = std::log(target_sum_) - target_least_;
  target_least_ = sums.least;
  target_sum_ = weights_of_margins(t.first.data(), target_.margin.data(), target_least_, target_.weight.data(), t.size);
  result.log_z_target = std::log(target_sum_) - target_least_ - before;
  result.loss_target = sums.lost / static_cast<double>(t.rows);
  return result;
}

void ExactRows::update_source_rows(const BoostStep& step, UpdateSums& result) {
  const Columns& s = table_.source;
  SourceUpdate update{.alpha = step.alpha};
  update.when_right = std::exp(-step.alpha) / source_sum_;
  update.when_wrong = std::exp(step.alpha) / source_sum_;
  update.gamma = table_.gamma;
  update.normalised = table_.gamma * step.alpha_sum;
  const SourceSums sums = update_source(s.column(step.stump.attribute), table_.y.data(), s.first.data(), step.stump,
                                        update, source_.weight.data(), source_.margin.data(), s.size);
  source_sum_ = sums.total;
  result.log_z_source = std::log(sums.total);
  result.err = sums.err / table_.total;
  result.margin = sums.margin / table_.total;
  result.margin_normalised = sums.margin_normalised / table_.total;
  since_refresh_ += 2 * step.alpha;
  if (since_refresh_ < refresh_after) return;
  since_refresh_ = 0;
  source_sum_ = weights_of_margins(s.first.data(), source_.margin.data(), sums.least, source_.weight.data(), s.size);
}

void ExactRows::project(const Stump& stump, double weight, Projected& p, const Context&) const {
  const double* s = table_.source.column(stump.attribute);
  for (std::size_t i = 0; i < p.source.size(); ++i) p.source[i].first += weight * stump.value(s[i]);
  const double* t = table_.target.column(stump.attribute);
  for (std::size_t i = 0; i < p.target.size(); ++i) p.target[i].first += weight * stump.value(t[i]);
}

void ExactRows::sort_columns(const Context& context) {
  const Index n = table_.source.rows;
  order_.resize(static_cast<std::size_t>(n * cols()));
  context.parallel(cols(), [&](Index j) {
    const double* x = table_.source.column(j);
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
  const Index n = table_.source.rows;
  const std::uint32_t* order = order_.data() + j * n;
  double all = 0;
  for (Index i = 0; i < n; ++i) {
    const std::uint32_t row = order[i] >> 1U;
    all += source_.weight[row] * table_.y[row];
  }
  Index at = -1;
  double below = 0;
  best = -1;
  for (Index i = 0; i < n; ++i) {
    const std::uint32_t row = order[i] >> 1U;
    below += source_.weight[row] * table_.y[row];
    if ((order[i] & 1U) == 0) continue;
    const double gain = std::abs(all - 2 * below);
    if (gain > best) {
      best = gain;
      at = i;
    }
  }
  if (at < 0) return {-1, 0};
  // Midway, but never above the next value: rounding must not move the threshold past it.
  const double low = table_.source.column(j)[order[at] >> 1U];
  const double high = table_.source.column(j)[order[at + 1] >> 1U];
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

std::unique_ptr<BoostTable> make_exact_table(const BoostData& data, int runs, const Context&) {
  const auto rows = static_cast<std::size_t>(padded(data.source.rows()) + padded(data.target.rows()));
  // Values and their order, and the weights and margins of every run.
  const std::size_t bytes =
      rows * (12 * static_cast<std::size_t>(data.source.cols()) + 16) + 24 * rows * static_cast<std::size_t>(runs);
  require_memory(bytes, data.who, "exact boosting", "use exact=false, which needs one byte per value");
  return std::make_unique<ExactTable>(data);
}

}  // namespace ecotone
