#include "ecotone/methods/cross_fit.h"

#include <algorithm>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Labelled rows of each domain.
std::vector<Index> labelled_counts(const TrainView& view) {
  std::vector<Index> counts(view.domain.names.size(), 0);
  for (Index i = 0; i < view.labelled(); ++i) ++counts[at(view.domain.index[at(i)])];
  return counts;
}

/// The fold of each domain; -1 for domains without labelled rows.
std::vector<Index> deal_domains(const std::vector<Index>& counts, Index folds) {
  std::vector<Index> order;
  for (std::size_t d = 0; d < counts.size(); ++d)
    if (counts[d] > 0) order.push_back(static_cast<Index>(d));
  std::vector<Index> fold(counts.size(), -1);
  if (static_cast<Index>(order.size()) <= folds) {
    for (std::size_t k = 0; k < order.size(); ++k) fold[at(order[k])] = static_cast<Index>(k);
    return fold;
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return counts[at(a)] > counts[at(b)]; });
  std::vector<Index> rows(at(folds), 0);
  for (const Index domain : order) {
    const auto smallest = std::min_element(rows.begin(), rows.end());
    *smallest += counts[at(domain)];
    fold[at(domain)] = smallest - rows.begin();
  }
  return fold;
}

/// The fold of each labelled row: the rows of a class, shuffled, go to the folds in turn, and the next class goes on
/// where the last one stopped.
std::vector<Index> deal_rows(const TrainView& view, Index folds, const Context& context) {
  const bool classes = view.y.task == Task::classify;
  std::vector<std::vector<Index>> strata(classes ? view.y.classes.size() : 1);
  for (Index i = 0; i < view.labelled(); ++i) strata[classes ? at(view.y.index[at(i)]) : 0].push_back(i);
  std::vector<Index> fold(at(view.labelled()));
  Index next = 0;
  for (std::size_t c = 0; c < strata.size(); ++c) {
    Random random = context.random("inner-folds", c);
    for (const Index k : random.permutation(static_cast<Index>(strata[c].size()))) {
      fold[at(strata[c][at(k)])] = next++ % folds;
    }
  }
  return fold;
}

}  // namespace

std::vector<InnerFold> inner_folds(const TrainView& view, const Context& context, Index most) {
  if (most < 2) internal_error("{} inner folds hold nothing out", most);
  const Index rows = view.labelled();
  if (rows < 2) return {};
  const std::vector<Index> counts = labelled_counts(view);
  const Index domains = std::ranges::count_if(counts, [](Index count) { return count > 0; });
  const Index folds = std::min(most, domains > 1 ? domains : std::min(rows, most_row_folds));
  std::vector<Index> fold_of;
  if (domains > 1) {
    const std::vector<Index> of_domain = deal_domains(counts, folds);
    for (Index i = 0; i < rows; ++i) fold_of.push_back(of_domain[at(view.domain.index[at(i)])]);
  } else {
    fold_of = deal_rows(view, folds, context);
  }
  std::vector<InnerFold> result(at(folds));
  for (Index i = 0; i < rows; ++i) {
    for (Index f = 0; f < folds; ++f) {
      InnerFold& fold = result[at(f)];
      (f == fold_of[at(i)] ? fold.held : fold.train).push_back(i);
    }
  }
  return result;
}

TrainView view_of_rows(const TrainView& view, std::span<const Index> labelled_rows) {
  std::vector<Index> rows(labelled_rows.begin(), labelled_rows.end());
  for (const Index row : rows) {
    if (row < 0 || row >= view.labelled()) internal_error("row {} of {} labelled rows", row, view.labelled());
  }
  TrainView result;
  result.y = view.y.take(rows);
  drop_unused_classes(result.y);
  if (view.weight.size() > 0) {
    result.weight.resize(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) result.weight[static_cast<Index>(i)] = view.weight[rows[i]];
  }
  const std::size_t labelled = rows.size();
  for (Index row = view.labelled(); row < view.x.rows(); ++row) rows.push_back(row);
  result.x = view.x.take(rows);
  result.domain = view.domain.take(rows);
  result.role.assign(result.domain.names.size(), Role::target);
  for (std::size_t i = 0; i < labelled; ++i) result.role[at(result.domain.index[i])] = Role::source;
  return result;
}

}  // namespace ecotone
