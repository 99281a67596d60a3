#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Code matrices of error-correcting output codes: one row per class, one column per binary problem, entries -1 and +1.
namespace ecotone {

/// Properties of a code. Rows and columns count from 0.
struct CodeDiagnosis {
  Index min_row_distance = 0;  ///< smallest Hamming distance of two rows
  Index corrects = 0;          ///< wrong bits that decoding always corrects: (distance - 1) / 2
  std::vector<std::pair<Index, Index>> equivalent_columns;  ///< equal or complementary: the same classifier twice
  std::vector<Index> constant_columns;                      ///< nothing to learn
};

CodeDiagnosis ecoc_diagnose(const Matrix& code);

/// The smallest Hamming distance of two rows; 0 at once when two are equal.
Index min_row_distance(const Matrix& code);
/// The mean Hamming distance over all pairs of rows.
double mean_row_distance(const Matrix& code);
/// floor((distance - 1) / 2), at least 0.
Index corrected_bits(Index distance);

/// All 2^(R-1) - 1 distinct columns. The first class is always +1, so no two are complementary.
Matrix exhaustive_code(Index classes);

/// Columns drawn at random, none constant, equal or complementary; the best of up to 100 draws by the smallest row
/// distance. length 0: 10 log2 R columns, or all if there are fewer. Option error `bad_option` if the length exceeds
/// the number of distinct columns or no draw has distance 3 (2 for three classes, which allow no more).
Matrix random_code(const std::string& who, Index classes, Index length, const Context& context);

/// A user's code: CSV without header, one row per class in class order. Data errors: `shape_mismatch`, `bad_code` (an
/// entry other than -1 and 1).
Matrix read_code(const std::filesystem::path& path, const std::vector<std::string>& classes);

}  // namespace ecotone
