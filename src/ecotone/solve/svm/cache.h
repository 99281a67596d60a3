#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/svm/source.h"

namespace ecotone {

/// Rows of the kernel matrix, computed many at a time by products on all threads; if they do not fit, the least
/// recently used is evicted. Scalar is double, or float if rows are long.
template <class Scalar>
class SvmCache {
 public:
  /// Holds at least `least` rows (memory is checked), more if `bytes` allows.
  SvmCache(SvmSource& source, Index least, std::size_t bytes, const char* who, const Context& context);

  /// Pointers to the first `length` values of rows, valid until the next call. At most `least` rows.
  std::vector<const Scalar*> rows(std::span<const Index> wanted, Index length);

  /// Moves the row at from[k] to k; nothing moves at or beyond `moving`. Rows that move to `kept` or beyond, and rows
  /// that lack some of the values that move, are evicted.
  void permute(std::span<const Index> from, Index moving, Index kept);

  /// Whether all rows fit.
  bool holds_all() const { return limit_ == source_.rows(); }
  /// Kernel rows computed so far, counting recomputed rows again.
  Index computed() const { return computed_; }

 private:
  struct Slot {
    Index row = -1;
    Index length = 0;  ///< number of values present
    Scalar* values = nullptr;
    std::list<Index>::iterator used;
  };

  Index slot_for(Index row);
  Index vacant_slot();
  Index new_slot();
  void fill(std::span<const Index> slots, Index length);
  void fill_block(ConstMatrixView gathered, std::span<const Index> slots, std::span<const Index> rows, Index first,
                  Index width);

  SvmSource& source_;
  const Context& context_;
  Index limit_;  ///< largest number of slots
  Index computed_ = 0;
  std::vector<std::unique_ptr<Scalar[]>> slabs_;
  Index slab_left_ = 0;
  std::vector<Slot> slots_;
  std::vector<Index> empty_;    ///< slots without a row
  std::vector<Index> slot_of_;  ///< slot of each row; -1: none
  std::list<Index> used_;       ///< slots, the least recently used last
};

}  // namespace ecotone
