#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/trees/code_table.h"
#include "ecotone/solve/trees/levels.h"

/// Columns as codes of one byte, made once before trees are grown.
namespace ecotone {

/// The bins of one column. Of numbers: code k has x in (edge[k-1], edge[k]], so x <= edge[k] means that the code is at
/// most k. Of categories: code k is level[k], the most frequent first; other levels count as missing.
struct TreeColumn {
  bool categorical = false;
  std::vector<double> edge;  ///< ascending
  TreeLevels level;          ///< of categories
  Index rare = 0;            ///< further categories, which count as missing

  int bins() const { return static_cast<int>(categorical ? level.size() : edge.size() + 1); }
  std::uint8_t code(double x) const;
};

/// max(1, rint(w / largest w * 2^20)) of each row, 0 for weight 0: cumulative sums of them are exact. Without weights
/// 2^20 for all.
std::vector<std::uint32_t> integer_weights(ConstVectorView weight, Index rows);

/// Of the values that are not missing and have weight: an edge between each pair of distinct ones if there are at most
/// `most`, otherwise an edge wherever another 1 / `most` of the weight is reached. The edge between a and b is their
/// middle, or a where that is not below b. Infinities are values; -0 is 0.
std::vector<double> edges_of(std::span<const double> values, std::span<const std::uint32_t> weight, int most);

/// Distinct values in order, each with its weight.
using ValueMasses = std::vector<std::pair<double, std::uint64_t>>;
/// Of the values that are not missing and have weight.
ValueMasses value_masses(std::span<const double> values, std::span<const std::uint32_t> weight);
/// The 255 most frequent levels by weight, ties by value.
TreeLevels levels_of(ValueMasses masses);

/// The codes of all rows twice: by column, to divide rows, and by row, to sum over them.
struct TreeRows {
  Index rows = 0;
  std::vector<TreeColumn> column;
  std::vector<std::uint8_t> by_column, by_row;

  const std::uint8_t* codes(Index j) const { return by_column.data() + j * rows; }
  const std::uint8_t* row(Index i) const { return by_row.data() + i * std::ssize(column); }
};

/// Edges come from at most 200,000 rows of positive weight, spread evenly; levels from all rows. `categorical`: numbers
/// of the columns of categories. Memory is checked.
TreeRows bin_rows(const Features& x, ConstVectorView weight, std::span<const Index> categorical, int most,
                  const Context& context);

}  // namespace ecotone
