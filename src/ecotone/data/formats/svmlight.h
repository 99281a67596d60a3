#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/data/formats/byte_source.h"

namespace ecotone {

/// Rows of svmlight files: a label and sparse features each.
struct SvmlightRows {
  Csr x;
  Vector label;                  ///< NaN: missing
  std::vector<Index> file_rows;  ///< rows of each file
};

/// Reads `LABEL [qid:N] INDEX:VALUE ... [# comment]` lines in pieces on all threads. `base` is the index of the first
/// feature; -1 detects it (1 unless an index 0 occurs). Indices may come in any order. Data errors `bad_value`,
/// `bad_index`, `duplicate_index`, with line numbers.
SvmlightRows read_svmlight(const std::vector<ByteSource>& sources, int base, std::size_t piece_bytes,
                           const Context& context);

}  // namespace ecotone
