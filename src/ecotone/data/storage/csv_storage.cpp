#include "ecotone/data/storage/csv_storage.h"

#include <algorithm>

#include "ecotone/data/storage/subset_storage.h"

namespace ecotone {

namespace {

/// Records of a task from `record` on that hold up to `wanted` kept rows.
struct Span {
  Index records = 0;
  Index kept = 0;
};

Span next_records(const CsvTask& task, Index record, Index wanted) {
  Span span;
  const Index left = task.chunk.rows - record;
  if (task.keep.empty()) {
    span.records = span.kept = std::min(left, wanted);
    return span;
  }
  while (span.records < left && span.kept < wanted) {
    span.kept += task.keep[at(record + span.records)];
    ++span.records;
  }
  return span;
}

}  // namespace

RowBlock CsvStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  auto out = scratch.reserve(count, cols_);
  std::size_t t = blocks_[at(b)].task;
  BlockStart start = blocks_[at(b)].start;
  const CsvBlock* next = static_cast<std::size_t>(b) + 1 < blocks_.size() ? &blocks_[at(b) + 1] : nullptr;
  for (Index row = 0; row < count; ++t) {
    const CsvTask& task = table_.tasks()[t];
    const ByteSource& source = table_.files()[task.file].source;
    if (row > 0) start = {task.chunk.begin, 0};
    source.check_unchanged();
    const Span span = next_records(task, start.record, count - row);
    const std::size_t end = next && next->task == t ? next->start.offset : task.chunk.end;
    table_.with_text(task.file, start.offset, end, [&](RowText run) {
      RowTarget target;
      target.x = out.data() + row * out.outerStride();
      target.x_stride = out.outerStride();
      const auto keep =
          std::span<const char>(task.keep).subspan(task.keep.empty() ? 0 : static_cast<std::size_t>(start.record),
                                                   task.keep.empty() ? 0 : static_cast<std::size_t>(span.records));
      const RowFindings findings = parse_rows(source, run, span.records, keep, plans_[task.file], target);
      if (!findings.not_number.empty()) source.changed();
    });
    row += span.kept;
  }
  return {first, ConstMatrixMap(out.data(), count, cols_, Eigen::OuterStride<>(out.outerStride()))};
}

std::shared_ptr<const FeatureStorage> CsvStorage::take(std::span<const Index> rows) const {
  return take_from_file(shared_from_this(), rows);
}

}  // namespace ecotone
