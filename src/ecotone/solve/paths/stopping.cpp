#include "ecotone/solve/paths/stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/measure/fold_choice.h"
#include "ecotone/solve/paths/side_by_side.h"

namespace ecotone {
namespace {

/// Whether size a is clearly worse than size b.
bool clearly_above(const std::vector<std::vector<double>>& table, Index a, Index b) {
  std::vector<double> difference;
  for (const auto& losses : table) difference.push_back(losses[at(a)] - losses[at(b)]);
  return clearly_worse(difference);
}

void require_groups(const PathOptions& options, const StopOptions& stop, Index groups) {
  if (options.rule == PathRule::tgreedy && groups < 2)
    data_error("needs_two_domains", "tgreedy: T compares domains, so it needs at least two labelled domains, got {}",
               groups);
  if (stop.stop != PathStop::lodo) return;
  if (options.rule == PathRule::tgreedy && groups < 3)
    data_error("needs_three_domains",
               "tgreedy: stop=lodo leaves one domain out and T needs two, so at least three labelled domains are "
               "needed, got {}",
               groups);
  if (groups < 2)
    data_error("needs_two_domains", "greedy: stop=lodo needs at least two labelled domains, got {}", groups);
}

Index taken_by(const Selection& selection, const StopOptions& stop) {
  switch (stop.stop) {
    case PathStop::lodo:
      return std::min(selection.left_out->chosen, selection.path.steps());
    case PathStop::student:
      return selection.student;
    case PathStop::theorem1:
      return selection.above_threshold;
    case PathStop::steps:
      break;
  }
  return selection.path.steps();
}

/// The paths of folds with rows of their own, one per labelled group.
std::vector<PathResult> refitted_paths(const Moments& moments, const PathOptions& options, const RefittedRows& refitted,
                                       const Context& context) {
  std::vector<PathResult> result(labelled_list(moments).size());
  const auto folds = left_out_folds(moments, refitted);
  const GramKind kind = moments.gram_kind();
  for (std::size_t f = 0; f < folds.size(); ++f) {
    if (folds[f].empty()) continue;
    refitted.rows(f, [&](const MomentRows& rows) {
      const Moments own = gather_moments(rows, kind, context);
      const auto columns = kind == GramKind::none ? columns_of_rows(rows, own) : columns_of_grams(own);
      GreedyPath path(own, options, folds[f]);
      run_side_by_side(std::span(&path, 1), options.steps, *columns, context);
      for (const Index d : folds[f]) result[at(d)] = path.result();
    });
  }
  return result;
}

}  // namespace

Theorem1 theorem1(Index features, Index groups, double delta) {
  const double log = std::log(2 * static_cast<double>(features) / delta);
  const auto n = static_cast<double>(groups);
  const double l = 2 * log;
  Theorem1 result;
  result.threshold = std::sqrt(4 * log);
  result.valid = log <= n / 8;
  result.exact = l >= n ? std::numeric_limits<double>::infinity() : std::sqrt(l * (n - 1) / (n - l));
  result.n_paper = static_cast<Index>(std::ceil(8 * log));
  result.n_exact = static_cast<Index>(std::floor(l)) + 1;
  result.n_sign = static_cast<Index>(std::ceil(1 + std::log2(static_cast<double>(features) / delta)));
  return result;
}

Index count_above(const PathResult& path, double threshold) {
  const auto end = std::find_if(path.t.begin(), path.t.end(), [&](double t) { return std::abs(t) <= threshold; });
  return static_cast<Index>(end - path.t.begin());
}

Index count_student(const PathResult& path, Index features, double delta) {
  const auto end = std::find_if(path.pvalue.begin(), path.pvalue.end(),
                                [&](double p) { return !(p * static_cast<double>(features) <= delta); });
  return static_cast<Index>(end - path.pvalue.begin());
}

Corollary3 corollary3(std::vector<double> sigma, Index features, Index groups, double delta) {
  Corollary3 result;
  double squares = 0;
  for (const double s : sigma) squares += s * s;
  const auto q = static_cast<double>(sigma.size());
  const double q_log_p = q * std::log(static_cast<double>(features));
  const double part = squares / static_cast<double>(groups);
  const double log = std::log(2 * q / delta) + q_log_p;
  result.paper = part * (8 * q_log_p + std::log(2 / delta));
  result.corrected = part * (8 * q_log_p + 4 * std::log(2 / delta));
  result.tight = part * 4 * log;
  result.valid = log <= static_cast<double>(groups) / 8;
  result.n_needed = static_cast<Index>(std::ceil(8 * log));
  result.sigma = std::move(sigma);
  return result;
}

LeaveOneOut leave_one_out(const std::vector<PathResult>& folds, Index steps, SizeRule rule) {
  LeaveOneOut result;
  result.curve.assign(at(steps) + 1, 0.0);
  const auto known = static_cast<double>(std::ranges::count_if(folds, &PathResult::known));
  for (std::size_t d = 0; d < folds.size(); ++d) {
    if (!folds[d].known()) continue;
    auto& losses = result.table.emplace_back();
    for (Index k = 0; k <= steps; ++k) {
      losses.push_back(folds[d].group_loss_after(static_cast<Index>(d), k));
      result.curve[at(k)] += losses.back() / known;
    }
  }
  result.best = std::min_element(result.curve.begin(), result.curve.end()) - result.curve.begin();
  while (clearly_above(result.table, result.best_one_se, result.best)) ++result.best_one_se;
  const Index wanted = rule == SizeRule::best ? result.best : result.best_one_se;
  result.beats_empty = wanted > 0 && clearly_above(result.table, 0, wanted);
  result.chosen = result.beats_empty ? wanted : 0;
  return result;
}

Selection select_features(const Moments& moments, GramColumns& columns, const PathOptions& options,
                          const StopOptions& stop, const Context& context) {
  const auto groups = static_cast<Index>(labelled_list(moments).size());
  require_groups(options, stop, groups);
  const Index needed = options.rule == PathRule::tgreedy ? 3 : 2;
  const bool with_folds = stop.stop == PathStop::lodo || (stop.folds && groups >= needed);
  Selection result;
  if (with_folds && !stop.refitted.held.empty()) {
    result.folds = refitted_paths(moments, options, stop.refitted, context);
    result.refitted = std::ranges::any_of(result.folds, &PathResult::known);
    if (!result.refitted) {
      note_nothing_refitted(options.rule == PathRule::tgreedy ? "tgreedy" : "greedy", context);
      result.folds.clear();
    }
  }
  // Each path keeps means and residuals of all groups.
  const Index beside = with_folds && result.folds.empty() ? groups : 0;
  const std::size_t arrays = 3 + (options.mode == PathMode::ortho_resid ? 1 : 0);
  require_memory(at(beside + 1) * arrays * at(groups) * at(moments.cols()) * sizeof(double), "select",
                 "the state of the paths", "use fewer columns or domains");
  std::vector<GreedyPath> paths;
  paths.emplace_back(moments, options);
  for (Index d = 0; d < beside; ++d) paths.emplace_back(moments, options, std::span(&d, 1));
  run_side_by_side(std::span(paths), options.steps, columns, context);
  result.path = std::move(paths.front()).take();
  result.theorem1 = theorem1(moments.cols(), groups, stop.delta);
  result.above_threshold = count_above(result.path, result.theorem1.threshold);
  result.above_exact = count_above(result.path, result.theorem1.exact);
  result.student = count_student(result.path, moments.cols(), stop.delta);
  for (std::size_t k = 1; k < paths.size(); ++k) result.folds.push_back(std::move(paths[k]).take());
  if (with_folds) result.left_out = leave_one_out(result.folds, options.steps, stop.size);
  result.taken = taken_by(result, stop);
  return result;
}

}  // namespace ecotone
