#include "ecotone/solve/svm/cache.h"

#include <algorithm>

#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

constexpr Index rows_together = 64;
constexpr Index columns_together = 512;
constexpr std::size_t slab_bytes = std::size_t{1} << 25;

}  // namespace

template <class Scalar>
SvmCache<Scalar>::SvmCache(SvmSource& source, Index least, std::size_t bytes, const char* who, const Context& context)
    : source_(source), context_(context), slot_of_(at(source.rows()), -1) {
  const std::size_t row = at(std::max<Index>(source.rows(), 1)) * sizeof(Scalar);
  require_memory(at(least) * row, who, fmt::format("a cache of {} kernel rows", least), "use fewer rows");
  limit_ = std::min(source.rows(), std::max(least, static_cast<Index>(bytes / row)));
}

template <class Scalar>
Index SvmCache<Scalar>::new_slot() {
  const Index n = source_.rows();
  if (slab_left_ == 0) {
    const Index room = limit_ - std::ssize(slots_);
    slab_left_ = std::clamp(static_cast<Index>(slab_bytes / (at(n) * sizeof(Scalar))), Index{1}, room);
    slabs_.push_back(std::make_unique_for_overwrite<Scalar[]>(at(slab_left_) * at(n)));
    take_pages(slabs_.back().get(), at(slab_left_) * at(n) * sizeof(Scalar), context_);
  }
  --slab_left_;
  const Index slot = std::ssize(slots_);
  slots_.push_back({-1, 0, slabs_.back().get() + slab_left_ * n, used_.insert(used_.begin(), slot)});
  return slot;
}

template <class Scalar>
Index SvmCache<Scalar>::vacant_slot() {
  // Reused memory is cheaper than new memory, which the system clears first.
  if (!empty_.empty()) {
    const Index slot = empty_.back();
    empty_.pop_back();
    return slot;
  }
  return std::ssize(slots_) < limit_ ? new_slot() : used_.back();
}

template <class Scalar>
Index SvmCache<Scalar>::slot_for(Index row) {
  Index slot = slot_of_[at(row)];
  if (slot < 0) {
    slot = vacant_slot();
    Slot& taken = slots_[at(slot)];
    if (taken.row >= 0) slot_of_[at(taken.row)] = -1;
    taken.row = row;
    taken.length = 0;
    slot_of_[at(row)] = slot;
  }
  used_.splice(used_.begin(), used_, slots_[at(slot)].used);
  return slot;
}

template <class Scalar>
std::vector<const Scalar*> SvmCache<Scalar>::rows(std::span<const Index> wanted, Index length) {
  // Cached rows first, so that none of them is evicted for another.
  for (const Index row : wanted)
    if (slot_of_[at(row)] >= 0) slot_for(row);
  std::vector<Index> short_ones;
  std::vector<const Scalar*> result;
  for (const Index row : wanted) {
    const Index slot = slot_for(row);
    if (slots_[at(slot)].length < length) short_ones.push_back(slot);
    result.push_back(slots_[at(slot)].values);
  }
  fill(short_ones, length);
  return result;
}

template <class Scalar>
void SvmCache<Scalar>::fill(std::span<const Index> slots, Index length) {
  if (slots.empty()) return;
  std::vector<Index> rows;
  for (const Index slot : slots) rows.push_back(slots_[at(slot)].row);
  const Matrix gathered = source_.gather(rows);
  const Index pieces = (length + columns_together - 1) / columns_together;
  const Index groups = (std::ssize(slots) + rows_together - 1) / rows_together;
  context_.parallel(groups * pieces, [&](Index task) {
    const Index r = task / pieces * rows_together;
    const Index height = std::min(rows_together, std::ssize(slots) - r);
    const Index first = task % pieces * columns_together;
    const ConstMatrixView part = gathered.middleRows(gathered.rows() == 0 ? 0 : r, gathered.rows() == 0 ? 0 : height);
    fill_block(part, slots.subspan(at(r), at(height)), std::span<const Index>(rows).subspan(at(r), at(height)), first,
               std::min(columns_together, length - first));
  });
  for (const Index slot : slots) slots_[at(slot)].length = length;
  computed_ += std::ssize(slots);
}

template <class Scalar>
void SvmCache<Scalar>::fill_block(ConstMatrixView gathered, std::span<const Index> slots, std::span<const Index> rows,
                                  Index first, Index width) {
  const bool needed =
      std::any_of(slots.begin(), slots.end(), [&](Index slot) { return slots_[at(slot)].length < first + width; });
  if (!needed) return;
  Matrix block(std::ssize(slots), width);
  source_.values(gathered, rows, first, block);
  for (Index r = 0; r < block.rows(); ++r) {
    const Slot& slot = slots_[at(slots[at(r)])];
    const Index begin = std::max<Index>(slot.length - first, 0);
    for (Index c = begin; c < width; ++c) slot.values[first + c] = static_cast<Scalar>(block(r, c));
    // The diagonal is that of the source, regardless of rounding in products.
    if (slot.row >= first + begin && slot.row < first + width)
      slot.values[slot.row] = static_cast<Scalar>(source_.diagonal()[slot.row]);
  }
}

template <class Scalar>
void SvmCache<Scalar>::permute(std::span<const Index> from, Index moving, Index kept) {
  std::vector<Index> to(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) to[at(from[k])] = static_cast<Index>(k);
  std::fill(slot_of_.begin(), slot_of_.end(), -1);
  std::vector<Index> moved;
  for (Index s = 0; s < std::ssize(slots_); ++s) {
    Slot& slot = slots_[at(s)];
    if (slot.row < 0) continue;
    slot.row = slot.length < moving || to[at(slot.row)] >= kept ? -1 : to[at(slot.row)];
    if (slot.row < 0) {
      empty_.push_back(s);
    } else {
      slot_of_[at(slot.row)] = s;
      moved.push_back(s);
    }
  }
  context_.parallel(std::ssize(moved), [&](Index m) {
    Scalar* const values = slots_[at(moved[at(m)])].values;
    const std::vector<Scalar> old(values, values + moving);
    for (Index k = 0; k < moving; ++k) values[k] = old[at(from[at(k)])];
  });
}

template class SvmCache<float>;
template class SvmCache<double>;

}  // namespace ecotone
