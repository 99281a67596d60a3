#include "ecotone/solve/svm/dasvm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/solve/svm/dasvm_machine.h"

namespace ecotone {
namespace {

constexpr std::array<std::string_view, 5> stop_names = {"settled", "no_target_in_margin", "one_class", "max_rounds",
                                                        "not_converged"};

double sign_of(double f) { return f >= 0 ? 1 : -1; }

void check_options(const DasvmProblem& p) {
  if (!(p.cost > 0) || !std::isfinite(p.cost)) option_error("bad_option", "{}: C must be > 0, got {}", p.who, p.cost);
  if (p.rho < 1) option_error("bad_option", "{}: rho must be >= 1, got {}", p.who, p.rho);
  if (p.max_rounds < 0) option_error("bad_option", "{}: max_rounds must be >= 0, got {}", p.who, p.max_rounds);
  if (!(p.tolerance > 0) || !std::isfinite(p.tolerance))
    option_error("bad_option", "{}: tolerance must be > 0, got {}", p.who, p.tolerance);
}

void check_data(const DasvmProblem& p) {
  const auto n = std::ssize(p.y);
  if (n > p.x.rows()) data_error("shape_mismatch", "{}: {} labels for {} rows", p.who, n, p.x.rows());
  if (!p.weight.empty() && std::ssize(p.weight) != n)
    data_error("shape_mismatch", "{}: {} weights for {} source rows", p.who, p.weight.size(), n);
  if (n == 0) data_error("empty_data", "{}: there are no source rows", p.who);
  if (n == p.x.rows()) data_error("no_target", "{}: there are no target rows", p.who);
  bool plus = false, minus = false;
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    if (std::abs(p.y[at(i)]) != 1)
      data_error("bad_label", "{}: labels must be -1 or 1, got {} in row {}", p.who, p.y[at(i)], i + 1);
    const double w = p.weight.empty() ? 1.0 : p.weight[at(i)];
    if (!(w >= 0) || !std::isfinite(w))
      data_error("negative_weight", "{}: the weight of row {} is {}", p.who, i + 1, w);
    if (p.cost * w > 0) (p.y[at(i)] > 0 ? plus : minus) = true;
    sum += w;
  }
  if (!(sum > 0)) data_error("zero_weights", "{}: all source rows have weight 0", p.who);
  if (!plus || !minus)
    data_error("one_class", "{}: all source rows with positive weight have the label {}", p.who, plus ? 1 : -1);
}

/// Labelled rows, unlabelled rows, and their state between rounds.
struct Sides {
  Index source = 0;  ///< first labelled row
  Index sources = 0;
  Index target = 0;  ///< first unlabelled row
  Index targets = 0;
  std::vector<double> y;           ///< of source rows
  std::vector<double> weight;      ///< of source rows
  std::vector<char> kept;          ///< source rows still in use
  std::vector<double> label = {};  ///< of target rows; 0: none
  std::vector<Index> age = {};     ///< rounds since a target row got its label
};

/// The first `most` of these rows by decreasing |f|, the earlier row in case of ties.
template <class Score>
std::vector<Index> surest(std::vector<Index> rows, Index most, const Score& score) {
  const auto count = std::min(std::ssize(rows), most);
  std::partial_sort(rows.begin(), rows.begin() + count, rows.end(), [&](Index a, Index b) {
    const double of_a = std::abs(score(a)), of_b = std::abs(score(b));
    return of_a != of_b ? of_a > of_b : a < b;
  });
  rows.resize(at(count));
  return rows;
}

class Wanderer {
 public:
  Wanderer(const DasvmProblem& problem, DasvmMachine& machine, Sides sides)
      : p_(problem), machine_(machine), s_(std::move(sides)) {
    s_.kept.resize(at(s_.sources));
    for (Index i = 0; i < s_.sources; ++i) s_.kept[at(i)] = p_.cost * s_.weight[at(i)] > 0 ? 1 : 0;
    s_.label.assign(at(s_.targets), 0);
    s_.age.assign(at(s_.targets), 0);
    ripe_ = std::max<Index>(2, (s_.sources + 2 * p_.rho - 1) / (2 * p_.rho));
  }

