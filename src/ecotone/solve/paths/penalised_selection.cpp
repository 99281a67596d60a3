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

/// The paths of a fold, one per penalty.
using FoldPaths = std::vector<PathResult>;

/// What paths grow from, and the rows that they rank; null: none.
struct PathData {
  const Moments& moments;
  GramColumns& columns;
  const MomentRows* rows;
};

bool are_classes(const MomentRows* rows) { return rows != nullptr && (rows->y.array().abs() == 1).all(); }

class Search {
 public:
  Search(const PathData& data, const PenalisedOptions& options, const Context& context)
      : data_(data), options_(options), context_(context) {
    labelled_ = labelled_list(data.moments);
    most_ = std::min(options.size.value_or(options.steps), data.moments.cols());
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
      LeftOutValues values(groups(), static_cast<Index>(candidates().size()));
      const std::vector<FoldPaths> paths = fold_paths(values);
      std::size_t chosen = 0;
      if (choose) {
        const LeftOutCriterion criterion =
            criterion_of(options_.who, options_.judge.score, has_classes(), data_.rows != nullptr);
        result.table =
            choose_left_out(candidates(), values, criterion, options_.judge.rule, static_cast<Index>(folds_.size()));
        const LeftOutTable& table = *result.table;
        chosen = penalty_of(table.best);
        result.penalty = penalties_[chosen];
        result.kept_empty = !options_.size && !table.beats_empty;
        size = result.kept_empty ? 0 : table.candidates[at(table.best)].size;
      }
      result.folds = by_group(paths, chosen);
      result.refitted = refitted_;
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
  PathData data_;
  const PenalisedOptions& options_;
  const Context& context_;
  std::vector<Index> labelled_;
  std::vector<Penalty> penalties_;
  std::vector<Index> sizes_;
  Index most_ = 0;
  std::vector<std::vector<Index>> folds_;  ///< the labelled groups that each leaves out, by their positions
  bool refitted_ = false;                  ///< whether the folds had rows of their own

  Index groups() const { return static_cast<Index>(labelled_.size()); }

  /// y is -1 or +1 if the moments name classes, or according to the rows.
  bool has_classes() const { return !data_.moments.classes.empty() || are_classes(data_.rows); }

  /// Number of penalties whose paths in this many folds grow together: their bases stay below a fixed size. Depends
  /// only on the data, so that columns are always fetched together in the same way.
  std::size_t at_once(std::size_t folds) const {
    const double basis =
        static_cast<double>(folds) * static_cast<double>(most_) * static_cast<double>(data_.moments.cols());
    const auto count = static_cast<Index>(std::floor(static_cast<double>(most_together) / std::max(basis, 1.0)));
    return at(std::clamp<Index>(count, 1, static_cast<Index>(penalties_.size())));
  }

  void require_room() const {
    const auto cols = at(data_.moments.cols());
    const std::size_t folds = std::min(labelled_.size(), at(most_group_folds));
    const std::size_t means = (folds + 1) * 2 * labelled_.size() * cols;
    const std::size_t basis = folds * at(most_) * cols;
    const std::size_t bases = std::max(basis, std::min<std::size_t>(most_together, penalties_.size() * basis));
    require_memory((means + bases) * sizeof(double), options_.who, "the state of the paths",
                   "use fewer steps, columns or domains");
  }

  /// The paths of all folds, and what they are worth on the groups left out. A fold that cannot be fitted has none.
  std::vector<FoldPaths> fold_paths(LeftOutValues& values) {
    folds_ = left_out_folds(data_.moments, options_.refitted);
    if (!options_.refitted.held.empty()) {
      std::vector<FoldPaths> paths = refitted_paths(values);
      refitted_ = std::ranges::any_of(paths, [](const FoldPaths& fold) { return !fold.empty(); });
      if (refitted_) return paths;
      note_nothing_refitted(options_.who, context_);
      folds_ = group_folds(data_.moments);
    }
    std::vector<std::size_t> all(folds_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<FoldPaths> paths = grown(data_, all);
    for (const std::size_t f : all) judge(data_, f, paths[f], values);
    return paths;
  }

  std::vector<FoldPaths> refitted_paths(LeftOutValues& values) {
    std::vector<FoldPaths> result(folds_.size());
    const GramKind kind = data_.moments.gram_kind();
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      if (folds_[f].empty()) continue;
      options_.refitted.rows(f, [&](const MomentRows& rows) {
        const Moments moments = gather_moments(rows, kind, context_);
        const auto columns = kind == GramKind::none ? columns_of_rows(rows, moments) : columns_of_grams(moments);
        const PathData data{moments, *columns, &rows};
        result[f] = std::move(grown(data, {f}).front());
        judge(data, f, result[f], values);
      });
    }
    return result;
  }

  /// The paths of these folds over the same columns.
  std::vector<FoldPaths> grown(const PathData& data, const std::vector<std::size_t>& folds) const {
    std::vector<std::shared_ptr<const ScaledMeans>> scaled;
    for (const std::size_t f : folds)
      scaled.push_back(std::make_shared<const ScaledMeans>(data.moments, options_.shares, folds_[f]));
    std::vector<FoldPaths> result(folds.size());
    Progress progress(context_.observer(), "penalties", static_cast<Index>(penalties_.size()));
    const std::size_t together = at_once(folds.size());
    for (std::size_t first = 0; first < penalties_.size(); first += together) {
      const std::size_t last = std::min(penalties_.size(), first + together);
      std::vector<PenalisedPath> paths;
      for (std::size_t k = first; k < last; ++k)
        for (std::size_t i = 0; i < folds.size(); ++i)
          paths.emplace_back(scaled[i], penalties_[k], folds_[folds[i]], options_.zero);
      run_side_by_side(std::span(paths), most_, data.columns, context_);
      for (std::size_t k = 0; k < paths.size(); ++k) result[k % folds.size()].push_back(std::move(paths[k]).take());
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

  /// The candidates on the groups that a fold leaves out.
  void judge(const PathData& data, std::size_t fold, const FoldPaths& paths, LeftOutValues& values) const {
    const std::vector<Candidate> list = candidates();
    const bool rank = are_classes(data.rows);
    const auto rows_of = rank ? rows_by_group(*data.rows) : std::vector<std::vector<Index>>{};
    for (const Index d : folds_[fold]) {
      if (rank) rank_group(data, rows_of[at(labelled_[at(d)])], d, paths, list, values);
      for (std::size_t c = 0; c < list.size(); ++c) {
        const auto candidate = static_cast<Index>(c);
        values.loss(d, candidate) = paths[penalty_of(candidate)].group_loss_after(d, list[c].size);
      }
    }
  }

  /// AUROC and log loss of all candidates on group d, from the columns that any of them uses.
  void rank_group(const PathData& data, const std::vector<Index>& held, Index d, const FoldPaths& paths,
                  const std::vector<Candidate>& list, LeftOutValues& values) const {
    std::set<Index> used;
    for (const PathResult& path : paths) used.insert(path.support.begin(), path.support.end());
    if (used.empty()) used.insert(0);
    const std::vector<Index> columns(used.begin(), used.end());
    std::vector<Index> place(at(data.moments.cols()), -1);
    for (std::size_t k = 0; k < columns.size(); ++k) place[at(columns[k])] = static_cast<Index>(k);
    Matrix weights = Matrix::Zero(static_cast<Index>(columns.size()), static_cast<Index>(list.size()));
    Vector offset(weights.cols());
    for (Index c = 0; c < weights.cols(); ++c) {
      const PathResult& path = paths[penalty_of(c)];
      const Index size = std::min(list[at(c)].size, path.steps());
      const Vector w = path.weights_after(size);
      for (Index k = 0; k < w.size(); ++k) weights(place[at(path.support[at(k)])], c) = w[k];
      offset[c] = path.offset_after(size);
    }
    judge_group(*data.rows, held, columns, weights, offset, d, values, context_);
  }

  std::vector<PathResult> by_group(const std::vector<FoldPaths>& paths, std::size_t penalty) const {
    std::vector<PathResult> result(labelled_.size());
    for (std::size_t f = 0; f < folds_.size(); ++f)
      if (!paths[f].empty())
        for (const Index d : folds_[f]) result[at(d)] = paths[f][penalty];
    return result;
  }

  PathResult final_path(const Penalty& penalty, Index size) {
    std::vector<Index> all(labelled_.size());
    std::iota(all.begin(), all.end(), Index{0});
    const auto scaled = std::make_shared<const ScaledMeans>(data_.moments, options_.shares, std::span<const Index>{});
    std::vector<PenalisedPath> path;
    path.emplace_back(scaled, penalty, all, options_.zero);
    run_side_by_side(std::span(path), size, data_.columns, context_);
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
  return Search({moments, columns, rows}, options, context).run();
}

}  // namespace ecotone
