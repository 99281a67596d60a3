#include "ecotone/solve/boost/boost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/solve/boost/rows.h"

namespace ecotone {
namespace {

/// A ratio closer to 1/2 than this is no better than chance.
constexpr double chance = 1e-12;

void check_options(const BoostProblem& problem, const BoostOptions& o) {
  const char* who = problem.who;
  if (!(o.gamma > 0 && o.gamma < 1)) option_error("bad_option", "{}: gamma must be in (0, 1), got {}", who, o.gamma);
  if (o.rounds < 1 || o.rounds > boost_most_rounds)
    option_error("bad_option", "{}: rounds must be in [1, {}], got {}", who, boost_most_rounds, o.rounds);
  if (o.candidates < 1 || o.candidates > boost_most_candidates)
    option_error("bad_option", "{}: candidates must be in [1, {}], got {}", who, boost_most_candidates, o.candidates);
  if (o.run < 0 || o.run >= boost_most_runs)
    option_error("bad_option", "{}: run must be in [0, {}), got {}", who, boost_most_runs, o.run);
  // With half of the weight or less outside, it is not a weak learner.
  if (!(o.b_t > 0.5 && o.b_t <= 1)) option_error("bad_option", "{}: b_t must be in (0.5, 1], got {}", who, o.b_t);
  if (o.floor && !(*o.floor >= boost_least_floor && *o.floor < 0.5))
    option_error("bad_option", "{}: floor must be in [1e-12, 0.5), got {}", who, *o.floor);
  if (!(o.scale.raw > 0) || !std::isfinite(o.scale.raw))
    option_error("bad_option", "{}: a scale must be > 0, got {}", who, o.scale.raw);
  if (o.search == BoostSearch::all && problem.target.rows() > 0)
    option_error("bad_option", "{}: the search over all stumps works only without target rows", who);
  if (o.depth < 0 || o.depth > boost_most_depth || (o.depth > 0 && o.search == BoostSearch::fixed))
    option_error("bad_option", "{}: depth must be in [0, {}], and 0 with fixed stumps; got {}", who, boost_most_depth,
                 o.depth);
  for (const auto& list : o.fixed) {
    for (const StumpCandidate& c : list)
      if (c.attribute < 0 || c.attribute >= problem.source.cols() || !std::isfinite(c.theta))
        option_error("bad_option", "{}: no stump at threshold {} of attribute {}", who, c.theta, c.attribute);
  }
}

void check_rows(const BoostProblem& p) {
  const auto rows = static_cast<std::size_t>(p.source.rows());
  if (p.y.size() != rows) data_error("shape_mismatch", "{}: {} labels for {} source rows", p.who, p.y.size(), rows);
  if (!p.weight.empty() && p.weight.size() != rows)
    data_error("shape_mismatch", "{}: {} weights for {} source rows", p.who, p.weight.size(), rows);
  if (p.target.rows() > 0 && p.target.cols() != p.source.cols())
    data_error("shape_mismatch", "{}: {} target columns for {} source columns", p.who, p.target.cols(),
               p.source.cols());
  if (rows == 0 || p.source.cols() == 0) data_error("empty_data", "{}: no source rows or no columns", p.who);
  for (std::size_t i = 0; i < rows; ++i)
    if (p.y[i] != 1 && p.y[i] != -1)
      data_error("bad_label", "{}: label {} of row {} is not -1 or 1", p.who, p.y[i], i + 1);
  for (std::size_t i = 0; i < p.weight.size(); ++i)
    if (!(p.weight[i] >= 0) || !std::isfinite(p.weight[i]))
      data_error("negative_weight", "{}: weight {} of row {} is negative or not finite", p.who, p.weight[i], i + 1);
}

void check_finite(const Features& x, const char* who, const char* what, const Context& context) {
  const NonFinite found = find_non_finite(x, context);
  if (found.row >= 0)
    data_error("non_finite", "{}: column '{}' of {} row {} is {}", who, x.name(found.column), what, found.row + 1,
               found.value);
}

/// The source rows that count, those whose weight is not 0, with their labels and weights. `rows` and `y` are empty if
/// all rows count.
struct Kept {
  std::vector<Index> rows;
  std::vector<double> y, weight;

