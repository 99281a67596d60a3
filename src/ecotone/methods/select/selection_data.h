#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/methods/fit_cache.h"
#include "ecotone/solve/moments/gram_columns.h"
#include "ecotone/solve/moments/moments.h"

/// Shared by the selectors: a training view as rows with numeric labels and domains as groups, and the choice between
/// full Gram matrices and columns computed on demand.
namespace ecotone {

/// Labels as numbers: -1 and +1 for two classes, the values themselves in regression. Data errors `one_class` (also
/// when all numbers are equal), `needs_two_classes` (the registry gives selectors and ridge no more), `non_finite`.
Vector numeric_labels(std::string_view who, const TrainView& view);

/// A view as rows of groups; refers to the view, which must outlive it.
class SelectionData {
 public:
  SelectionData(std::string_view who, const TrainView& view);

  MomentRows rows() const { return {view_.x, view_.domain.index, view_.domain.names, y_, view_.weight, view_.origin}; }
  const std::vector<std::string>& classes() const { return view_.y.classes; }
  /// Moments of the rows, with the names of the classes.
  Moments moments(GramKind kind, const Context& context) const;

 private:
  const TrainView& view_;
  Vector y_;
};

/// Where columns of X'X come from.
enum class PathRoute { automatic, lazy, gram };
std::string_view route_name(PathRoute route);

/// The cheaper route for about `distinct` distinct columns: full Gram matrices cost N p^2, a column 2 N p at a lower
/// speed. Full Gram matrices only if they take less than half of the memory; the same for all ranks.
PathRoute cheaper_route(const Features& x, Index groups, Index distinct, GramKind kind, const Context& context);

/// Moments, and the columns over them; the data must outlive it.
struct MomentColumns {
  Moments moments;
  std::unique_ptr<GramColumns> columns;
  PathRoute route = PathRoute::lazy;
};
/// From a view by the given route, which is not `automatic`.
std::unique_ptr<MomentColumns> moment_columns(const SelectionData& data, PathRoute route, GramKind kind,
                                              const Context& context);
/// The same for one of the binary problems of a fit, if there is a cache of them: X'X of the first problem serves the
/// others, too.
std::shared_ptr<MomentColumns> moment_columns(const SelectionData& data, PathRoute route, GramKind kind,
                                              FitCache* cache, const Context& context);
/// From moments alone; groups without weight are left out with a warning (`domain_without_weight`). Data error
/// `no_gram` if there are no Gram matrices.
std::unique_ptr<MomentColumns> moment_columns(std::string_view who, Moments moments, const Context& context);

}  // namespace ecotone
