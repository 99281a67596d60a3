#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

class Journal;

/// How rows are held out.
enum class Protocol {
  leave_one_domain_out,  ///< each domain in turn; nothing of it is seen
  adapt,                 ///< each domain in turn; its rows but not its labels are seen
  domain_split,          ///< repeated: a random part of the domains is held out
  k_fold,                ///< within each domain: the performance to expect without a shift
  named_domains,         ///< the target domains together; nothing of them is seen
  forward,               ///< blocks of time in turn; only what came before is seen
};
inline constexpr Limits protocol_names =
    one_of("leave-one-domain-out", "adapt", "domain-split", "k-fold", "named-domains", "forward");
std::string_view protocol_name(Protocol protocol);

/// How the interval for the next domain is found: by letting every domain play the next one, with models that have
/// not seen it (replay) or that have (cheap). automatic: by replay for up to 20 domains where that is quick.
enum class NextDomainBy { automatic, replay, cheap, none };

struct EvaluateOptions {
  Protocol protocol = Protocol::leave_one_domain_out;
  int folds = 5;         ///< k-fold
  int repetitions = 10;  ///< domain-split
  int held_out = 1;      ///< domain-split: domains held out per repetition
  /// Domains to score, by models trained on the others: all together (named_domains), or adapted to each (adapt).
  /// Empty: every domain in turn.
  std::vector<std::string> target = {};
  int blocks = 5;             ///< forward: blocks that are scored; the rows before the first are only trained on
  double gap = 0;             ///< forward: time before each block that is not trained on
  double window = 0;          ///< forward: time before the gap that is trained on; 0: the whole past
  std::string choice_metric;  ///< of the choice inside every split, for grids; empty: metric_of_choice
  std::string threshold;      ///< rule of the metrics at a threshold (evaluate/threshold.h); empty: without them
  int resamples = 500;        ///< of the intervals within domains; 0: none
  NextDomainBy next_domain = NextDomainBy::automatic;  ///< of the interval for the next domain
  bool keep_predictions = false;
  int importance = 0;   ///< rows of each split among which every column is shuffled, to see what models use; 0: none
  bool curves = false;  ///< of two classes: what every threshold does, and calibration, in each domain
  Journal* journal = nullptr;  ///< keeps finished fits, and gives them back in the next run; null: none

  static constexpr auto fields() {
    using O = EvaluateOptions;
    return std::tuple{
        field("protocol", &O::protocol,
              "leave-one-domain-out (default), adapt, domain-split, k-fold, named-domains or forward (with --time)",
              protocol_names),
        field("folds", &O::folds, "k-fold: number of folds", shown_as("K", between(2, 1'000'000))),
        field("repetitions", &O::repetitions, "domain-split: number of repetitions", between(1, 1'000'000)),
        field("held_out", &O::held_out, "domain-split: domains held out per repetition", between(1, 1'000'000)),
        field("target", &O::target,
              "Score these domains, by models trained on the others (default: every domain in turn)"),
        field("blocks", &O::blocks, "forward: blocks of time to score, each by a model of the rows before it",
              shown_as("K", between(1, 1'000'000))),
        field("gap", &O::gap, "forward: days before each block that are not trained on (or units of --time)",
              shown_as("DAYS", at_least(0.0))),
        field("window", &O::window, "forward: days of the past to train on (or units of --time); 0: all of it",
              shown_as("DAYS", at_least(0.0))),
        field("choice_metric", &O::choice_metric,
              "Grids: metric of the choice inside the training rows (default: that of tune)", shown_as("NAME")),
        field("threshold", &O::threshold,
              "Two classes: sensitivity, .. at youden, f1, sensitivity=S, specificity=S or a number (needs refits)",
              shown_as("RULE")),
        field("resamples", &O::resamples,
              "Bootstrap resamples of the intervals within domains (fewer above 10,000 rows); 0: none",
              between(0, 1'000'000)),
        field("next_domain", &O::next_domain,
              "Interval for the next domain: replay (a fit for every pair of domains), cheap (no more fits, a little "
              "too narrow), none; auto: replay for up to 20 domains of few rows",
              one_of("auto", "replay", "cheap", "none"))};
  }
};

/// One fit: rows to train on, rows whose features alone may be used, rows to score.
struct Split {
  Index repetition = 0;
  std::string name;  ///< for progress and errors: the held-out domain, or "fold 3"
  std::vector<Index> source;
  std::vector<Index> target;
  std::vector<Index> held_out;
};

/// What splits are made of; nothing of labels and features.
struct RowPlaces {
  Domains domain;
  Groups group = {};
  Vector time = {};
  bool dates = false;  ///< times are days since 1970-01-01
};
RowPlaces places_of(const Dataset& data);

/// The splits of a protocol, made from domains, groups, times, row numbers and the seed, never from labels.
/// `repetition` counts the draws of domain-split and is 0 otherwise. k-fold deals each domain's rows, shuffled, to the
/// folds in turn, so that folds are nearly equal within each domain and in all; folds without rows are left out. Pairs
/// with a held-out domain are in no part of a split. Targets are for named_domains, which needs them, and adapt.
///
/// forward sorts the rows by time and cuts them into `blocks` + 1 parts of nearly equal size, never between equal
/// times. Each part but the first is held out once, named by its first and last time; of a part that starts at t, rows
/// of the times [t - gap - window, t - gap) are trained on. Rows without a time are in no part.
///
/// Rows of one group are never on both sides: k-fold deals whole groups, and elsewhere a row with a group that has
/// held-out rows is not trained on, which a note reports.
///
/// Data errors: `needs_two_domains`, `unknown_domain`, `empty_data`, `no_time`, `too_few_times`, `no_training_rows` for
/// a split that has none; option errors `bad_option` for folds < 2, repetitions < 1, held_out outside 1 .. domains - 1,
/// blocks < 1 and targets missing or not used.
std::vector<Split> make_splits(const RowPlaces& rows, const EvaluateOptions& options, const Context& context);

/// The split that holds out these domains together; nothing of them is seen. It may leave no rows to train on.
Split split_without(const RowPlaces& rows, const std::vector<Index>& domains);

}  // namespace ecotone
