#include "ecotone/methods/select/penalised_data.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/groups.h"
#include "ecotone/methods/select/selection_view.h"

namespace ecotone {

std::vector<double> penalty_mixes(std::string_view who, PenaltyKind kind, Index domains,
                                  std::vector<double> automatic) {
  if (kind == PenaltyKind::ridge) return {0.0};
  if (domains < 5)
    data_error("needs_five_domains",
               "{}: penalty={} compares domains and is misleading with few of them: it needs five with labels, got {}; "
               "use penalty=ridge",
               who, kind == PenaltyKind::variance ? "variance" : "auto", domains);
  if (kind == PenaltyKind::variance) return {1.0};
  return automatic;
}

Index labelled_domains(const TrainView& view) {
  const auto end = view.domain.index.begin() + view.labelled();
  return static_cast<Index>(std::set<std::int32_t>(view.domain.index.begin(), end).size());
}

std::vector<Index> rows_for_choice(const TrainView& view) {
  if (view.group.empty()) return {};
  const auto labelled = at(view.labelled());
  std::vector<Index> rows =
      in_one_domain_each(std::span(view.group).first(labelled), std::span(view.domain.index).first(labelled));
  if (rows.size() == labelled) rows.clear();
  return rows;
}

LeaveOutView leave_out_view(const TrainView& view, GroupShares shares, const Context& context) {
  if (labelled_domains(view) != 1 || view.labelled() < 2) return {view, false, shares};
  return leave_out_view(view, shares, row_folds(view, most_row_folds, context));
}

LeaveOutView leave_out_view(const TrainView& view, GroupShares shares, const std::vector<InnerFold>& folds) {
  if (labelled_domains(view) != 1 || view.labelled() < 2) return {view, false, shares};
  LeaveOutView result{view, true, GroupShares::pooled};
  Domains& domain = result.view.domain;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    for (const Index row : folds[f].held) domain.index[at(row)] = static_cast<std::int32_t>(domain.names.size());
    domain.names.push_back(fmt::format("fold {} of the rows", f + 1));
    result.view.role.push_back(Role::source);
  }
  return result;
}

std::optional<Refits> refits_of_rows(const Refits* refits, const TrainView& part, const std::vector<Index>& rows) {
  if (refits == nullptr || labelled_domains(part) < 2) return std::nullopt;
  return refits->of_rows(rows);
}

bool refits_stages(std::string_view who, const TrainView& view, const TrainView& kept, const Refits* refits, bool asked,
                   const Context& context) {
  if (refits == nullptr || refits->folds < 2) return false;
  const auto seen = [&](const std::string& why) {
    if (refits->stages) context.note("{}: the stages before it had seen all rows when it chose, because {}", who, why);
    return false;
  };
  // Rows without weight are not among those kept, but in the folds.
  if (kept.labelled() != view.labelled()) return seen("rows without weight are left out");
  if (!asked && !can_afford_refits(*refits))
    return seen(
        fmt::format("fitting them again in every fold would take long on so many values ({} rows, {} columns, "
                    "{} folds{}); `ecotone evaluate` fits all stages again",
                    view.labelled(), view.x.cols(), refits->folds,
                    refits->problems > 1 ? fmt::format(", {} binary problems", refits->problems) : ""));
  return true;
}

RefittedRows refitted_rows(std::string_view who, const TrainView& view, const TrainView& left_out, const Refits& refits,
                           Centring centring, const Context& context) {
  RefittedRows result;
  const std::vector<std::int32_t>& group = left_out.domain.index;
  std::vector<InnerFold> folds = refits.rows();
  for (const InnerFold& fold : folds) {
    std::set<Index> held;
    for (const Index row : fold.held) held.insert(group[at(row)]);
    result.held.emplace_back(held.begin(), held.end());
  }
  result.rows = [who, &view, &left_out, &group, &refits, centring, &context, folds = std::move(folds)](
                    std::size_t f, const auto& use) {
    const std::optional<TrainView> again = refitted_view(who, view, refits, folds[f], f, context);
    if (!again) return;
    SelectionView near = selection_view(who, *again, centring, context.observed_by(nullptr));
    if (near.view.labelled() != view.labelled()) {
      context.warn("fold_not_refitted", "{}: a fold is left out of the choice because rows without weight are left out",
                   who);
      return;
    }
    near.view.domain.names = left_out.domain.names;
    near.view.domain.index.assign(group.begin(), group.begin() + view.labelled());
    near.view.role = left_out.role;
    const SelectionData data(who, near.view);
    use(data.rows());
  };
  return result;
}

void warn_one_class_groups(std::string_view who, LeftOutScore asked, const MomentRows& rows,
                           const std::optional<LeftOutTable>& table, const Context& context) {
  // Only AUROC needs both classes.
  if (!table || asked != LeftOutScore::auroc || !(rows.y.array().abs() == 1).all()) return;
  // Bit 1: it has -1, bit 2: it has +1.
  std::vector<int> has(rows.group_names.size(), 0);
  for (Index i = 0; i < rows.y.size(); ++i) has[at(rows.group[at(i)])] |= rows.y[i] < 0 ? 1 : 2;
  const auto both = std::count(has.begin(), has.end(), 3);
  const auto all = std::count_if(has.begin(), has.end(), [](int bits) { return bits != 0; });
  if (both == all) return;
  std::string judged = "by the squared loss on all of them, as AUROC is undefined on each";
  if (table->criterion == LeftOutCriterion::auroc)
    judged = both > 1 ? fmt::format("by the AUROC on the other {}", both)
                      : "by the AUROC on one, which is too few to tell them from the empty model";
  context.warn("one_class_domains", "{}: {} of the {} domains have one class only, so models are judged {}", who,
               all - both, all, judged);
}

void warn_of_pairs(std::string_view who, const TrainView& view, const Context& context) {
  const auto& partner = view.domain.partner;
  if (std::none_of(partner.begin(), partner.end(), [](std::int32_t other) { return other >= 0; })) return;
  context.warn("pairs_left_out",
               "{}: with a class left out, training still uses pairs of other classes with it, so the choice is "
               "slightly optimistic",
               who);
}

}  // namespace ecotone
