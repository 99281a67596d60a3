#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/solve/alignment/linear_maps.h"
#include "ecotone/solve/moments/moments.h"

namespace ecotone {

/// Sums over the rows of every domain, all that a pipeline can be finished from without the rows. They add over blocks,
/// files and sites.
struct RowSums {
  Task task = Task::classify;
  std::vector<std::string> classes = {};  ///< sorted; of classification
  Moments moments;                        ///< of the domains, with Gram matrices; y is 0 where labels are classes
  std::vector<Moments> of_class = {};     ///< rows and x1 of each class, by domain; nothing else is kept
  Moments targets = {};  ///< of the rows of target domains, whose y is 0; without groups: there are none
  /// Columns that the rows had before a map was drawn for them (Method::sums); those of the moments where none was.
  Index row_cols = 0;

  Index cols() const { return moments.cols(); }
  /// Labelled rows; of a site that has those of a target alone: 0.
  double rows() const { return moments.rows.sum(); }
  bool has_targets() const { return targets.group_count() > 0; }
  /// Adds the sums of other rows. Classes are matched by name, domains too. Data error `different_sums` where the
  /// columns or the kind of label differ.
  void merge(const RowSums& other);
};

/// The sums of a class: its rows and their sums in the domains that have some.
Moments sums_of_class(std::vector<std::string> features, std::vector<std::string> domains, Vector rows, Matrix x1);

/// One pass over the labelled rows of a view (all rows, where nothing is labelled), and one over those of its targets.
/// Data errors: those of gather_moments.
RowSums gather_sums(const TrainView& view, const Context& context);

/// Moments with numbers as y: the labels themselves, or -1 and +1 for two classes. Data errors `one_class` and
/// `needs_two_classes` name `who`.
Moments signed_moments(std::string_view who, const RowSums& sums);

/// The sums of what linear maps make of rows; see moved_moments.h and summed_groups.h.
RowSums shifted_sums(const RowSums& sums, const std::vector<std::string>& domains,
                     const std::vector<GroupShift>& shifts, const Context& context);
RowSums moved_sums(const RowSums& sums, ConstVectorView centre, ConstVectorView factor, const Context& context);
RowSums taken_sums(const RowSums& sums, std::span<const Index> columns, const std::vector<std::string>& names);
RowSums projected_sums(const RowSums& sums, const Matrix& b, const std::vector<std::string>& names,
                       const Context& context);

}  // namespace ecotone
