#include "ecotone/evaluate/tune/tune_folds.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/data/groups.h"
#include "ecotone/methods/cross_fit.h"

namespace ecotone {

namespace {

std::int32_t domain_of(const Dataset& data, Index row) { return data.domain.index[static_cast<std::size_t>(row)]; }

/// Whether rows have labels of at least two classes; always true of numbers.
bool can_teach(const Labels& y, const std::vector<Index>& rows) {
  if (y.task == Task::regress) return !rows.empty();
  const auto cls = [&](Index row) { return y.index[static_cast<std::size_t>(row)]; };
  return std::ranges::any_of(rows, [&](Index row) { return cls(row) != cls(rows.front()); });
}

/// Pairs with a held-out partner are in no part of a fold, and rows with a group that has held-out rows are not trained
/// on. Folds that this leaves without rows to train on are left out; none if groups leave a fold with one class.
std::vector<Split> folds_of_domains(const Dataset& data, const TuneRows& rows, const std::vector<bool>& has_labels,
                                    const Context& context) {
  std::vector<Split> folds;
  for (std::size_t d = 0; d < has_labels.size(); ++d) {
    if (!has_labels[d]) continue;
    Split& fold = folds.emplace_back();
    fold.name = data.domain.names[d];
    fold.target = rows.target;
    for (const Index row : rows.labelled) {
      if (domain_of(data, row) == static_cast<std::int32_t>(d)) {
        fold.held_out.push_back(row);
      } else if (data.domain.partner_of(row) != static_cast<std::int32_t>(d)) {
        fold.source.push_back(row);
      }
    }
    const bool could_teach = can_teach(*data.y, fold.source);
    fold.source = without_groups_of(fold.held_out, std::move(fold.source), data.group);
    if (could_teach && !fold.source.empty() && !can_teach(*data.y, fold.source)) return {};
  }
  const auto empty = std::erase_if(folds, [](const Split& fold) { return fold.source.empty(); });
  if (empty > 0 && !folds.empty())
    context.warn("fold_without_rows", "tune: {} of {} domains are not held out, because every group has rows in them",
                 empty, empty + folds.size());
  return folds;
}

/// Labelled row i of the view that `inner` was made of is the i-th of `rows.labelled`.
std::vector<Split> as_splits(const std::vector<InnerFold>& inner, const TuneRows& rows) {
  std::vector<Split> folds;
  for (std::size_t f = 0; f < inner.size(); ++f) {
    Split& fold = folds.emplace_back();
    fold.name = fmt::format("fold {}", f + 1);
    fold.target = rows.target;
    for (const Index i : inner[f].train) fold.source.push_back(rows.labelled[static_cast<std::size_t>(i)]);
    for (const Index i : inner[f].held) fold.held_out.push_back(rows.labelled[static_cast<std::size_t>(i)]);
  }
  return folds;
}

std::vector<Split> folds_of_rows(const Dataset& data, const TuneRows& rows, const Context& context) {
  return as_splits(inner_folds(train_view(data, rows.labelled, rows.target, context), context), rows);
}

/// Folds of whole groups, whatever their domains.
std::vector<Split> folds_of_groups(const Dataset& data, const TuneRows& rows, const Context& context) {
  const TrainView view = train_view(data, rows.labelled, rows.target, context);
  std::vector<Split> folds = as_splits(row_folds(view, most_row_folds, context), rows);
  std::erase_if(folds, [&](const Split& fold) { return !can_teach(*data.y, fold.source); });
  if (folds.empty())
    data_error(
        "no_folds",
        "tune: groups have rows in several domains and are never cut, and neither without the groups of a domain "
        "nor without a part of the groups are rows of two classes left to train on");
  context.note(
      "tune: groups have rows in several domains, so that too little is left to train on without those of a held-out "
      "one; {} folds of whole groups are held out instead of domains",
      folds.size());
  return folds;
}

/// The held-out rows serve as the target, as in the scorer `transfer`.
std::vector<Split> pseudo_targets(std::vector<Split> folds) {
  for (Split& fold : folds) fold.target = fold.held_out;
  return folds;
}

}  // namespace

TuneRows rows_by_role(const Dataset& data) {
  if (data.rows() == 0) data_error("empty_data", "tune: the data have no rows");
  if (!data.y) data_error("no_labels", "tune: the data have no label column; name it with --label");
  TuneRows rows;
  for (Index row = 0; row < data.rows(); ++row) {
    const Role role = data.role[static_cast<std::size_t>(domain_of(data, row))];
    const std::int32_t partner = data.domain.partner_of(row);
    if (role == Role::target) rows.target.push_back(row);
    if (role != Role::source || data.y->missing(row)) continue;
    if (partner < 0 || data.role[static_cast<std::size_t>(partner)] == Role::source) rows.labelled.push_back(row);
  }
  return rows;
}

TuneRows rows_of_split(const Dataset& data, const Split& split) {
  TuneRows rows{{}, split.target};
  for (const Index row : split.source)
    if (!data.y->missing(row)) rows.labelled.push_back(row);
  return rows;
}

TuneFolds tune_folds(const Dataset& data, const TuneRows& rows, bool adapting, const Context& context) {
  if (rows.labelled.empty()) data_error("no_labels", "tune: no row of a source domain has a label");
  std::vector<bool> has_labels(data.domain.names.size(), false);
  for (const Index row : rows.labelled) has_labels[static_cast<std::size_t>(domain_of(data, row))] = true;
  if (std::count(has_labels.begin(), has_labels.end(), true) > 1) {
    const std::vector<Split> folds = folds_of_domains(data, rows, has_labels, context);
    if (!folds.empty()) return {folds, pseudo_targets(folds), true};
    const std::vector<Split> of_groups = folds_of_groups(data, rows, context);
    return {of_groups, rows.target.empty() ? pseudo_targets(of_groups) : of_groups, false};
  }
  const std::vector<Split> folds = folds_of_rows(data, rows, context);
  if (folds.empty()) data_error("no_folds", "tune: one labelled row or group cannot be split into folds");
  context.warn("folds_of_rows",
               "tune: there is one source domain, so {} folds of its rows are held out; the best pipeline on them need "
               "not be the best in a new domain{}",
               folds.size(), adapting ? ", and the shift to the target is not measured" : "");
  return {folds, folds, false};
}

}  // namespace ecotone
