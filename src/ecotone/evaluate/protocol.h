#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// How rows are held out.
enum class Protocol {
  leave_one_domain_out,  ///< each domain in turn; nothing of it is seen
  adapt,                 ///< each domain in turn; its rows but not its labels are seen
  domain_split,          ///< repeated: a random part of the domains is held out
  k_fold,                ///< within each domain: the performance to expect without a shift
  named_domains,         ///< the target domains together; nothing of them is seen
};
inline constexpr Limits protocol_names =
    one_of("leave-one-domain-out", "adapt", "domain-split", "k-fold", "named-domains");
std::string_view protocol_name(Protocol protocol);

struct EvaluateOptions {
  Protocol protocol = Protocol::leave_one_domain_out;
  int folds = 5;         ///< k-fold
  int repetitions = 10;  ///< domain-split
  int held_out = 1;      ///< domain-split: domains held out per repetition
  /// Domains to score, by models trained on the others: all together (named_domains), or adapted to each (adapt).
  /// Empty: every domain in turn.
  std::vector<std::string> target = {};
  std::string choice_metric;  ///< of the choice inside every split, for grids; empty: choice_metric of the task
  bool keep_predictions = false;

  static constexpr auto fields() {
    using O = EvaluateOptions;
    return std::tuple{
        field("protocol", &O::protocol,
              "leave-one-domain-out (default), adapt, domain-split, k-fold (within domains) or, with --target, "
              "named-domains",
              protocol_names),
        field("folds", &O::folds, "k-fold: number of folds", shown_as("K", between(2, 1'000'000))),
        field("repetitions", &O::repetitions, "domain-split: number of repetitions", between(1, 1'000'000)),
        field("held_out", &O::held_out, "domain-split: domains held out per repetition", between(1, 1'000'000)),
        field("target", &O::target,
              "Domains to score, by models trained on the others alone; with adapt, on each one's rows without labels "
              "too (default: every domain in turn)"),
        field("choice_metric", &O::choice_metric,
              "Grids: metric of the choice inside the training rows (default: log_loss or rmse)", shown_as("NAME"))};
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

/// The splits of a protocol, made from domains, row numbers and the seed, never from labels. `repetition` counts the
/// draws of domain-split and is 0 otherwise. k-fold deals each domain's rows, shuffled, to the folds in turn, so that
/// folds are nearly equal within each domain and in all; folds without rows are left out. Pairs with a held-out domain
/// are in no part of a split. Targets are for named_domains, which needs them, and adapt. Data errors:
/// `needs_two_domains`, `empty_data`; option errors `bad_option` for folds < 2, repetitions < 1, held_out outside
/// 1 .. domains - 1 and targets missing or not used, `unknown_domain` for targets that are not in the data.
std::vector<Split> make_splits(const Domains& domains, const EvaluateOptions& options, const Context& context);

}  // namespace ecotone
