#pragma once

#include <memory>
#include <vector>

#include "ecotone/data/features.h"
#include "ecotone/data/formats/csv/table.h"

namespace ecotone {

/// Where each block of rows of a table starts.
struct CsvBlock {
  std::size_t task = 0;
  BlockStart start;
};

/// Features that stay in CSV files: each block is read and parsed on demand. File error `file_changed` if a file has
/// changed.
class CsvStorage final : public FeatureStorage, public std::enable_shared_from_this<CsvStorage> {
 public:
  /// `plans`, one per file, must fill `cols` columns and nothing else.
  CsvStorage(CsvTable table, std::vector<RowPlan> plans, Index cols, std::vector<CsvBlock> blocks)
      : table_(std::move(table)), plans_(std::move(plans)), cols_(cols), blocks_(std::move(blocks)) {}

  Index rows() const override { return table_.rows(); }
  Index cols() const override { return cols_; }
  RowBlock block(Index b, Scratch& scratch) const override;
  std::shared_ptr<const FeatureStorage> take(std::span<const Index> rows) const override;
  bool in_file() const override { return true; }

 private:
  CsvTable table_;
  std::vector<RowPlan> plans_;
  Index cols_;
  std::vector<CsvBlock> blocks_;
};

}  // namespace ecotone
