#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "ecotone/base/options.h"
#include "ecotone/methods/refits.h"
#include "ecotone/methods/select/selection_data.h"
#include "ecotone/solve/paths/left_out.h"
#include "ecotone/solve/paths/means.h"

/// Shared by step and ridge: the kinds of penalty. Shared by all selectors and ridge: what is left out in turn.
namespace ecotone {

/// ridge: penalises all features equally. variance: penalises features more if their covariance with the label varies
/// over domains. automatic: whichever does better on held-out domains.
enum class PenaltyKind { ridge, variance, automatic };

/// The mixes that a kind tries: 0, 1, or those given for automatic. Data error `needs_five_domains` if there are fewer
/// and the kind is not ridge.
std::vector<double> penalty_mixes(std::string_view who, PenaltyKind kind, Index domains, std::vector<double> automatic);

/// The options `score` and `rule` of a struct that has them.
template <class Options>
constexpr auto judge_fields() {
  return std::tuple{
      field("score", &Options::score,
            "What left-out domains (or rows) are judged by; auto: log loss of the predicted probability for classes "
            "(from moments, which have no rows: squared error), squared error for numbers",
            one_of("auto", "log_loss", "squared_error", "rmse", "auroc")),
      field("rule", &Options::rule,
            "best: the best score; one_se: the fewest features and then the largest lam whose score is within one "
            "standard error of the best (of their difference, paired over domains)",
            one_of("best", "one_se"))};
}

/// Option error `bad_option` where left-out domains are to be judged by a score that sums over rows cannot give.
template <class Options>
void require_sums_judge(const Options& options) {
  criterion_of("sums", options.score, true, false);
}

/// Domains that have labelled rows.
Index labelled_domains(const TrainView& view);

/// Choices by sums over domains cannot take single rows out of a domain. The labelled rows that they may use: of a
/// group in several domains those of one, so that no group is on both sides when a domain is left out. Empty: all rows.
std::vector<Index> rows_for_choice(const TrainView& view);

/// The view whose domains are to be left out in turn: the given domains or, if there is only one, random folds of its
/// rows.
struct LeaveOutView {
  TrainView view;
  bool by_rows = false;
  /// Domains are weighted as the options say; folds of rows by their number of rows, so that together they equal the
  /// domain.
  GroupShares shares = GroupShares::equal;
};
LeaveOutView leave_out_view(const TrainView& view, GroupShares shares, const Context& context);
/// The same with the folds of refits, if they are of rows.
LeaveOutView leave_out_view(const TrainView& view, GroupShares shares, const std::vector<InnerFold>& folds);

/// Whether choices on left-out domains refit the stages before the method; `kept` are the rows of the view that it
/// uses. A note says why not, if there are stages. `asked`: the choice was asked for, whatever it costs.
bool refits_stages(std::string_view who, const TrainView& view, const TrainView& kept, const Refits* refits, bool asked,
                   const Context& context);
/// The refits of the rows that `part` has of their view; none if there are none, or if they leave domains out and the
/// part has only one.
std::optional<Refits> refits_of_rows(const Refits* refits, const TrainView& part, const std::vector<Index>& rows);
/// The rows of the refits' folds, as selection_view makes them of this view; `left_out` has the same rows in the
/// domains that are left out in turn. All must outlive it. A fold whose stages cannot be refitted is left out with a
/// warning (`fold_not_refitted`).
RefittedRows refitted_rows(std::string_view who, const TrainView& view, const TrainView& left_out, const Refits& refits,
                           Centring centring, const Context& context);

/// Warns (`one_class_domains`) if groups have only one class, where AUROC cannot judge candidates.
void warn_one_class_groups(std::string_view who, LeftOutScore asked, const MomentRows& rows,
                           const std::optional<LeftOutTable>& table, const Context& context);
/// Warns (`pairs_left_out`) if rows are pairs: sums over domains include pairs with the class left out.
void warn_of_pairs(std::string_view who, const TrainView& view, const Context& context);

}  // namespace ecotone
