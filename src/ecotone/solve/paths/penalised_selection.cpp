#include "ecotone/solve/paths/penalised_selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/progress.h"
#include "ecotone/solve/paths/side_by_side.h"

namespace ecotone {
namespace {

constexpr std::size_t most_together = std::size_t{1} << 27;  // values in the bases of paths that grow together

/// The fold paths of one penalty, one per fold.
using FoldPaths = std::vector<PathResult>;

class Search {
 public:
  Search(const Moments& moments, GramColumns& columns, const MomentRows* rows, const PenalisedOptions& options,
         const Context& context)
      : moments_(moments), columns_(columns), rows_(rows), options_(options), context_(context) {
    labelled_ = labelled_list(moments);
    most_ = std::min(options.size.value_or(options.steps), moments.cols());
    sizes_ = options.size ? std::vector<Index>{most_} : step_sizes(most_);
    for (const double mix : options.mix)
      for (const double lam : options.lam ? std::vector<double>{*options.lam} : step_penalties())
        penalties_.push_back({lam, mix});
  }

  PenalisedSelection run() {
    const bool choose = penalties_.size() > 1 || sizes_.size() > 1;
    if (choose && groups() < 2)
      data_error("needs_two_domains",
                 "{}: the penalty and the size are chosen by leaving one domain out, which needs at least two labelled "
                 "domains, got {}; or set lam, size and penalty=ridge",
                 options_.who, groups());
    require_room();
    PenalisedSelection result;
    result.penalty = penalties_.front();
    Index size = most_;
    if (groups() >= 2 && (choose || options_.folds)) {
      folds_ = group_folds(moments_);
      for (const auto& held : folds_)
        scaled_.push_back(std::make_shared<const ScaledMeans>(moments_, options_.shares, held));
      std::vector<FoldPaths> paths = all_fold_paths();
      std::size_t chosen = 0;
      if (choose) {
        const LeftOutCriterion criterion =
            criterion_of(options_.who, options_.judge.score, has_classes(), rows_ != nullptr);
        result.table = choose_left_out(candidates(), values(paths), criterion, options_.judge.rule,
                                       static_cast<Index>(folds_.size()));
        const LeftOutTable& table = *result.table;
        chosen = penalty_of(table.best);
        result.penalty = penalties_[chosen];
        result.kept_empty = !options_.size && !table.beats_empty;
        size = result.kept_empty ? 0 : table.candidates[at(table.best)].size;
      }
      result.folds = by_group(paths[chosen]);
    }
    result.path = final_path(result.penalty, std::max<Index>(size, 1));
    if (size == 0) {
      if (result.path.steps() > 0) result.first = result.path.indices.front();
      result.path = result.path.head(0);
    }
    if (options_.size && result.path.steps() < *options_.size) result.path.stopped_early = true;
    return result;
  }

 private:
  const Moments& moments_;
  GramColumns& columns_;
  const MomentRows* rows_;
  const PenalisedOptions& options_;
  const Context& context_;
  std::vector<Index> labelled_;
  std::vector<Penalty> penalties_;
  std::vector<Index> sizes_;
  Index most_ = 0;
  std::vector<std::vector<Index>> folds_;
  std::vector<std::shared_ptr<const ScaledMeans>> scaled_;
  std::vector<std::vector<Index>> rows_of_;  ///< rows of each group, if rows are ranked

  Index groups() const { return static_cast<Index>(labelled_.size()); }

  /// y is -1 or +1 if the moments name classes, or according to the rows.
  bool has_classes() const {
    return !moments_.classes.empty() || (rows_ != nullptr && (rows_->y.array().abs() == 1).all());
  }

  /// Number of penalties whose paths grow together: their bases stay below a fixed size. Depends only on the data, so
  /// that columns are always fetched together in the same way.
  Index at_once() const {
    const double basis =
        static_cast<double>(folds_.size()) * static_cast<double>(most_) * static_cast<double>(moments_.cols());
    const auto count = static_cast<Index>(std::floor(static_cast<double>(most_together) / std::max(basis, 1.0)));
    return std::clamp<Index>(count, 1, static_cast<Index>(penalties_.size()));
  }

  void require_room() const {
    const auto cols = at(moments_.cols());
    const std::size_t folds = std::min(labelled_.size(), at(most_group_folds));
    const std::size_t means = (folds + 1) * 2 * labelled_.size() * cols;
    const std::size_t basis = folds * at(most_) * cols;
    const std::size_t bases = std::max(basis, std::min<std::size_t>(most_together, penalties_.size() * basis));
    require_memory((means + bases) * sizeof(double), options_.who, "the state of the paths",
                   "use fewer steps, columns or domains");
  }

