#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/methods/pipeline.h"

/// Tunes options within the training domains.
namespace ecotone {

/// Which pipelines of a text with braces are tried: all of a grid, or random draws.
enum class Search { grid, random };
inline constexpr Limits search_names = one_of("grid", "random");
std::string_view search_name(Search search);

struct TuneOptions {
  Search search = Search::grid;
  int draws = 20;              ///< random: of each text
  std::string metric;          ///< empty: metric_of_choice
  Journal* journal = nullptr;  ///< keeps finished fits, and gives them back in the next run; null: none

  static constexpr auto fields() {
    using O = TuneOptions;
    return std::tuple{
        field("search", &O::search, "grid: every combination; random: random draws", search_names),
        field("draws", &O::draws, "random: draws per pipeline", between(1, 10'000)),
        field("metric", &O::metric,
              "Metric to choose by (default: log_loss or rmse; auroc or accuracy for scores without probabilities)",
              shown_as("NAME"))};
  }
};

/// One pipeline that was tried.
struct TunePoint {
  std::string pipeline;
  std::vector<std::optional<double>> folds;  ///< the metric on each fold
  std::optional<double> mean;                ///< over the folds; empty when it failed
  std::optional<double> spread;              ///< standard deviation over the folds (n - 1)
  /// What the choice compares: the mean over the folds of values that are no worse than Tuning::bound.
  std::optional<double> score;
  /// Mean of these values minus those of the best point, paired over folds, and its standard error.
  std::optional<double> difference, difference_se;
  Metrics metrics;                ///< mean of every metric over the folds
  std::string error_code, error;  ///< why it could not be fitted on a fold
};

struct Tuning {
  Search search = Search::grid;
  std::string metric;
  bool by_domain = true;           ///< folds are domains, not rows or groups
  std::vector<std::string> folds;  ///< the domains held out, or "fold 1", ...
  /// The most that each fold counts (loss_bounds in measure/fold_choice.h, with the learner `constant`). Empty for
  /// metrics without such a bound: accuracy, balanced_accuracy, auroc, calibration_error and r2.
  std::vector<std::optional<double>> bound;
  std::vector<TunePoint> points;  ///< in the order given
  std::size_t best = 0;           ///< the best score, then the best mean, then the first
  std::size_t chosen = 0;         ///< the simplest within one standard error of the best
};

/// The pipelines to try, each once: for a grid all points of every text in order, for a random search `draws` of each
/// text (one if it has no braces). Option errors: those of `PipelineSpace`, `grid_too_large` also for all texts
/// together, `no_learner`.
std::vector<Pipeline> search_points(const std::vector<std::string>& texts, const TuneOptions& options,
                                    const Context& context);

/// Scores every point on each source domain, fitted on the other source domains. Target domains are never scored. Their
/// rows enter every fit without labels, except for points that adapt (with a stage of the family weight or adapt):
/// there the held-out domain serves as the target, its rows enter the fit without labels, and those of real targets do
/// not, so that the score is that of the domain adapted to. A note says so. With one source domain the folds are of
/// rows, which a warning reports (`folds_of_rows`), and the target is the real one. A point that cannot be fitted on
/// some fold is left out with the reason; if none is left, the first one's error is thrown.
///
/// A fold counts against a point at most as much as another one can count for it (measure/fold_choice.h), so that one
/// domain with, say, another unit does not decide alone, in favour of whatever says least. A fold on which every point
/// is clearly beyond that bound is reported (`worse_than_constant`).
///
/// Of points with the same score the best is the one with the best mean, without bounds. Chosen is the simplest point
/// within one standard error of the best score: among points that differ from the best only in penalties, all of them
/// at least as large, and are worse on average by at most the standard error of the paired difference, the one with the
/// largest penalties. Other points are compared by their scores alone. A grid's choice at the end of the values of an
/// option is reported (`edge_of_grid`) with values to try next.
///
/// The points of a fold are fitted one after another with one cache: leading stages that neighbours share are fitted
/// once, and points that differ only in l1 and l2 start at each other's weights, largest penalty first. So scores equal
/// those of single fits up to the solver's accuracy. Data errors: `no_labels`, `no_folds`; option error
/// `unknown_metric`.
Tuning tune(const Dataset& data, const std::vector<Pipeline>& points, const TuneOptions& options,
            const Context& context);

/// What `tune` does with a data set that has the rows of this split alone: its source rows with labels, its target rows
/// without. Messages of the fits are dropped.
Tuning tune_in_split(const Dataset& data, const std::vector<Pipeline>& points, const Split& split,
                     const TuneOptions& options, const Context& context);

/// Option error `unknown_metric` unless the name is empty or that of a metric of the task.
void check_choice_metric(const std::string& name, Task task);

}  // namespace ecotone
