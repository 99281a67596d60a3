#include "ecotone/methods/multiclass/code_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

using Bits = std::vector<std::uint64_t>;

Bits empty_bits(Index size) { return Bits(static_cast<std::size_t>((size + 63) / 64), 0); }
void set_bit(Bits& bits, Index bit) { bits[at(bit / 64)] |= std::uint64_t{1} << (bit % 64); }
bool has_bit(const Bits& bits, Index bit) { return (bits[at(bit / 64)] >> (bit % 64) & 1) != 0; }

std::vector<Bits> packed_rows(const Matrix& code) {
  std::vector<Bits> rows;
  for (Index r = 0; r < code.rows(); ++r) {
    rows.push_back(empty_bits(code.cols()));
    for (Index c = 0; c < code.cols(); ++c) {
      if (code(r, c) > 0) set_bit(rows.back(), c);
    }
  }
  return rows;
}

/// Column c, or its complement where the first class is -1: equal for equal and for complementary columns.
Bits canonical_column(const Matrix& code, Index c) {
  Bits bits = empty_bits(code.rows());
  for (Index r = 0; r < code.rows(); ++r) {
    if (code(r, c) == code(0, c)) set_bit(bits, r);
  }
  return bits;
}

Index smallest_distance(const std::vector<Bits>& rows) {
  if (std::set<Bits>(rows.begin(), rows.end()).size() < rows.size()) return 0;
  int smallest = std::numeric_limits<int>::max();
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b) {
      int distance = 0;
      for (std::size_t w = 0; w < rows[a].size(); ++w) distance += std::popcount(rows[a][w] ^ rows[b][w]);
      smallest = std::min(smallest, distance);
    }
  }
  return smallest;
}

/// The number of distinct columns that are neither constant nor complementary: 2^(R-1) - 1, or very many.
Index different_columns(Index classes) { return classes > 40 ? Index{1} << 40 : (Index{1} << (classes - 1)) - 1; }

/// Distinct columns with +1 for the first class.
Matrix drawn_code(Index classes, Index length, Random random) {
  Bits all = empty_bits(classes);
  for (Index r = 0; r < classes; ++r) set_bit(all, r);
  std::set<Bits> seen = {all};  // the constant column
  Matrix code(classes, length);
  for (Index c = 0; c < length;) {
    Bits column = empty_bits(classes);
    for (std::uint64_t& word : column) word = random.bits();
    set_bit(column, 0);
    for (std::size_t w = 0; w < column.size(); ++w) column[w] &= all[w];
    if (!seen.insert(column).second) continue;
    for (Index r = 0; r < classes; ++r) code(r, c) = has_bit(column, r) ? 1 : -1;
    ++c;
  }
  return code;
}

Index chosen_length(const std::string& who, Index classes, Index length) {
  const Index most = different_columns(classes);
  if (length > most) {
    option_error("bad_option",
                 "{}: code_length must be at most {} for {} classes, which have no more distinct columns, got {}", who,
                 most, classes, length);
  }
  if (length > 0) return length;
  // 10 log2 R (Allwein, Schapire, Singer 2000): the mean row distance is then 5 log2 R.
  return std::min(most, static_cast<Index>(std::ceil(10 * std::log2(static_cast<double>(classes)))));
}

std::string_view trim_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return trim(line);
}

/// One row of a code file; `where` names the file and line.
std::vector<double> read_row(std::string_view line, const std::string& where) {
  std::vector<double> row;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::string_view entry = trim(line.substr(begin, end - begin));
    double value = 0;
    if (!parse_number(entry, value) || std::abs(value) != 1)
      data_error("bad_code", "{}: entries must be -1 or 1, got '{}'", where, entry);
    row.push_back(value);
    begin = end + 1;
  }
  return row;
}

}  // namespace

Index min_row_distance(const Matrix& code) { return smallest_distance(packed_rows(code)); }

