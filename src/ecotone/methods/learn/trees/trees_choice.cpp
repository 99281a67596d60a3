#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "ecotone/base/error.h"
#include "ecotone/base/shared_tasks.h"
#include "ecotone/methods/learn/trees/trees.h"
#include "ecotone/methods/refits.h"

namespace ecotone {

namespace {

constexpr Index most_rounds = 300;
constexpr Index domains_to_leave_out = 10;  // a judgement: with fewer, the curve of left-out domains is rough
constexpr double affordable_fold_rows = 500'000;
constexpr int small_tree = 4, large_tree = 15, large_symmetric_tree = 16;

int whole_number(const char* name, double value) {
  if (value != std::trunc(value)) option_error("bad_option", "trees: {} must be a whole number, got {}", name, value);
  return static_cast<int>(value);
}

/// Losses on what was left out, by round and domain, for each number of leaves; and the weight of each domain.
struct LeftOut {
  std::vector<Matrix> loss;
  Vector weight;
};

class TreesChooser {
 public:
  TreesChooser(const TrainView& view, const TreeLabels& labels, const TreesOptions& options, const Context& context)
      : view_(view), labels_(labels), options_(options), context_(context) {}

  TreesChoice choose(const Refits& refits) {
    const int large = options_.shape == TreeShape::symmetric ? large_symmetric_tree : large_tree;
    choice_.tried = options_.leaves.is_auto() ? std::vector{small_tree, large} : std::vector{given_leaves()};
    choice_.leaves = choice_.tried.front();
    if (!options_.rounds.is_auto()) choice_.rounds = whole_number("rounds", *options_.rounds.value);
    if (!options_.rounds.is_auto() && !options_.leaves.is_auto()) return choice_;
    if (by_domain()) leave_out(refits, "domains");
    if (choice_.left_out.empty() && options_.stop != TreesStop::domains) leave_out(refits.by_row(), "rows");
    if (choice_.left_out.empty())
      context_.note(
          "trees: took {} rounds of {} leaves, because nothing can be left out so that the rest can be fitted",
          choice_.rounds, choice_.leaves);
    return choice_;
  }

 private:
  int given_leaves() const {
    const int leaves = whole_number("leaves", *options_.leaves.value);
    const auto levels = static_cast<int>(std::bit_floor(static_cast<unsigned>(leaves)));
    if (options_.shape != TreeShape::symmetric || leaves == levels) return leaves;
    context_.warn("rounded_option", "trees: symmetric trees have 2, 4, 8, ... leaves: {} instead of {}", levels,
                  leaves);
    return levels;
  }

  bool by_domain() const {
    std::vector<char> has(at(view_.domain.count()), 0);
    for (Index i = 0; i < view_.labelled(); ++i) has[at(view_.domain.index[at(i)])] = 1;
    const Index domains = std::ranges::count(has, 1);
    if (options_.stop == TreesStop::domains && domains < 2)
      data_error("needs_two_domains", "trees: stop=domains leaves domains out, and there is one; use stop=rows");
    // Beyond ten domains groups of them are left out.
    const Index left = domains - (domains + domains_to_leave_out - 1) / domains_to_leave_out;
    const Index needed = std::max<Index>(options_.min_domains, options_.splits == SplitRule::agree ? 2 : 1);
    if (options_.stop == TreesStop::domains && left < needed)
      option_error("bad_option",
                   "trees: stop=domains leaves {} of {} domains to train on, where {} needs {}; use stop=rows", left,
                   domains, options_.min_domains >= needed ? "min_domains" : "splits=agree", needed);
    return options_.stop == TreesStop::domains ||
           (options_.stop == TreesStop::automatic && domains >= domains_to_leave_out && left >= needed);
  }

  void leave_out(const Refits& refits, const char* what) {
    const std::vector<InnerFold> folds = refits.rows();
    const std::vector<std::size_t> numbers = affordable(folds.size());
    if (numbers.size() < folds.size())
      context_.note("trees: rounds and leaves are chosen on {} of {} folds, because there are many rows",
                    numbers.size(), folds.size());
    const bool refit = refits.stages && can_afford_refits(refits);
    if (refits.stages && !refit)
      context_.note(
          "trees: rounds and leaves are chosen without refitting the stages before it, which would take long");
    std::vector<LeftOut> found(numbers.size());
    std::mutex fitting_stages;
    const auto fit_fold = [&](Index k) {
      const InnerFold& fold = folds[numbers[at(k)]];
      std::optional<TrainView> again = view_;
      if (refit) {
        const std::lock_guard lock(fitting_stages);
        again = refitted_view("trees", view_, refits, fold, numbers[at(k)], context_);
      }
      if (again && again->x.cols() > 0 && !fold.held.empty()) found[at(k)] = losses_of(*again, fold);
    };
    if (context_.meets_ranks() && std::ssize(numbers) < context_.ranks().size()) {
      for (Index k = 0; k < std::ssize(numbers); ++k) fit_fold(k);  // all ranks on each, so that none waits
    } else {
      share_tasks(std::ssize(numbers), context_, 0, fit_fold,
                  [&](Index k, auto& with) { with(found[at(k)].loss, found[at(k)].weight); });
    }
    std::erase_if(found, [](const LeftOut& fold) { return fold.loss.empty(); });
    if (!found.empty()) take_least(found, what);
  }

