#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/base/random.h"

/// Rows of one group, such as the visits of a patient, stay on one side of every split. A group is a number, one per
/// row; rows with -1 are on their own.
namespace ecotone {

/// Whether two rows are of one group; if none are, groups change nothing.
bool share_groups(std::span<const std::int32_t> group);

/// How many parts the rows fall into that cannot be cut: groups, and rows on their own.
Index group_count(std::span<const std::int32_t> group);

/// The fold of each row, with whole groups in one fold. The largest group comes first, equal ones in random order, and
/// each goes to the fold that has the smallest share of the strata (classes, domains) of its rows, then to the one with
/// the fewest rows. No fold is empty if there are at least as many groups as folds. `stratum`: one per row, from 0.
std::vector<Index> deal_groups(std::span<const std::int32_t> group, std::span<const std::int32_t> stratum, Index folds,
                               Random random);

/// `rows` without those that have a group in common with one of `held`; no groups: all of them.
std::vector<Index> without_groups_of(std::span<const Index> held, std::vector<Index> rows,
                                     std::span<const std::int32_t> group);

/// Rows in groups drawn at random, whole ones, until there are at least `count` of them; ascending. No groups: `count`
/// rows at random. All rows if there are fewer.
std::vector<Index> draw_groups(std::span<const Index> rows, std::span<const std::int32_t> group, Index count,
                               Random& random);

/// Rows with which no group is in two domains: of each group those of the domain that has most of them, the first among
/// equals. `domain`: one per row.
std::vector<Index> in_one_domain_each(std::span<const std::int32_t> group, std::span<const std::int32_t> domain);

}  // namespace ecotone