  explicit Kept(const BoostProblem& problem) {
    const auto zero = std::find(problem.weight.begin(), problem.weight.end(), 0.0);
    if (zero == problem.weight.end()) {
      weight = scaled_weights({problem.weight.begin(), problem.weight.end()}, problem.copies, problem.who);
      return;
    }
    for (std::size_t i = 0; i < problem.weight.size(); ++i) {
      if (problem.weight[i] == 0) continue;
      rows.push_back(static_cast<Index>(i));
      y.push_back(problem.y[i]);
      weight.push_back(problem.weight[i]);
    }
    if (rows.empty()) data_error("zero_weights", "{}: all row weights are 0", problem.who);
    weight = scaled_weights(std::move(weight), problem.copies, problem.who);
  }

  /// Weights of the kept rows, expanded to all rows.
  Vector spread(Vector weights, Index all) const {
    if (rows.empty()) return weights;
    Vector result = Vector::Zero(all);
    for (std::size_t i = 0; i < rows.size(); ++i) result[rows[i]] = weights[static_cast<Index>(i)];
    return result;
  }
};

BoostData prepared(const BoostProblem& problem, double gamma, const Kept& kept, const Context& context) {
  const bool whole = kept.rows.empty();
  BoostData data;
  data.who = problem.who;
  data.gamma = gamma;
  data.y = whole ? problem.y : std::span<const double>(kept.y);
  data.weight = kept.weight;
  bool positive = false, negative = false;
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    data.total += data.weight_of(i);
    (data.y[i] > 0 ? positive : negative) = true;
  }
  if (!positive || !negative)
    data_error("one_class", "{}: all source rows with positive weight belong to one class; two are needed",
               problem.who);
  data.source = whole ? problem.source : problem.source.take(kept.rows);
  data.target = problem.target.rows() > 0 ? problem.target : Features::dense(Matrix(0, problem.source.cols()));
  check_finite(data.source, problem.who, "source", context);
  check_finite(data.target, problem.who, "target", context);
  return data;
}

/// ln(e^a + e^b).
double log_sum(double a, double b) {
  const double top = std::max(a, b);
  return top == -infinity ? top : top + std::log1p(std::exp(std::min(a, b) - top));
}

/// The rounds, from the first to the stop.
class Rounds {
 public:
  Rounds(const BoostData& data, const BoostOptions& options, BoostRows& rows, const Context& context)
      : options_(options), rows_(rows), context_(context), target_(data.target.rows() > 0) {
    const auto targets = static_cast<double>(data.target.rows());
    // c = 1/(2 n): alpha and beta stay finite even if no row is wrong.
    floor_source_ = options.floor.value_or(std::clamp(0.5 / data.total, boost_least_floor, 0.25));
    floor_target_ = options.floor.value_or(std::clamp(0.5 / std::max(targets, 1.0), boost_least_floor, 0.25));
    log_ratio_ = target_ ? std::log(targets / data.total) : -infinity;
    for (Index j = 0; j < rows.cols(); ++j) {
      if (!std::isfinite(rows.high(j) - rows.low(j)))
        data_error("non_finite", "{}: the range of column '{}' is too large", data.who, data.source.name(j));
      if (rows.low(j) < rows.high(j)) varying_.push_back(j);
    }
    fit_.constant = varying_.empty();
    if (!options.criteria || !target_) return;
    for (std::size_t i = 0; i < data.y.size(); ++i) projected_.source.emplace_back(0, data.weight_of(i) / data.total);
    projected_.target.assign(static_cast<std::size_t>(data.target.rows()), {0, 1 / targets});
  }

