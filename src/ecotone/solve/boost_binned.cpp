#include <algorithm>
#include <array>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/solve/boost_codes.h"
#include "ecotone/solve/boost_rows.h"

namespace ecotone {
namespace {

/// Rows of one task: its weights and codes stay in the cache.
constexpr Index task_rows = 16384;
/// Weights below this count as this: a row that is so far from being chosen is never heard of again.
constexpr double tiny_weight = 1e-290;
/// Losses are read off weights, which are products of many factors: margins this near are equal.
constexpr double tie = 1e-9;

/// Sums of weights by bin: of rows of class -1 in the second half. Target rows are all in the first.
using Histogram = std::array<double, 2 * boost_bin_count>;

void add(Histogram& into, const Histogram& other) {
  for (std::size_t c = 0; c < into.size(); ++c) into[c] += other[c];
}

/// One domain. Weights are the only state of a row: D_i = first_i exp(-margin_i) / C with a known C, so that a margin
/// is compared by comparing the weight. The weights of class -1 are held with a minus sign.
struct Sample {
  Index rows = 0;
  std::vector<std::uint8_t> codes;
  std::vector<double> weight;
  std::vector<double> first;  ///< empty: all 1
  double total = 0;           ///< of the first weights
  double log_c = 0;

  const std::uint8_t* column(Index j) const { return codes.data() + j * rows; }
  Index tasks() const { return (rows + task_rows - 1) / task_rows; }
};

std::size_t bin_of(std::uint8_t code, double weight) { return code + (weight < 0 ? std::size_t{boost_bin_count} : 0); }

/// Adds rows [begin, end) to a histogram; two in turn, so that equal bins in a row do not wait for each other.
void count_rows(const Sample& s, const std::uint8_t* code, Index begin, Index end, Histogram& result) {
  Histogram odd{};
  Index i = begin;
  for (; i + 1 < end; i += 2) {
    result[bin_of(code[i], s.weight[static_cast<std::size_t>(i)])] += std::abs(s.weight[static_cast<std::size_t>(i)]);
    odd[bin_of(code[i + 1], s.weight[static_cast<std::size_t>(i + 1)])] +=
        std::abs(s.weight[static_cast<std::size_t>(i + 1)]);
  }
  if (i < end)
    result[bin_of(code[i], s.weight[static_cast<std::size_t>(i)])] += std::abs(s.weight[static_cast<std::size_t>(i)]);
  add(result, odd);
}

/// Sums of first weights whose weight is above a limit (times the first weight).
template <std::size_t count>
void count_losses(const Sample& s, Index begin, Index end, const std::array<double, count>& limit,
                  std::array<double, count>& lost) {
  for (std::size_t k = 0; k < count; ++k) {
    const double least = limit[k];
    if (s.first.empty()) {
      if (least > 2) continue;  // no weight is above 1
      Index above = 0;
      for (Index i = begin; i < end; ++i) above += std::abs(s.weight[static_cast<std::size_t>(i)]) >= least ? 1 : 0;
      lost[k] += static_cast<double>(above);
      continue;
    }
    for (Index i = begin; i < end; ++i) {
      const auto r = static_cast<std::size_t>(i);
      lost[k] += std::abs(s.weight[r]) >= least * s.first[r] ? s.first[r] : 0.0;
    }
  }
}

/// What one task of an update found.
struct TaskSums {
  Histogram next{};
  std::array<double, 3> lost{};
};

class BinnedRows : public BoostRows {
 public:
  BinnedRows(const BoostData& data, BoostBins bins, const Context& context)
      : edges_(bin_edges(data.source, data.target, bins, context)), gamma_(data.gamma) {
    for (const BinEdges& e : edges_) {
      low_.push_back(e.low);
      high_.push_back(e.high);
    }
    source_ = {data.source.rows(), bin_codes(data.source, edges_, context), {}, {}, data.total, std::log(data.total)};
    const bool equal = std::all_of(data.weight.begin(), data.weight.end(), [](double w) { return w == 1; });
    if (!equal) source_.first = data.weight;
    for (std::size_t i = 0; i < data.weight.size(); ++i)
      source_.weight.push_back(data.y[i] * data.weight[i] / data.total);
    const auto targets = static_cast<double>(data.target.rows());
    target_ = {data.target.rows(), bin_codes(data.target, edges_, context), {}, {}, targets, std::log(targets)};
    target_.weight.assign(static_cast<std::size_t>(target_.rows), 1 / targets);
  }

  double nearest_threshold(Index attribute, double theta) const override {
    const std::vector<double>& edge = edges_[static_cast<std::size_t>(attribute)].edge;
    if (edge.empty()) return theta;
    const auto above = std::lower_bound(edge.begin(), edge.end(), theta);
    if (above == edge.begin()) return edge.front();
    if (above == edge.end()) return edge.back();
    return theta - *(above - 1) <= *above - theta ? *(above - 1) : *above;
  }

