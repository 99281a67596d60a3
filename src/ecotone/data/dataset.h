#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/data/schema.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Numbers to predict beyond it cannot be learned from: squares and sums of them would leave the range of numbers.
inline constexpr double largest_label = 1e150;

/// One label per row: a class index or a number. A missing label is -1 or NaN.
struct Labels {
  Task task = Task::classify;
  std::vector<std::string> classes;  ///< sorted (numerically when all are numbers); empty for regression
  std::vector<std::int32_t> index;   ///< class of each row; classification
  Vector value;                      ///< value of each row; regression

  Index size() const { return task == Task::classify ? static_cast<Index>(index.size()) : value.size(); }
  bool missing(Index row) const;
  /// Labels of these rows; keeps all classes.
  Labels take(std::span<const Index> rows) const;
};

/// The domain of each row, by index into names (in order of first appearance).
struct Domains {
  std::vector<std::string> names;
  std::vector<std::int32_t> index;
  /// For rows that are pairs of rows of two domains: the other domain, or -1. Holding a domain out also leaves out the
  /// rows that have it as a partner. Empty: no pairs.
  std::vector<std::int32_t> partner = {};

  Index count() const { return static_cast<Index>(names.size()); }
  /// How many rows each domain has.
  std::vector<Index> sizes() const;
  /// Rows of one domain, ascending.
  std::vector<Index> rows_of(Index domain) const;
  /// The partner of a row, or -1.
  std::int32_t partner_of(Index row) const { return partner.empty() ? -1 : partner[at(row)]; }
  /// Domains of these rows; names are those that occur, in order of first appearance. Partners that still occur are
  /// kept.
  Domains take(std::span<const Index> rows) const;
};

/// What a domain is for. source: labelled training data. target: its rows, but not its labels, may be used in fitting.
/// unseen: not used in fitting.
enum class Role { source, target, unseen };
const char* role_name(Role role);
using Roles = std::vector<Role>;  ///< one per domain
inline bool has_target(const Roles& roles) { return std::ranges::find(roles, Role::target) != roles.end(); }

/// The row of the files that each row comes from, counted from 0 over all files in the given order; empty: row i is row
/// i. Rows may be left out or reordered, but messages and saved predictions name rows as the user finds them.
using Origin = std::vector<Index>;
inline Index origin_of(const Origin& origin, Index row) {
  const auto i = static_cast<std::size_t>(row);
  return i < origin.size() ? origin[i] : row;
}
/// The origin of these rows, taken from rows with this `origin`.
Origin take_origin(const Origin& origin, std::span<const Index> rows);

/// The number of the group that each row belongs to, such as the patient of a visit; -1: none. Empty: no groups. Rows
/// of one group are never on both sides of a split.
using Groups = std::vector<std::int32_t>;
/// The groups of these rows.
Groups take_groups(const Groups& groups, std::span<const Index> rows);

/// Features, labels, domains with roles, and optional row weights, groups and times.
struct Dataset {
  Features x;
  std::optional<Labels> y;  ///< absent: no label column
  Domains domain;
  Roles role;
  Vector weight;  ///< empty: all 1
  Schema schema;
  Origin origin = {};
  Groups group = {};
  Vector time = {};                        ///< of each row, in days or the unit of its column; empty: none
  std::vector<std::string> left_out = {};  ///< columns of text that is another in every row: they are not features
  Index dropped = 0;                       ///< rows of the files that the reader's conditions left out

  Index rows() const { return x.rows(); }
  bool has_target() const { return ecotone::has_target(role); }
  /// What the domain of a row is for.
  Role role_of(Index row) const { return role[at(domain.index[at(row)])]; }
  /// The names of the target domains, in order.
  std::vector<std::string> target_names() const;
  /// The columns of the table as they were read, or one for each feature where these are others.
  std::vector<Column> table_columns() const;
};

/// All that fitting may see. Rows of source domains come first and each has a label; rows of target domains follow and
/// have none: target labels do not exist in this type. `y.size()` is therefore the number of labelled rows.
struct TrainView {
  Features x;      ///< n labelled source rows, then the unlabelled target rows
  Labels y;        ///< n labels; its classes are those that occur in them
  Domains domain;  ///< one per row of x
  Roles role;      ///< one per domain: source or target
  Vector weight;   ///< n row weights; empty: all 1
  Origin origin = {};
  Groups group = {};  ///< one per row of x
  /// The features are coordinates in the space of a kernel (`kpca`, `dica`, ...): on them, that kernel is the linear
  /// one.
  bool kernel_coordinates = false;
  /// Columns that hold codes of categories, whole numbers from 0 on, ascending; only before the first stage.
  std::vector<Index> categories = {};

  Index labelled() const { return y.size(); }
  bool has_target() const { return ecotone::has_target(role); }
  /// The labelled rows' features.
  Features labelled_x() const { return x.head(labelled()); }
  /// Weight of labelled row i.
  double weight_of(Index i) const { return weight.size() == 0 ? 1.0 : weight[i]; }
};

/// All that prediction may see; the rows of one domain form the sample of that domain. Without domains the batch is one
/// new domain.
struct Batch {
  Features x;
  std::optional<Domains> domain;
  Origin origin = {};
};

/// The training view of `source` rows (those without a label are left out) and `target` rows, each in ascending order.
/// Classes and domains are only those of the chosen rows, so nothing about the labels of other rows can reach the view.
/// Without a label column y is an empty regression label, and all source rows are kept, first. Data errors: `no_labels`
/// if no source row has a label, and those of require_weight (row_weight.h) if a row weight cannot be used.
TrainView train_view(const Dataset& data, std::span<const Index> source, std::span<const Index> target,
                     const Context& context);
/// The training view by the roles of the data set.
TrainView train_view(const Dataset& data, const Context& context);
/// The given rows as a batch, with their domains.
Batch batch(const Dataset& data, std::span<const Index> rows);

/// At most `most` of the rows, at equal distances.
std::vector<Index> spread_over(const std::vector<Index>& rows, Index most);

/// Keeps only the classes that occur, in their order.
void drop_unused_classes(Labels& labels);
/// Sorts class names: numerically if all are numbers, otherwise as text.
void sort_classes(std::vector<std::string>& classes);

/// Makes the domains named in `targets` targets and all others sources. Data error `unknown_domain`, which lists the
/// names.
void set_targets(Dataset& data, const std::vector<std::string>& targets);

}  // namespace ecotone
