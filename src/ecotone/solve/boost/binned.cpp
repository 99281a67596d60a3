#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/boost/bin_loops.h"
#include "ecotone/solve/boost/codes.h"
#include "ecotone/solve/boost/rows.h"

namespace ecotone {
namespace {

/// Rows per task. Within a task, rows are processed in pieces that fit the first-level cache.
constexpr Index task_rows = 32768;
constexpr Index piece_rows = 2048;
/// Weights below this count as this: a row this unlikely never matters again.
constexpr double tiny_weight = 1e-290;
/// Losses are derived from weights, which are products of many factors: margins this close count as equal.
constexpr double gain_tie = 1e-9;

/// Groups of rows that are treated alike: source rows of class -1, of class +1, and target rows.
enum Kind { negative = 0, positive = 1, target = 2 };

/// The codes of one group.
struct Group {
  Index rows = 0;
  std::vector<std::uint8_t> codes;  ///< column after column
  std::vector<double> first;        ///< weights before the first round; empty: all 1

  const std::uint8_t* column(Index j) const { return codes.data() + j * rows; }
};

/// The data shared by all runs.
struct BinnedTable : BoostTable {
  std::vector<BinEdges> edges;
  double gamma;
  std::vector<bool> label;  ///< of the source rows, in their order
  std::array<Group, 3> group;
  double source_total, target_total;  ///< of the first weights

  BinnedTable(const BoostData& data, BoostBins bins, const Context& context);
  std::unique_ptr<BoostRows> start() const override;
  bool runs_side_by_side() const override { return false; }
};

/// Some rows of one group.
struct BinTask {
  Kind kind;
  Index begin, end;
};

/// Results of one task of an update.
struct TaskSums {
  Histogram next{};
  std::array<double, 3> lost{};
};

/// A stump on the bins of its attribute: |h| at the middle of each bin, and whether the bin is above the threshold.
struct Table {
  std::array<double, boost_bin_count> size{};
  std::array<bool, boost_bin_count> above{};
};

class BinnedRows : public BoostRows {
 public:
  explicit BinnedRows(const BinnedTable& table);

  double nearest_threshold(Index attribute, double theta) const override;
  void masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context& context) override;
  StumpCandidate best_split(const Context& context) override;
  UpdateSums update(const BoostStep& step, const Context& context) override;
  void project(const Stump& stump, double weight, Projected& p, const Context& context) const override;
  Vector source_weight() const override;
  Vector target_weight() const override;

 private:
  Table on_bins(const Stump& stump) const;
  std::vector<BinTask> tasks() const;
  /// Computes the histograms of an attribute unless they exist.
  void need(Index attribute, const Context& context);
  /// Factors of the weights by bin, such that the weights of a domain sum to 1 again; returns ln Z.
  double source_factors(const BoostStep& step, const Table& t, std::array<Histogram, 3>& factor) const;
  double target_factors(const BoostStep& step, const Table& t, Histogram& factor) const;
  TaskSums update_task(const BinTask& task, const BoostStep& step, const Histogram& factor,
                       const std::array<double, 3>& limits);