  void masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context& context) override {
    need(stumps.front().attribute, context);
    for (std::size_t k = 0; k < stumps.size(); ++k) {
      const Table t = table(stumps[k]);
      StumpMasses& m = result[k];
      for (std::size_t c = 0; c < boost_bin_count; ++c) {
        const double positive = source_bins_[c], negative = source_bins_[c + boost_bin_count];
        m.right += t.above[c] ? positive : negative;
        m.wrong += t.above[c] ? negative : positive;
        (t.size[c] <= gamma_ ? m.inside : m.outside) += target_bins_[c];
      }
    }
  }

  StumpCandidate best_split(const Context& context) override;
  UpdateSums update(const BoostStep& step, const Context& context) override;

  void project(const Stump& stump, double weight, Projected& p, const Context&) const override {
    const Table t = table(stump);
    std::array<double, boost_bin_count> h;
    for (std::size_t c = 0; c < h.size(); ++c) h[c] = weight * stump.sign * (t.above[c] ? t.size[c] : -t.size[c]);
    const std::uint8_t* s = source_.column(stump.attribute);
    for (std::size_t i = 0; i < p.source.size(); ++i) p.source[i].first += h[s[i]];
    const std::uint8_t* u = target_.column(stump.attribute);
    for (std::size_t i = 0; i < p.target.size(); ++i) p.target[i].first += h[u[i]];
  }

  Vector source_weight() const override {
    const Vector w = Eigen::Map<const Vector>(source_.weight.data(), source_.rows).cwiseAbs();
    return w / w.sum();
  }
  Vector target_weight() const override {
    if (target_.rows == 0) return {};
    const Vector w = Eigen::Map<const Vector>(target_.weight.data(), target_.rows);
    return w / w.sum();
  }

 private:
  /// A stump on the bins of its attribute: |h| at their middles, and whether they are above the threshold.
  struct Table {
    std::array<double, boost_bin_count> size{};
    std::array<bool, boost_bin_count> above{};
  };

  Table table(const Stump& stump) const {
    const BinEdges& e = edges_[static_cast<std::size_t>(stump.attribute)];
    Table t;
    for (std::size_t c = 0; c < e.middle.size(); ++c) {
      t.above[c] = c > 0 && e.edge[c - 1] >= stump.theta;
      t.size[c] = std::abs(stump.value(e.middle[c]));
    }
    return t;
  }

  /// Both histograms of an attribute, unless they are there.
  void need(Index attribute, const Context& context) {
    if (counted_ == attribute) return;
    std::vector<Histogram> parts(static_cast<std::size_t>(source_.tasks() + target_.tasks()), Histogram{});
    for_tasks(context, [&](const Sample& s, Index begin, Index end, std::size_t task) {
      count_rows(s, s.column(attribute), begin, end, parts[task]);
    });
    collect(parts, attribute);
  }

  template <class Body>
  void for_tasks(const Context& context, const Body& body) const {
    context.parallel(source_.tasks() + target_.tasks(), [&](Index task) {
      const bool first = task < source_.tasks();
      const Sample& s = first ? source_ : target_;
      const Index begin = (first ? task : task - source_.tasks()) * task_rows;
      body(s, begin, std::min(begin + task_rows, s.rows), static_cast<std::size_t>(task));
    });
  }

  void collect(const std::vector<Histogram>& parts, Index attribute) {
    source_bins_.fill(0);
    target_bins_.fill(0);
    for (std::size_t task = 0; task < parts.size(); ++task)
      add(static_cast<Index>(task) < source_.tasks() ? source_bins_ : target_bins_, parts[task]);
    counted_ = attribute;
  }

  /// Factors of the weights by bin, so that their sum is 1 again; gives ln Z.
  double source_factors(const BoostStep& step, const Table& t, Histogram& factor) const;
  double target_factors(const BoostStep& step, const Table& t, Histogram& factor) const;

