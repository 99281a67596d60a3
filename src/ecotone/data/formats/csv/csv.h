#pragma once

#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/csv/table.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// Reads CSV files as one data set; see read_dataset.
Dataset read_csv(std::vector<ByteSource> sources, const ReadOptions& options, const CsvTuning& tuning,
                 const Context& context);

/// Reads CSV files by a model's schema; see read_for_model.
Dataset read_csv_for_model(std::vector<ByteSource> sources, const Schema& schema, const ReadOptions& options,
                           const CsvTuning& tuning, const Context& context, std::vector<TextColumn>* passed = nullptr);

}  // namespace ecotone
