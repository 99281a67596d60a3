#pragma once

#include <vector>

#include "ecotone/solve/moments/moments.h"

/// How moments.cpp fills X'X of every group. Internal to moments.cpp.
namespace ecotone {

/// Weight of a row; rows without y count as 1.
inline double weight_of(const MomentRows& rows, Index i) { return i < rows.weight.size() ? rows.weight[i] : 1.0; }

/// Gram matrices of the labelled groups. Rows of a chunk of blocks are gathered into one panel, group by group, so that
/// each tile grows by one product of many rows; each tile is one task, so its sums have a fixed order. Also an
/// accumulator: the tiles of other chunks can be merged.
class GramFill {
 public:
  GramFill(const MomentRows& rows, const std::vector<std::uint8_t>& labelled, GramKind kind);

  bool active() const { return kind_ != GramKind::none; }
  /// Number of blocks in a chunk: at most 64 MB, and at least one block.
  Index blocks_at_once() const;

  /// Starts a chunk of `count` blocks from block `first`.
  void begin(Index first, Index count);
  /// Copies the rows of a block, times sqrt(w), to their places; from any thread, each block once.
  void gather(const RowBlock& block);
  /// Adds the chunk to all tiles.
  void finish(const Context& context);
  /// The same on the calling thread.
  void finish();

  /// Adds all rows of a sparse matrix.
  void add_sparse(const Csr& csr, const Context& context);

  /// Adds the tiles of another fill of the same rows, whose chunks were others.
  void merge(const GramFill& other);
  template <class Archive>
  void archive(Archive& with) {
    for (SymmetricTiles<double>& tiles : double_) with(tiles);
    for (SymmetricTiles<float>& tiles : single_) with(tiles);
  }

  /// Moves the Gram matrices into the result.
  void give(Moments& result) &&;

 private:
  const MomentRows* rows_;
  GramKind kind_;
  std::vector<std::uint8_t> labelled_;
  std::vector<SymmetricTiles<double>> double_;
  std::vector<SymmetricTiles<float>> single_;
  Index stride_ = 0;
  Index first_row_ = 0;
  std::vector<Index> place_;  ///< position of each row of the chunk in the panel; -1: not in it
  std::vector<Index> start_;  ///< start of each group in the panel, and the end
  std::vector<double> panel_;
  std::vector<float> single_panel_;
};

}  // namespace ecotone
