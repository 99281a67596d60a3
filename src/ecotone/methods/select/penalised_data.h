#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ecotone/methods/select/selection_data.h"
#include "ecotone/solve/paths/left_out.h"
#include "ecotone/solve/paths/means.h"

/// What step and ridge share: the kinds of penalty, and what is left out in turn.
namespace ecotone {

/// ridge: all features alike. variance: features whose covariance with the label varies over domains more. automatic:
/// whichever does better on domains left out.
enum class PenaltyKind { ridge, variance, automatic };

/// The mixes that a kind tries: 0, 1, or those given for automatic. Data error `needs_five_domains` unless there are as
/// many, or the kind is ridge.
std::vector<double> penalty_mixes(std::string_view who, PenaltyKind kind, Index domains, std::vector<double> automatic);

/// Domains that have labelled rows.
Index labelled_domains(const TrainView& view);

/// The view with that to leave out in turn as its domains: the domains, or, with one of them, random folds of its rows.
struct LeaveOutView {
  TrainView view;
  bool by_rows = false;
  /// Domains as the options say; folds of rows by their rows, so that all of them together are the domain.
  GroupShares shares = GroupShares::equal;
};
LeaveOutView leave_out_view(const TrainView& view, GroupShares shares, const Context& context);

/// Warns (`one_class_domains`) where groups hold one class only, so that AUROC could not judge the candidates on them.
void warn_one_class_groups(std::string_view who, const MomentRows& rows, const std::optional<LeftOutTable>& table,
                           const Context& context);
/// Warns (`pairs_left_out`) where rows are pairs: sums over domains hold pairs with the class left out.
void warn_of_pairs(std::string_view who, const TrainView& view, const Context& context);

}  // namespace ecotone