  void run(DasvmFit& fit) {
    // Row i is at source + i or target + i; costs of 0 leave rows out.
    fit.stop = refit(0, fit) ? rounds(fit) : DasvmStop::not_converged;
    if (fit.stop != DasvmStop::not_converged && !settle(fit)) fit.stop = DasvmStop::not_converged;
    fit.converged = fit.stop != DasvmStop::not_converged;
    fit.labels.clear();
    for (Index i = 0; i < s_.targets; ++i) fit.labels.push_back(sign_of(target_score(i)));
    fit.beta = machine_.beta();
    fit.offset = machine_.offset();
  }

 private:
  /// Steps 2 to 6 until one of them has nothing to do.
  DasvmStop rounds(DasvmFit& fit) {
    const Index most = p_.max_rounds > 0 ? p_.max_rounds : 200 + 2 * ripe_;
    for (Index round = 1; round <= most; ++round) {
      if (round == 1 && !any_in_margin()) {
        fit.history.emplace_back();
        return DasvmStop::no_target_in_margin;
      }
      const DasvmRound done = change();
      fit.history.push_back(done);
      if (done.added == 0 && done.removed == 0 && done.flipped == 0) return DasvmStop::settled;
      if (!two_classes()) return DasvmStop::one_class;
      // Scores of a support vector machine that did not converge would choose rows arbitrarily, and later fits would
      // take as long.
      if (!refit(round, fit)) return DasvmStop::not_converged;
    }
    return DasvmStop::max_rounds;
  }

  double target_score(Index i) const { return machine_.score(s_.target + i); }
  double source_score(Index i) const { return machine_.score(s_.source + i); }

  bool any_in_margin() const {
    for (Index i = 0; i < s_.targets; ++i)
      if (std::abs(target_score(i)) < 1) return true;
    return false;
  }

  /// Steps 2 to 4.
  DasvmRound change() {
    DasvmRound done;
    std::array<std::vector<Index>, 2> candidates;
    for (Index i = 0; i < s_.targets; ++i) {
      const double f = target_score(i);
      double& label = s_.label[at(i)];
      if (label != 0 && sign_of(f) != label) {
        label = 0;
        s_.age[at(i)] = 0;
        ++done.flipped;
      } else if (label == 0 && std::abs(f) < 1) {
        candidates[f >= 0 ? 0 : 1].push_back(i);
      }
    }
    for (const double s : {1.0, -1.0}) {
      for (const Index i :
           surest(std::move(candidates[s > 0 ? 0 : 1]), p_.rho, [&](Index k) { return target_score(k); })) {
        s_.label[at(i)] = s;
        ++done.added;
      }
      std::vector<Index> left;
      for (Index i = 0; i < s_.sources; ++i)
        if (s_.kept[at(i)] != 0 && s_.y[at(i)] == s) left.push_back(i);
      for (const Index i : surest(std::move(left), p_.rho, [&](Index k) { return source_score(k); })) {
        s_.kept[at(i)] = 0;
        ++done.removed;
      }
    }
    for (Index i = 0; i < s_.targets; ++i) s_.age[at(i)] += s_.label[at(i)] != 0 ? 1 : 0;
    return done;
  }

  bool two_classes() const {
    bool plus = false, minus = false;
    for (Index i = 0; i < s_.sources; ++i)
      if (s_.kept[at(i)] != 0) (s_.y[at(i)] > 0 ? plus : minus) = true;
    for (const double label : s_.label)
      if (label != 0) (label > 0 ? plus : minus) = true;
    return plus && minus;
  }