  BoostFit run() {
    const auto lists = static_cast<int>(std::min<std::size_t>(options_.fixed.size(), boost_most_rounds));
    const int rounds = options_.search == BoostSearch::fixed ? std::min(options_.rounds, lists) : options_.rounds;
    for (round_ = 0; round_ < rounds; ++round_) {
      context_.check_cancelled();
      BoostRound found;
      if (!choose(found)) {
        fit_.stop = target_ ? BoostStop::no_weak_da_learner : BoostStop::no_weak_learner;
        break;
      }
      apply(found, round_ + 1 < rounds);
      if (rows_.has_trees()) {
        fit_.trees.push_back(rows_.tree(found.stump.attribute));
        found.stump = {};
      }
      fit_.rounds.push_back(found);
      if (options_.search == BoostSearch::all && found.eps == 0) {
        fit_.stop = BoostStop::perfect;
        break;
      }
    }
    fit_.log_w_source = log_w_source();
    fit_.log_w_target = log_w_target();
    return std::move(fit_);
  }

 private:
  double log_w_source() const { return -log_sum(0, log_ratio_); }
  double log_w_target() const { return target_ ? -log_sum(0, -log_ratio_) : -infinity; }

  /// The stream of one candidate: (seed, run, round, draw, candidate).
  Random random(int round, int draw, int candidate) const {
    const auto key = (static_cast<std::uint64_t>(options_.run) << 48U) |  // 16 bits
                     (static_cast<std::uint64_t>(candidate) << 34U) |     // 14 bits
                     (static_cast<std::uint64_t>(draw) << 26U) |          // 8 bits
                     static_cast<std::uint64_t>(round);                   // 26 bits
    return Random(options_.seed, "boost.stumps", key);
  }

  Index drawn_attribute(Random& first) const { return varying_[at(first.below(varying_.size()))]; }

  std::vector<StumpCandidate> candidates(int draw) const {
    if (options_.search == BoostSearch::fixed) return options_.fixed[at(round_)];
    if (varying_.empty()) return {};
    if (options_.search == BoostSearch::all) {
      const StumpCandidate best = rows_.best_split(context_);
      return best.attribute < 0 ? std::vector<StumpCandidate>() : std::vector<StumpCandidate>{best};
    }
    if (rows_.has_trees()) return drawn_trees(draw);
    // K thresholds drawn uniformly from [lo, hi] of one random attribute.
    Random first = random(round_, draw, 0);
    const Index j = drawn_attribute(first);
    std::vector<StumpCandidate> list;
    for (int k = 0; k < options_.candidates; ++k) {
      Random own = k == 0 ? first : random(round_, draw, k);
      list.push_back({j, own.uniform(rows_.low(j), rows_.high(j))});
    }
    return list;
  }

  std::vector<StumpCandidate> drawn_trees(int draw) const {
    rows_.forget();
    std::vector<StumpCandidate> list;
    for (int k = 0; k < options_.candidates; ++k) {
      Random own = random(round_, draw, k);
      list.push_back(rows_.draw(own));
    }
    return list;
  }

  /// Finds the best candidate of the round, if there is one.
  bool choose(BoostRound& found) {
    fit_.refused = {};
    const int draws = options_.search == BoostSearch::drawn ? boost_redraws : 1;
    for (int draw = 0; draw < draws; ++draw) {
      const std::vector<StumpCandidate> list = candidates(draw);
      if (best_of(list, found)) {
        fit_.refused = {};
        return true;
      }
    }
    return false;
  }