  const BinnedTable& table_;
  /// The only state of a row: D_i = first_i exp(-margin_i) / C with a known C, so that margins are compared by
  /// comparing weights.
  std::array<std::vector<double>, 3> weight_;
  double log_c_source_, log_c_target_;
  Index counted_ = -1;  ///< attribute of the histograms
  std::array<Histogram, 3> bins_{};
};

BinnedTable::BinnedTable(const BoostData& data, BoostBins bins, const Context& context)
    : edges(bin_edges(data.source, data.target, bins, context)),
      gamma(data.gamma),
      source_total(data.total),
      target_total(static_cast<double>(data.target.rows())) {
  for (const double y : data.y) label.push_back(y > 0);
  const auto ups = static_cast<Index>(std::count(label.begin(), label.end(), true));
  group[negative].rows = data.source.rows() - ups;
  group[positive].rows = ups;
  group[target].rows = data.target.rows();
  const bool equal = std::all_of(data.weight.begin(), data.weight.end(), [](double w) { return w == 1; });
  for (const Kind kind : {negative, positive})
    if (!equal) group[kind].first.reserve(static_cast<std::size_t>(group[kind].rows));
  for (std::size_t i = 0; i < data.weight.size() && !equal; ++i)
    group[label[i] ? positive : negative].first.push_back(data.weight[i]);
  bin_codes(data.source, edges, label, group[negative].codes, group[positive].codes, context);
  std::vector<std::uint8_t> none;
  bin_codes(data.target, edges, {}, group[target].codes, none, context);
}

BinnedRows::BinnedRows(const BinnedTable& table)
    : table_(table), log_c_source_(std::log(table.source_total)), log_c_target_(std::log(table.target_total)) {
  for (const BinEdges& e : table.edges) {
    low_.push_back(e.low);
    high_.push_back(e.high);
  }
  for (const Kind kind : {negative, positive, target}) {
    const Group& g = table.group[kind];
    const double total = kind == target ? table.target_total : table.source_total;
    weight_[kind].assign(static_cast<std::size_t>(g.rows), 1 / total);
    for (std::size_t i = 0; i < g.first.size(); ++i) weight_[kind][i] = g.first[i] / total;
  }
}

std::unique_ptr<BoostRows> BinnedTable::start() const { return std::make_unique<BinnedRows>(*this); }

double BinnedRows::nearest_threshold(Index attribute, double theta) const {
  const std::vector<double>& edge = table_.edges[at(attribute)].edge;
  if (edge.empty()) return theta;
  const auto above = std::lower_bound(edge.begin(), edge.end(), theta);
  if (above == edge.begin()) return edge.front();
  if (above == edge.end()) return edge.back();
  return theta - *(above - 1) <= *above - theta ? *(above - 1) : *above;
}

Table BinnedRows::on_bins(const Stump& stump) const {
  const BinEdges& e = table_.edges[at(stump.attribute)];
  Table t;
  for (std::size_t c = 0; c < e.middle.size(); ++c) {
    t.above[c] = c > 0 && e.edge[c - 1] >= stump.theta;
    t.size[c] = std::abs(stump.value(e.middle[c]));
  }
  return t;
}

std::vector<BinTask> BinnedRows::tasks() const {
  std::vector<BinTask> list;
  for (const Kind kind : {negative, positive, target}) {
    const Index rows = table_.group[kind].rows;
    for (Index begin = 0; begin < rows; begin += task_rows)
      list.push_back({kind, begin, std::min(begin + task_rows, rows)});
  }
  return list;
}

void BinnedRows::need(Index attribute, const Context& context) {
  if (counted_ == attribute) return;
  const std::vector<BinTask> list = tasks();
  std::vector<Histogram> parts(list.size(), Histogram{});
  context.parallel(std::ssize(list), [&](Index k) {
    const BinTask& task = list[at(k)];
    const Group& g = table_.group[task.kind];
    add_to_bins(g.column(attribute) + task.begin, weight_[task.kind].data() + task.begin, task.end - task.begin,
                parts[at(k)]);
  });
  bins_ = {};
  for (std::size_t k = 0; k < list.size(); ++k)
    for (std::size_t c = 0; c < boost_bin_count; ++c) bins_[list[k].kind][c] += parts[k][c];
  counted_ = attribute;
}

void BinnedRows::masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context& context) {
  need(stumps.front().attribute, context);
  for (std::size_t k = 0; k < stumps.size(); ++k) {
    const Table t = on_bins(stumps[k]);
    StumpMasses& m = result[k];
    for (std::size_t c = 0; c < boost_bin_count; ++c) {
      m.right += t.above[c] ? bins_[positive][c] : bins_[negative][c];
      m.wrong += t.above[c] ? bins_[negative][c] : bins_[positive][c];
      (t.size[c] <= table_.gamma ? m.inside : m.outside) += bins_[target][c];
    }
  }
}

