#pragma once

#include <cstddef>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/index.h"
#include "ecotone/data/formats/byte_source.h"

namespace ecotone {

/// A run of whole records of a CSV file.
struct CsvChunk {
  std::size_t begin = 0;  ///< first byte of the first record
  std::size_t end = 0;    ///< one past the last record's line end
  Index first_row = 0;    ///< number of its first record among the file's records after the header
  Index rows = 0;         ///< records that are not blank
};

/// Where the records of a CSV file lie.
struct CsvLayout {
  std::vector<CsvChunk> chunks;
  Index rows = 0;
};

/// Finds the records from byte `begin` on, segment by segment on all threads. A line end inside quotes is part of its
/// field; a quote opens a field only as its first byte. Blank lines are not records. Data error `open_quote` if the
/// file ends inside quotes.
CsvLayout scan_csv(const ByteSource& source, std::size_t begin, char delimiter, std::size_t segment_bytes,
                   const Context& context);

}  // namespace ecotone