  bool best_of(const std::vector<StumpCandidate>& list, BoostRound& found) {
    stumps_.clear();
    for (const StumpCandidate& c : list) {
      if (rows_.has_trees()) {
        stumps_.push_back({.attribute = c.attribute});
        continue;
      }
      const StumpCandidate near{c.attribute, rows_.nearest_threshold(c.attribute, c.theta)};
      stumps_.push_back(make_stump(near, options_.scale, rows_.low(c.attribute), rows_.high(c.attribute)));
    }
    masses_.assign(stumps_.size(), {});
    // Stumps on one attribute are measured together.
    for (std::size_t begin = 0, end = 0; begin < stumps_.size(); begin = end) {
      while (end < stumps_.size() && stumps_[end].attribute == stumps_[begin].attribute) ++end;
      rows_.masses(std::span(stumps_).subspan(begin, end - begin), std::span(masses_).subspan(begin, end - begin),
                   context_);
    }
    double best = -infinity;
    for (std::size_t k = 0; k < stumps_.size(); ++k) {
      BoostRound candidate = measured(stumps_[k], masses_[k]);
      if (!accepted(candidate)) continue;
      const double score = score_of(candidate);
      if (score <= best) continue;
      best = score;
      found = candidate;
    }
    return best > -infinity;
  }

  BoostRound measured(const Stump& stump, const StumpMasses& m) const {
    BoostRound round;
    round.stump = stump;
    round.stump.sign = m.wrong <= m.right ? 1 : -1;
    round.eps = std::min(m.wrong, m.right) / (m.wrong + m.right);
    round.viol = target_ ? m.inside / (m.inside + m.outside) : 0;
    return round;
  }

  bool accepted(const BoostRound& round) {
    if (!(round.eps < 0.5 - chance)) return ++fit_.refused.source, false;
    if (!target_) return true;
    if (!(round.viol < 0.5 - chance)) return ++fit_.refused.target, false;
    if (1 - round.viol > options_.b_t) return ++fit_.refused.b_t, false;
    return true;
  }

  double score_of(const BoostRound& round) const {
    if (!target_ || options_.select == BoostSelect::min_source) return -round.eps;
    if (options_.select == BoostSelect::max_wtplus) return 1 - round.viol;
    // Z' / 2 = W_S sqrt(eps (1 - eps)) + W_T sqrt(viol (1 - viol))
    return -(std::exp(log_w_source()) * std::sqrt(round.eps * (1 - round.eps)) +
             std::exp(log_w_target()) * std::sqrt(round.viol * (1 - round.viol)));
  }

  /// ln((1 - r) e^-a + r e^a).
  static double log_mass(double ratio, double a) { return std::log((1 - ratio) * std::exp(-a) + ratio * std::exp(a)); }

  void apply(BoostRound& round, bool more) {
    const double gamma = options_.gamma;
    const double eps = std::clamp(round.eps, floor_source_, 1 - floor_source_);
    const double viol = std::clamp(round.viol, floor_target_, 1 - floor_target_);
    round.alpha = 0.5 * std::log((1 - eps) / eps);
    round.beta = target_ ? 0.5 / gamma * std::log((1 - viol) / viol) : 0;
    round.log_w_source = log_w_source();
    round.log_w_target = log_w_target();
    alpha_sum_ += round.alpha;
    const UpdateSums sums =
        rows_.update({round.stump, round.alpha, round.beta, alpha_sum_, next_attribute(more)}, context_);
    round.log_z = log_sum(round.log_w_source + sums.log_z_source, round.log_w_target + sums.log_z_target);
    // Z' = W_S+ e^-alpha + W_S- e^alpha + W_T+ e^(-beta gamma) + W_T- e^(beta gamma)
    round.log_bound = log_sum(round.log_w_source + log_mass(round.eps, round.alpha),
                              round.log_w_target + log_mass(round.viol, round.beta * gamma));
    log_ratio_ += sums.log_z_target - sums.log_z_source;
    round.err_source = sums.err;
    round.margin_loss = sums.margin;
    round.margin_loss_normalised = sums.margin_normalised;
    round.loss_target = sums.loss_target;
    if (projected_.target.empty()) return;
    rows_.project(round.stump, round.alpha + round.beta, projected_, context_);
    both_sum_ += round.alpha + round.beta;
    set_criteria(projected_, both_sum_, gamma, round);
  }