double BinnedRows::source_factors(const BoostStep& step, const Table& t, std::array<Histogram, 3>& factor) const {
  double before = 0, after = 0;
  for (const Kind kind : {negative, positive}) {
    for (std::size_t c = 0; c < boost_bin_count; ++c) {
      const bool right = (t.above[c] == (kind == positive)) == (step.stump.sign > 0);
      factor[kind][c] = std::exp(right ? -step.alpha : step.alpha);
      before += bins_[kind][c];
      after += bins_[kind][c] * factor[kind][c];
    }
  }
  for (const Kind kind : {negative, positive})
    for (double& f : factor[kind]) f /= after;
  return std::log(after / before);
}

double BinnedRows::target_factors(const BoostStep& step, const Table& t, Histogram& factor) const {
  // e^(+beta |h|) inside the band, e^(-beta |h|) outside; the largest exponent of a bin with weight is factored out
  // first.
  double top = -std::numeric_limits<double>::infinity(), before = 0, after = 0;
  const Histogram& bins = bins_[target];
  Histogram exponent{};
  for (std::size_t c = 0; c < exponent.size(); ++c) {
    exponent[c] = step.beta * (t.size[c] <= table_.gamma ? t.size[c] : -t.size[c]);
    if (bins[c] > 0) top = std::max(top, exponent[c]);
  }
  for (std::size_t c = 0; c < exponent.size(); ++c) {
    if (bins[c] == 0) continue;
    factor[c] = std::exp(exponent[c] - top);
    before += bins[c];
    after += bins[c] * factor[c];
  }
  for (double& f : factor) f /= after;
  return std::log(after / before) + top;
}

TaskSums BinnedRows::update_task(const BinTask& task, const BoostStep& step, const Histogram& factor,
                                 const std::array<double, 3>& limits) {
  const Group& g = table_.group[task.kind];
  const std::uint8_t* code = g.column(step.stump.attribute);
  const std::uint8_t* next = step.next < 0 ? nullptr : g.column(step.next);
  TaskSums sums;
  for (Index begin = task.begin; begin < task.end; begin += piece_rows) {
    const Index count = std::min(piece_rows, task.end - begin);
    double* weight = weight_[task.kind].data() + begin;
    scale_by_bins(code + begin, factor, tiny_weight, weight, count);
    for (std::size_t k = 0; k < (task.kind == target ? 1U : 3U); ++k) {
      if (!g.first.empty()) {
        sums.lost[k] += sum_above(weight, g.first.data() + begin, limits[k], count);
      } else if (limits[k] <= 2) {  // no weight is above 1
        sums.lost[k] += static_cast<double>(count_above(weight, limits[k], count));
      }
    }
    if (next) add_to_bins(next + begin, weight, count, sums.next);
  }
  return sums;
}