  /// Steps 1, 5 and 6; round 0 fits the source rows. Returns whether it converged.
  bool refit(Index round, DasvmFit& fit) {
    const auto risen = [&](Index age) {
      const double part = std::min(1.0, static_cast<double>(age) / static_cast<double>(ripe_));
      return 0.9 * part * part;
    };
    Vector y = Vector::Ones(p_.x.rows());
    Vector cost = Vector::Zero(p_.x.rows());
    for (Index i = 0; i < s_.sources; ++i) {
      y[s_.source + i] = s_.y[at(i)];
      if (s_.kept[at(i)] != 0) cost[s_.source + i] = p_.cost * s_.weight[at(i)] * (1 - risen(round));
    }
    for (Index i = 0; i < s_.targets; ++i) {
      if (s_.label[at(i)] == 0) continue;
      y[s_.target + i] = s_.label[at(i)];
      cost[s_.target + i] = p_.cost * (0.1 + risen(s_.age[at(i)]));
    }
    return take(machine_.fit(y, cost), fit);
  }

  /// Step 7. Returns whether it converged.
  bool settle(DasvmFit& fit) {
    Vector y = Vector::Ones(p_.x.rows());
    Vector cost = Vector::Zero(p_.x.rows());
    bool plus = false, minus = false;
    for (Index i = 0; i < s_.targets; ++i) {
      y[s_.target + i] = sign_of(target_score(i));
      cost[s_.target + i] = p_.cost;
      (y[s_.target + i] > 0 ? plus : minus) = true;
    }
    fit.on_target = plus && minus;
    return !fit.on_target || take(machine_.fit(y, cost), fit);
  }

  static bool take(const DasvmStep& step, DasvmFit& fit) {
    fit.kkt = step.kkt;
    return step.converged;
  }

  const DasvmProblem& p_;
  DasvmMachine& machine_;
  Sides s_;
  Index ripe_ = 2;  ///< m: rounds after which costs no longer change
};

/// Adapting back: target rows with the labels they received, source rows as if unlabelled.
void judge_way_back(const DasvmProblem& p, DasvmMachine& machine, DasvmFit& fit) {
  const std::vector<double>& labels = fit.labels;
  const Index sources = std::ssize(p.y), targets = std::ssize(labels);
  DasvmFit back;
  if (fit.one_label()) {
    // All of the target has one class: adapting back can only predict that class.
    back.labels.assign(at(sources), labels.front());
  } else {
    Sides sides{
        .source = sources, .sources = targets, .target = 0, .targets = sources, .y = labels, .weight = {}, .kept = {}};
    sides.weight.assign(at(targets), 1);
    Wanderer(p, machine, std::move(sides)).run(back);
    if (!back.converged) return;
  }
  std::array<double, 2> right{}, sum{};
  for (std::size_t i = 0; i < p.y.size(); ++i) {
    const double w = p.weight.empty() ? 1.0 : p.weight[i];
    const std::size_t side = p.y[i] > 0 ? 1 : 0;
    sum[side] += w;
    if (back.labels[i] == p.y[i]) right[side] += w;
  }
  fit.circular_accuracy = (right[0] + right[1]) / (sum[0] + sum[1]);
  fit.circular_balanced = (right[0] / sum[0] + right[1] / sum[1]) / 2;
}

}  // namespace

bool DasvmFit::one_label() const {
  return std::all_of(labels.begin(), labels.end(), [&](double label) { return label == labels.front(); });
}

std::string_view dasvm_stop_name(DasvmStop stop) { return stop_names[static_cast<std::size_t>(stop)]; }

std::span<const std::string_view> dasvm_stop_names() { return stop_names; }

DasvmFit fit_dasvm(const DasvmProblem& problem, const Context& context) {
  check_options(problem);
  check_data(problem);
  DasvmMachine machine(problem.kernel, problem.x, problem.tolerance, problem.who, context);
  const Index sources = std::ssize(problem.y);
  Sides sides{.source = 0,
              .sources = sources,
              .target = sources,
              .targets = problem.x.rows() - sources,
              .y = {problem.y.begin(), problem.y.end()},
              .weight = {problem.weight.begin(), problem.weight.end()},
              .kept = {}};
  if (sides.weight.empty()) sides.weight.assign(at(sources), 1);
  DasvmFit fit;
  Wanderer(problem, machine, std::move(sides)).run(fit);
  if (problem.circular && fit.converged) judge_way_back(problem, machine, fit);
  return fit;
}

}  // namespace ecotone