  /// The attribute that the next round draws first, so that rows can be read once for both.
  Index next_attribute(bool more) const {
    if (!more || options_.search != BoostSearch::drawn) return -1;
    Random first = random(round_ + 1, 0, 0);
    return drawn_attribute(first);
  }

  const BoostOptions& options_;
  BoostRows& rows_;
  const Context& context_;
  const bool target_;
  double floor_source_ = 0, floor_target_ = 0;
  double log_ratio_ = 0;  ///< ln(W_T / W_S)
  double alpha_sum_ = 0, both_sum_ = 0;
  int round_ = 0;
  std::vector<Index> varying_;  ///< attributes with at least two distinct values
  std::vector<Stump> stumps_;
  std::vector<StumpMasses> masses_;
  Projected projected_;
  BoostFit fit_;
};

bool use_bins(const BoostData& data, BoostRowsKind kind) {
  if (kind != BoostRowsKind::automatic) return kind == BoostRowsKind::binned;
  return data.source.rows() + data.target.rows() >= boost_binned_rows;
}

/// Memory of the history of the rounds and of the criteria; the tables of rows check their own.
void require_round_memory(const BoostData& data, const BoostOptions& options, int runs, int side_by_side) {
  const std::size_t leaves = options.depth > 0 ? std::size_t{1} << static_cast<unsigned>(options.depth) : 0;
  // Twice: a vector is copied when it grows, and the model holds the same values.
  const std::size_t round = 2 * (sizeof(BoostRound) + (leaves > 0 ? sizeof(BoostTree) + 32 * leaves : 0));
  require_memory(static_cast<std::size_t>(options.rounds) * static_cast<std::size_t>(runs) * round, data.who,
                 "the history of all rounds", "use fewer rounds or runs");
  if (!options.criteria || data.target.rows() == 0) return;
  // p and the weight of every row, a sorted copy, and cumulative sums that may be copied when they grow.
  const auto rows = static_cast<std::size_t>(data.source.rows() + data.target.rows());
  require_memory(rows * 56 * static_cast<std::size_t>(side_by_side), data.who, "the criteria",
                 "drop criteria and use stop=last");
}

}  // namespace

std::vector<BoostFit> fit_boost_runs(const BoostProblem& problem, const BoostOptions& options, int runs,
                                     const Context& context) {
  check_options(problem, options);
  if (runs < 1 || runs > boost_most_runs - options.run)
    option_error("bad_option", "{}: runs must be in [1, {}], got {}", problem.who, boost_most_runs - options.run, runs);
  check_rows(problem);
  const Kept kept(problem);
  const BoostData data = prepared(problem, options.gamma, kept, context);
  const bool binned = options.depth > 0 || use_bins(data, options.rows);
  require_round_memory(data, options, runs, options.depth > 0 || !binned ? std::min(runs, context.threads()) : 1);
  const auto table = options.depth > 0 ? make_tree_table(data, options.bins, options.depth, runs, context)
                     : binned          ? make_binned_table(data, options.bins, options.weights ? runs : 0, context)
                                       : make_exact_table(data, runs, context);
  std::vector<BoostFit> fits(static_cast<std::size_t>(runs));
  const auto run = [&](Index r) {
    BoostOptions own = options;
    own.run += static_cast<int>(r);
    const auto rows = table->start();
    BoostFit& fit = fits[at(r)];
    fit = Rounds(data, own, *rows, context).run();
    fit.binned = binned;
    if (!options.weights) return;
    fit.source_weight = kept.spread(rows->source_weight(), problem.source.rows());
    fit.target_weight = rows->target_weight();
  };
  if (table->runs_side_by_side()) {
    context.parallel(runs, run);
  } else {
    for (Index r = 0; r < runs; ++r) run(r);
  }
  return fits;
}

BoostFit fit_boost(const BoostProblem& problem, const BoostOptions& options, const Context& context) {
  return std::move(fit_boost_runs(problem, options, 1, context).front());
}

}  // namespace ecotone