UpdateSums BinnedRows::update(const BoostStep& step, const Context& context) {
  need(step.stump.attribute, context);
  const Table t = on_bins(step.stump);
  std::array<Histogram, 3> factor{};
  UpdateSums result;
  result.log_z_source = source_factors(step, t, factor);
  log_c_source_ += result.log_z_source;
  if (table_.group[target].rows > 0) result.log_z_target = target_factors(step, t, factor[target]);
  log_c_target_ += result.log_z_target;
  // margin <= a means weight >= first exp(-a) / C, and margin < 0 the same with a slightly smaller limit.
  const std::array<double, 3> source_limits = {std::exp(-log_c_source_ - gain_tie),
                                               std::exp(-table_.gamma - log_c_source_ - gain_tie),
                                               std::exp(-table_.gamma * step.alpha_sum - log_c_source_ - gain_tie)};
  const std::array<double, 3> target_limits = {std::exp(-log_c_target_ + gain_tie), 0, 0};
  const std::vector<BinTask> list = tasks();
  std::vector<TaskSums> parts(list.size());
  context.parallel(std::ssize(list), [&](Index k) {
    const BinTask& task = list[at(k)];
    parts[at(k)] = update_task(task, step, factor[task.kind], task.kind == target ? target_limits : source_limits);
  });
  bins_ = {};
  std::array<double, 3> lost{};
  for (std::size_t k = 0; k < list.size(); ++k) {
    for (std::size_t c = 0; c < boost_bin_count; ++c) bins_[list[k].kind][c] += parts[k].next[c];
    if (list[k].kind == target) {
      result.loss_target += parts[k].lost[0] / table_.target_total;
    } else {
      for (std::size_t l = 0; l < lost.size(); ++l) lost[l] += parts[k].lost[l];
    }
  }
  result.err = lost[0] / table_.source_total;
  result.margin = lost[1] / table_.source_total;
  result.margin_normalised = lost[2] / table_.source_total;
  counted_ = step.next;
  return result;
}

StumpCandidate BinnedRows::best_split(const Context& context) {
  std::vector<double> gain(table_.edges.size(), -1), theta(table_.edges.size(), 0);
  context.parallel(cols(), [&](Index j) {
    const auto k = static_cast<std::size_t>(j);
    const std::vector<double>& edge = table_.edges[k].edge;
    Histogram up{}, down{};
    add_to_bins(table_.group[positive].column(j), weight_[positive].data(), table_.group[positive].rows, up);
    add_to_bins(table_.group[negative].column(j), weight_[negative].data(), table_.group[negative].rows, down);
    double all = 0, below = 0;
    for (std::size_t c = 0; c < boost_bin_count; ++c) all += up[c] - down[c];
    // |sum_{x > theta} D y - sum_{x <= theta} D y|
    for (std::size_t c = 0; c < edge.size(); ++c) {
      below += up[c] - down[c];
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

void BinnedRows::project(const Stump& stump, double weight, Projected& p, const Context&) const {
  const Table t = on_bins(stump);
  Histogram h;
  for (std::size_t c = 0; c < h.size(); ++c) h[c] = weight * stump.sign * (t.above[c] ? t.size[c] : -t.size[c]);
  std::array<const std::uint8_t*, 3> code;
  for (const Kind kind : {negative, positive, target}) code[kind] = table_.group[kind].column(stump.attribute);
  for (std::size_t i = 0; i < p.source.size(); ++i)
    p.source[i].first += h[*code[table_.label[i] ? positive : negative]++];
  for (auto& entry : p.target) entry.first += h[*code[target]++];
}

Vector BinnedRows::source_weight() const {
  Vector result(static_cast<Index>(table_.label.size()));
  std::array<const double*, 2> weight = {weight_[negative].data(), weight_[positive].data()};
  for (Index i = 0; i < result.size(); ++i) result[i] = *weight[table_.label[at(i)] ? positive : negative]++;
  result /= result.sum();
  return result;
}

Vector BinnedRows::target_weight() const {
  if (weight_[target].empty()) return {};
  Vector result = Eigen::Map<const Vector>(weight_[target].data(), std::ssize(weight_[target]));
  result /= result.sum();
  return result;
}

}  // namespace

std::unique_ptr<BoostTable> make_binned_table(const BoostData& data, BoostBins bins, int kept, const Context& context) {
  // One byte per value, the weights of the current run, and those that the results keep.
  const auto rows = static_cast<std::size_t>(data.source.rows() + data.target.rows());
  const std::size_t first = data.weight.empty() ? 0 : 8 * data.y.size();
  require_memory(rows * static_cast<std::size_t>(data.source.cols() + 8 + 8 * kept) + first, data.who,
                 "boosting on bins", "use fewer rows");
  return std::make_unique<BinnedTable>(data, bins, context);
}

}  // namespace ecotone