  std::vector<FoldPaths> all_fold_paths() {
    std::vector<FoldPaths> result;
    Progress progress(context_.observer(), "penalties", static_cast<Index>(penalties_.size()));
    for (std::size_t first = 0; first < penalties_.size(); first += at(at_once())) {
      const std::size_t last = std::min(penalties_.size(), first + at(at_once()));
      std::vector<PenalisedPath> paths;
      for (std::size_t k = first; k < last; ++k)
        for (std::size_t f = 0; f < folds_.size(); ++f)
          paths.emplace_back(scaled_[f], penalties_[k], folds_[f], options_.zero);
      run_side_by_side(std::span(paths), most_, columns_, context_);
      for (std::size_t k = 0; k < paths.size(); ++k) {
        if (k % folds_.size() == 0) result.emplace_back();
        result.back().push_back(std::move(paths[k]).take());
      }
      for (std::size_t k = first; k < last; ++k) progress.advance();
    }
    return result;
  }

  /// All sizes of the first penalty, then of the next; the empty model first, once.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> list{{}};
    for (const Penalty& penalty : penalties_)
      for (const Index size : sizes_)
        if (size > 0) list.push_back({penalty.lam, penalty.mix, size});
    return list;
  }

  std::size_t penalty_of(Index candidate) const {
    if (candidate == 0) return 0;
    const auto positive =
        at(static_cast<Index>(std::count_if(sizes_.begin(), sizes_.end(), [](Index s) { return s > 0; })));
    return at(candidate - 1) / positive;
  }

  LeftOutValues values(const std::vector<FoldPaths>& paths) {
    const std::vector<Candidate> list = candidates();
    const auto count = static_cast<Index>(list.size());
    LeftOutValues result(groups(), count);
    const bool rank = rows_ != nullptr && (rows_->y.array().abs() == 1).all();
    if (rank) rows_of_ = rows_by_group(*rows_);
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      for (const Index d : folds_[f]) {
        if (rank) rank_group(paths, f, d, list, result);
        for (Index c = 0; c < count; ++c)
          result.loss(d, c) = paths[penalty_of(c)][f].group_loss_after(d, list[at(c)].size);
      }
    }
    return result;
  }

  /// AUROC and log loss of all candidates on group d, from the columns that any of them uses.
  void rank_group(const std::vector<FoldPaths>& paths, std::size_t fold, Index d, const std::vector<Candidate>& list,
                  LeftOutValues& result) const {
    std::set<Index> used;
    for (const FoldPaths& each : paths) used.insert(each[fold].support.begin(), each[fold].support.end());
    if (used.empty()) used.insert(0);
    const std::vector<Index> columns(used.begin(), used.end());
    std::vector<Index> place(at(moments_.cols()), -1);
    for (std::size_t k = 0; k < columns.size(); ++k) place[at(columns[k])] = static_cast<Index>(k);
    Matrix weights = Matrix::Zero(static_cast<Index>(columns.size()), static_cast<Index>(list.size()));
    Vector offset(weights.cols());
    for (Index c = 0; c < weights.cols(); ++c) {
      const PathResult& path = paths[penalty_of(c)][fold];
      const Index size = std::min(list[at(c)].size, path.steps());
      const Vector w = path.weights_after(size);
      for (Index k = 0; k < w.size(); ++k) weights(place[at(path.support[at(k)])], c) = w[k];
      offset[c] = path.offset_after(size);
    }
    judge_group(*rows_, rows_of_[at(labelled_[at(d)])], columns, weights, offset, d, result, context_);
  }

  std::vector<PathResult> by_group(const FoldPaths& paths) const {
    std::vector<PathResult> result(labelled_.size());
    for (std::size_t f = 0; f < folds_.size(); ++f)
      for (const Index d : folds_[f]) result[at(d)] = paths[f];
    return result;
  }

  PathResult final_path(const Penalty& penalty, Index size) {
    std::vector<Index> all(labelled_.size());
    std::iota(all.begin(), all.end(), Index{0});
    const auto scaled = std::make_shared<const ScaledMeans>(moments_, options_.shares, std::span<const Index>{});
    std::vector<PenalisedPath> path;
    path.emplace_back(scaled, penalty, all, options_.zero);
    run_side_by_side(std::span(path), size, columns_, context_);
    return std::move(path.front()).take();
  }
};

}  // namespace

std::vector<double> step_penalties() { return {0, 0.03, 0.1, 0.3, 1, 3, 10}; }

std::vector<Index> step_sizes(Index most) {
  std::vector<Index> sizes;
  for (const Index size : {0, 1, 2, 3, 5, 7, 10, 15, 20, 25, 35, 50, 70, 100})
    if (size < most) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

PenalisedSelection select_penalised(const Moments& moments, GramColumns& columns, const MomentRows* rows,
                                    const PenalisedOptions& options, const Context& context) {
  return Search(moments, columns, rows, options, context).run();
}

}  // namespace ecotone