double mean_row_distance(const Matrix& code) {
  // A column with P entries +1 and M entries -1 separates P M of the R (R - 1) / 2 pairs.
  double separated = 0;
  for (Index c = 0; c < code.cols(); ++c) {
    const auto plus = static_cast<double>((code.col(c).array() > 0).count());
    separated += plus * (static_cast<double>(code.rows()) - plus);
  }
  return separated / (0.5 * static_cast<double>(code.rows()) * static_cast<double>(code.rows() - 1));
}

Index corrected_bits(Index distance) { return std::max<Index>(0, (distance - 1) / 2); }

CodeDiagnosis ecoc_diagnose(const Matrix& code) {
  CodeDiagnosis result;
  result.min_row_distance = min_row_distance(code);
  result.corrects = corrected_bits(result.min_row_distance);
  std::map<Bits, std::vector<Index>> columns;
  for (Index c = 0; c < code.cols(); ++c) {
    if ((code.col(c).array() == code(0, c)).all()) result.constant_columns.push_back(c);
    columns[canonical_column(code, c)].push_back(c);
  }
  for (const auto& entry : columns) {
    const std::vector<Index>& same = entry.second;
    for (std::size_t a = 0; a < same.size(); ++a) {
      for (std::size_t b = a + 1; b < same.size(); ++b) result.equivalent_columns.emplace_back(same[a], same[b]);
    }
  }
  std::sort(result.equivalent_columns.begin(), result.equivalent_columns.end());
  return result;
}

Matrix exhaustive_code(Index classes) {
  Matrix code(classes, different_columns(classes));
  for (Index c = 0; c < code.cols(); ++c) {
    code(0, c) = 1;
    // The other classes count in binary; all +1, the constant column, would come last.
    for (Index r = 1; r < classes; ++r) code(r, c) = (c >> (classes - 1 - r) & 1) != 0 ? 1 : -1;
  }
  return code;
}

Matrix random_code(const std::string& who, Index classes, Index given, const Context& context) {
  const Index length = chosen_length(who, classes, given);
  // About 4e8 word operations at most, whatever the number of classes.
  const double cost =
      static_cast<double>(classes) * static_cast<double>(classes) * static_cast<double>(length / 64 + 1);
  const auto draws = static_cast<Index>(std::clamp(4e8 / cost, 1.0, 100.0));
  Matrix best;
  Index best_distance = -1;
  for (Index draw = 0; draw < draws; ++draw) {
    Matrix code = drawn_code(classes, length, context.random("ecoc code", static_cast<std::uint64_t>(draw)));
    const Index distance = min_row_distance(code);
    if (distance <= best_distance) continue;
    best = std::move(code);
    best_distance = distance;
  }
  if (best_distance < (classes == 3 ? 2 : 3)) {
    option_error("bad_option",
                 "{}: code_length={} is too short for {} classes: rows differ in only {} places, and 3 are needed", who,
                 length, classes, best_distance);
  }
  return best;
}

Matrix read_code(const std::filesystem::path& path, const std::vector<std::string>& classes) {
  const std::string text = read_text(path);
  const std::string_view content(text);
  std::vector<std::vector<double>> rows;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    const std::string_view line = content.substr(begin, end - begin);
    begin = end + 1;
    if (begin >= content.size() && trim_line(line).empty()) break;
    rows.push_back(read_row(trim_line(line), fmt::format("{}: line {}", path.string(), rows.size() + 1)));
    if (rows.back().size() != rows.front().size()) {
      data_error("shape_mismatch", "{}: line {} has {} entries, line 1 has {}", path.string(), rows.size(),
                 rows.back().size(), rows.front().size());
    }
  }
  if (rows.size() != classes.size()) {
    data_error("shape_mismatch", "{}: {} rows for {} classes ({})", path.string(), rows.size(), classes.size(),
               fmt::join(classes, ", "));
  }
  Matrix code(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (Index r = 0; r < code.rows(); ++r)
    code.row(r) = Eigen::Map<const Eigen::RowVectorXd>(rows[at(r)].data(), code.cols());
  return code;
}

}  // namespace ecotone
