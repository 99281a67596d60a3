#include "ecotone/methods/select/selection_data.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

/// What the last binary problem of a fit left for the next one: moments with Gram matrices, and the groups they are of.
struct SharedMoments {
  static constexpr const char* key = "moments of the last problem";
  std::vector<std::int32_t> group = {};
  std::shared_ptr<MomentColumns> moments = {};
};

}  // namespace

Vector numeric_labels(std::string_view who, const TrainView& view) {
  if (view.y.task == Task::regress) {
    const Vector& y = view.y.value;
    require_finite_labels(who, view.y);
    if (y.size() > 0 && y.minCoeff() == y.maxCoeff())
      data_error("one_class", "{}: all labels are {}, so there is nothing to learn", who, y[0]);
    return y;
  }
  const auto& classes = view.y.classes;
  if (classes.size() < 2)
    data_error("one_class", "{}: all labels are '{}', so there is nothing to learn", who,
               classes.empty() ? "" : classes.front());
  if (classes.size() > 2)
    data_error("needs_two_classes",
               "{}: the labels have {} classes ({}), but it handles two classes or regression; keep two with --where, "
               "or use --task regress",
               who, classes.size(), fmt::join(classes, ", "));
  const std::vector<double> y = binary_targets(view.y);
  return Eigen::Map<const Vector>(y.data(), std::ssize(y));
}

SelectionData::SelectionData(std::string_view who, const TrainView& view)
    : view_(view), y_(numeric_labels(who, view)) {}

Moments SelectionData::moments(GramKind kind, const Context& context) const {
  Moments result = gather_moments(rows(), kind, context);
  result.classes = classes();
  return result;
}

std::string_view route_name(PathRoute route) {
  switch (route) {
    case PathRoute::automatic:
      return "auto";
    case PathRoute::lazy:
      return "lazy";
    case PathRoute::gram:
      return "gram";
  }
  internal_error("route {} has no name", static_cast<int>(route));
}

namespace {

bool grams_are_cheaper(const Features& x, Index groups, Index distinct, GramKind kind) {
  if (moments_bytes(groups, x.cols(), kind) > available_memory() / 2) return false;
  // A file would be read again for every column.
  if (!x.storage().resident() && !x.is_sparse()) return true;
  // A column of sparse rows costs only the rows that have it.
  if (x.is_sparse()) return x.cols() <= 256;
  // N p^2 at the speed of matrix products, against 2 N p per column, several per pass, at about a fifth of that speed.
  return x.cols() <= 10 * distinct;
}

}  // namespace

PathRoute cheaper_route(const Features& x, Index groups, Index distinct, GramKind kind, const Context& context) {
  const bool grams = context.agree("route=gram", grams_are_cheaper(x, groups, distinct, kind));
  return grams ? PathRoute::gram : PathRoute::lazy;
}

std::unique_ptr<MomentColumns> moment_columns(const SelectionData& data, PathRoute route, GramKind kind,
                                              const Context& context) {
  auto result = std::make_unique<MomentColumns>();
  result->route = route;
  result->moments = data.moments(route == PathRoute::gram ? kind : GramKind::none, context);
  result->columns =
      route == PathRoute::gram ? columns_of_grams(result->moments) : columns_of_rows(data.rows(), result->moments);
  return result;
}

std::shared_ptr<MomentColumns> moment_columns(const SelectionData& data, PathRoute route, GramKind kind,
                                              FitCache* cache, const Context& context) {
  if (cache == nullptr || !cache->of_problems()) return moment_columns(data, route, kind, context);
  const MomentRows rows = data.rows();
  // Folds of rows follow the labels, so the groups may be others.
  if (const auto last = cache->last<SharedMoments>(SharedMoments::key);
      last && std::equal(last->group.begin(), last->group.end(), rows.group.begin(), rows.group.end())) {
    MomentColumns& shared = *last->moments;
    relabel_moments(shared.moments, rows, context);
    shared.moments.classes = data.classes();
    shared.columns = columns_of_grams(shared.moments);
    return last->moments;
  }
  cache->leave(SharedMoments::key, SharedMoments{});
  std::shared_ptr<MomentColumns> made = moment_columns(data, route, kind, context);
  if (route == PathRoute::gram)
    cache->leave(SharedMoments::key, SharedMoments{{rows.group.begin(), rows.group.end()}, made});
  return made;
}

std::unique_ptr<MomentColumns> moment_columns(std::string_view who, Moments moments, const Context& context) {
  if (moments.gram_kind() == GramKind::none)
    data_error("no_gram", "{}: the moments have no Gram matrices; make them with `ecotone moments --gram double`", who);
  for (const Index g : labelled_list(moments)) {
    if (moments.weight[g] > 0) continue;
    const auto place = static_cast<std::size_t>(g);
    context.warn("domain_without_weight", "{}: all rows of domain '{}' have weight 0 and are left out", who,
                 moments.groups[place]);
    moments.labelled[place] = 0;
  }
  if (labelled_list(moments).empty())
    data_error("no_weight", "{}: no domain with labels has rows of positive weight", who);
  auto result = std::make_unique<MomentColumns>();
  result->route = PathRoute::gram;
  result->moments = std::move(moments);
  result->columns = columns_of_grams(result->moments);
  return result;
}

}  // namespace ecotone