  /// Numbers of folds, spread over all of them.
  std::vector<std::size_t> affordable(std::size_t folds) const {
    const auto most = static_cast<std::size_t>(affordable_fold_rows / static_cast<double>(view_.labelled()));
    const std::size_t count = std::min(folds, std::max<std::size_t>(most, 1));
    std::vector<std::size_t> numbers;
    for (std::size_t k = 0; k < count; ++k) numbers.push_back(k * folds / count);
    return numbers;
  }

  /// Fits the training rows of a fold and follows the loss on its held-out rows; empty if there is nothing to learn
  /// from.
  LeftOut losses_of(const TrainView& again, const InnerFold& fold) const {
    const Index domains = view_.domain.count(), rounds = options_.rounds.is_auto() ? most_rounds : choice_.rounds;
    LeftOut result{{}, Vector::Zero(domains)};
    TreeLabels own = labels_;
    const Vector weight = tree_weights(again, options_.domain_weights);
    own.weight = Vector::Zero(view_.labelled());
    for (const Index i : fold.train) own.weight[i] = weight.size() == 0 ? 1 : weight[i];
    for (const Index i : fold.held) result.weight[view_.domain.index[at(i)]] += labels_.weight_of(i);
    if (!can_start(own) || !(result.weight.sum() > 0)) return {};
    const TreeRows data =
        bin_rows(again.x.head(view_.labelled()), own.weight, view_.categories, options_.max_bins, context_);
    const TreeDomains of_rows{view_.domain.index, domains, {own.weight.data(), at(own.weight.size())}};
    for (const int leaves : choice_.tried) {
      TreeOptions growth = growth_of(options_, again, false);
      growth.leaves = leaves;
      Matrix loss = Matrix::Zero(rounds, domains);
      const auto after = [&](Index round, const std::vector<GrownTree>&, const Matrix& scores) {
        for (const Index i : fold.held)
          loss(round, view_.domain.index[at(i)]) += labels_.weight_of(i) * tree_loss_at(labels_, scores, i);
      };
      boost_trees(data, own, of_rows, rounds, growth, context_, after);
      if (!loss.allFinite()) return {};
      result.loss.push_back(std::move(loss));
    }
    return result;
  }

  /// Mean over rows, or over domains of their means.
  Vector curve_of(const Matrix& loss, const Vector& weight, bool of_domains) const {
    if (!of_domains) return loss.rowwise().sum() / weight.sum();
    Vector mean = Vector::Zero(loss.rows());
    double count = 0;
    for (Index e = 0; e < weight.size(); ++e) {
      if (!(weight[e] > 0)) continue;
      mean += loss.col(e) / weight[e];
      count += 1;
    }
    return mean / count;
  }

  void take_least(const std::vector<LeftOut>& found, const char* what) {
    choice_.left_out = what;
    choice_.folds = std::ssize(found);
    double least = HUGE_VAL;
    for (std::size_t s = 0; s < choice_.tried.size(); ++s) {
      Matrix loss = Matrix::Zero(found.front().loss[s].rows(), view_.domain.count());
      Vector weight = Vector::Zero(view_.domain.count());
      for (const LeftOut& fold : found) {
        loss += fold.loss[s];
        weight += fold.weight;
      }
      choice_.curves.push_back(curve_of(loss, weight, choice_.left_out == "domains"));
      const Index round = options_.rounds.is_auto() ? least_round(choice_.curves.back()) : choice_.rounds;
      if (choice_.curves.back()[round - 1] >= least) continue;
      least = choice_.curves.back()[round - 1];
      choice_.rounds = round;
      choice_.leaves = choice_.tried[s];
    }
  }

  const TrainView& view_;
  const TreeLabels& labels_;
  const TreesOptions& options_;
  const Context& context_;
  TreesChoice choice_;
};

}  // namespace

Index least_round(const Vector& curve) {
  constexpr double rounding = 1e-10;  // of a curve on which nothing happens
  const double least = curve.minCoeff();
  Index round = 0;
  while (curve[round] > least + rounding * std::abs(least)) ++round;
  return round + 1;
}

TreesChoice choose_trees(const TrainView& view, const TreeLabels& labels, const Refits& refits,
                         const TreesOptions& options, const Context& context) {
  return TreesChooser(view, labels, options, context).choose(refits);
}

}  // namespace ecotone