  std::vector<BinEdges> edges_;
  double gamma_;
  Sample source_, target_;
  Index counted_ = -1;  ///< attribute of the histograms
  Histogram source_bins_{}, target_bins_{};
};

double BinnedRows::source_factors(const BoostStep& step, const Table& t, Histogram& factor) const {
  double before = 0, after = 0;
  for (std::size_t c = 0; c < factor.size(); ++c) {
    const bool positive = c < boost_bin_count;
    const bool right = (t.above[c % boost_bin_count] == positive) == (step.stump.sign > 0);
    factor[c] = std::exp(right ? -step.alpha : step.alpha);
    before += source_bins_[c];
    after += source_bins_[c] * factor[c];
  }
  for (double& f : factor) f /= after;
  return std::log(after / before);
}

double BinnedRows::target_factors(const BoostStep& step, const Table& t, Histogram& factor) const {
  // e^(+beta |h|) inside the band, e^(-beta |h|) outside; the largest exponent of a bin with weight is taken out first.
  double top = -std::numeric_limits<double>::infinity(), before = 0, after = 0;
  std::array<double, boost_bin_count> exponent{};
  for (std::size_t c = 0; c < exponent.size(); ++c) {
    exponent[c] = step.beta * (t.size[c] <= gamma_ ? t.size[c] : -t.size[c]);
    if (target_bins_[c] > 0) top = std::max(top, exponent[c]);
  }
  for (std::size_t c = 0; c < exponent.size(); ++c) {
    before += target_bins_[c];
    if (target_bins_[c] > 0) after += target_bins_[c] * std::exp(exponent[c] - top);
  }
  factor.fill(0);
  for (std::size_t c = 0; c < exponent.size(); ++c)
    if (target_bins_[c] > 0) factor[c] = std::exp(exponent[c] - top) / after;
  return std::log(after / before) + top;
}

UpdateSums BinnedRows::update(const BoostStep& step, const Context& context) {
  const Index attribute = step.stump.attribute;
  need(attribute, context);
  const Table t = table(step.stump);
  UpdateSums result;
  Histogram source_factor{}, target_factor{};
  result.log_z_source = source_factors(step, t, source_factor);
  source_.log_c += result.log_z_source;
  if (target_.rows > 0) {
    result.log_z_target = target_factors(step, t, target_factor);
    target_.log_c += result.log_z_target;
  }
  // margin <= a means weight >= first exp(-a) / C.
  const auto limit = [&](const Sample& s, double a) { return std::exp(-a - s.log_c + tie); };
  const std::array<double, 3> source_limits = {limit(source_, 2 * tie), limit(source_, gamma_ + 2 * tie),
                                               limit(source_, gamma_ * step.alpha_sum + 2 * tie)};
  const std::array<double, 1> target_limits = {limit(target_, 0)};
  const Index next = step.next < 0 ? attribute : step.next;
  std::vector<TaskSums> parts(static_cast<std::size_t>(source_.tasks() + target_.tasks()));
  context.parallel(static_cast<Index>(parts.size()), [&](Index task) {
    const bool is_source = task < source_.tasks();
    Sample& s = is_source ? source_ : target_;
    const Histogram& factor = is_source ? source_factor : target_factor;
    const Index begin = (is_source ? task : task - source_.tasks()) * task_rows;
    const Index end = std::min(begin + task_rows, s.rows);
    TaskSums& sums = parts[static_cast<std::size_t>(task)];
    const std::uint8_t* code = s.column(attribute);
    for (Index i = begin; i < end; ++i) {
      double& w = s.weight[static_cast<std::size_t>(i)];
      const double size = std::max(std::abs(w) * factor[bin_of(code[i], w)], tiny_weight);
      w = std::copysign(size, w);
    }
    if (is_source) {
      count_losses(s, begin, end, source_limits, sums.lost);
    } else {
      std::array<double, 1> lost{};
      count_losses(s, begin, end, target_limits, lost);
      sums.lost[0] = lost[0];
    }
    count_rows(s, s.column(next), begin, end, sums.next);
  });
  std::vector<Histogram> bins;
  for (std::size_t task = 0; task < parts.size(); ++task) {
    const bool is_source = static_cast<Index>(task) < source_.tasks();
    bins.push_back(parts[task].next);
    if (is_source) {
      result.err += parts[task].lost[0] / source_.total;
      result.margin += parts[task].lost[1] / source_.total;
      result.margin_normalised += parts[task].lost[2] / source_.total;
    } else {
      result.loss_target += parts[task].lost[0] / target_.total;
    }
  }
  collect(bins, next);
  return result;
}

StumpCandidate BinnedRows::best_split(const Context& context) {
  std::vector<double> gain(edges_.size(), -1), theta(edges_.size(), 0);
  context.parallel(cols(), [&](Index j) {
    const auto k = static_cast<std::size_t>(j);
    const std::vector<double>& edge = edges_[k].edge;
    Histogram bins{};
    count_rows(source_, source_.column(j), 0, source_.rows, bins);
    double all = 0, below = 0;
    for (std::size_t c = 0; c < boost_bin_count; ++c) all += bins[c] - bins[c + boost_bin_count];
    // |sum_{x > theta} D y - sum_{x <= theta} D y|
    for (std::size_t c = 0; c < edge.size(); ++c) {
      below += bins[c] - bins[c + boost_bin_count];
      const double found = std::abs(all - 2 * below);
      if (found <= gain[k]) continue;
      gain[k] = found;
      theta[k] = edge[c];
    }
  });
  std::size_t best = 0;
  for (std::size_t k = 1; k < gain.size(); ++k)
    if (gain[k] > gain[best]) best = k;
  return {gain[best] < 0 ? -1 : static_cast<Index>(best), theta[best]};
}

}  // namespace

std::unique_ptr<BoostRows> make_binned_rows(const BoostData& data, BoostBins bins, const Context& context) {
  const auto rows = static_cast<std::size_t>(data.source.rows() + data.target.rows());
  require_memory(rows * static_cast<std::size_t>(data.source.cols() + 16), data.who, "boosting on bins",
                 "use fewer rows");
  return std::make_unique<BinnedRows>(data, bins, context);
}

}  // namespace ecotone
