#include "ecotone/data/formats/svmlight.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/formats/arrays.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

constexpr std::size_t svmlight_piece_bytes = std::size_t{1} << 20;
constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;

/// A run of whole lines of one file.
struct Lines {
  std::size_t file = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The rows of a run; indices as written.
struct Piece {
  std::vector<double> label;
  std::vector<Index> length;
  std::vector<std::int32_t> index;
  std::vector<double> value;
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  std::int32_t highest = -1;
  std::size_t lowest_at = 0;  // position of the lowest index
};

class LineParser {
 public:
  LineParser(const ByteSource& source, std::size_t offset, std::string_view text)
      : source_(source), offset_(offset), text_(text) {}

  Piece parse() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      line_ = at;
      line(text_.substr(at, end - at));
      at = end + 1;
    }
    return std::move(piece_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(const char* code, fmt::format_string<Args...> text, Args&&... args) const {
    data_error(code, "{} line {}: {}", source_.name(), source_.line_at(offset_ + line_),
               fmt::format(text, std::forward<Args>(args)...));
  }

  static std::string shown(std::string_view word) {
    bool changed = false;
    return to_utf8(word.substr(0, 40), changed);
  }

  static std::string_view next_word(std::string_view& rest) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; };
    while (!rest.empty() && blank(rest.front())) rest.remove_prefix(1);
    std::size_t n = 0;
    while (n < rest.size() && !blank(rest[n])) ++n;
    const std::string_view word = rest.substr(0, n);
    rest.remove_prefix(n);
    return word;
  }

  void line(std::string_view rest) {
    rest = rest.substr(0, std::min(rest.find('#'), rest.size()));
    std::string_view word = next_word(rest);
    if (word.empty()) return;
    double label = 0;
    if (!parse_value(word, label)) fail("bad_value", "the label is '{}', expected a number", shown(word));
    const std::size_t first = piece_.index.size();
    while (!(word = next_word(rest)).empty()) pair(word);
    sort_row(first);
    piece_.label.push_back(label);
    piece_.length.push_back(static_cast<Index>(piece_.index.size() - first));
  }

  void pair(std::string_view word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) fail("bad_value", "'{}' is not INDEX:VALUE", shown(word));
    if (word.substr(0, colon) == "qid") return;
    std::int64_t index = -1;
    const auto [stop, status] = std::from_chars(word.data(), word.data() + colon, index);
    if (status != std::errc() || stop != word.data() + colon || index < 0 || index > largest_index)
      fail("bad_index", "'{}' is not an index between 0 and {}", shown(word.substr(0, colon)), largest_index);
    double value = 0;
    if (!parse_value(word.substr(colon + 1), value))
      fail("bad_value", "'{}' is not a number", shown(word.substr(colon + 1)));
    const auto column = static_cast<std::int32_t>(index);
    if (column < piece_.lowest) {
      piece_.lowest = column;
      piece_.lowest_at = offset_ + line_;
    }
    piece_.highest = std::max(piece_.highest, column);
    piece_.index.push_back(column);
    piece_.value.push_back(value);
  }

  /// Columns must ascend within a row; in most files they already do.
  void sort_row(std::size_t first) {
    const auto begin = piece_.index.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(begin, piece_.index.end())) {
      std::vector<std::pair<std::int32_t, double>> row;
      for (std::size_t k = first; k < piece_.index.size(); ++k) row.emplace_back(piece_.index[k], piece_.value[k]);
      std::ranges::stable_sort(row, {}, &std::pair<std::int32_t, double>::first);
      for (std::size_t k = 0; k < row.size(); ++k) std::tie(piece_.index[first + k], piece_.value[first + k]) = row[k];
    }
    const auto twice = std::adjacent_find(begin, piece_.index.end());
    if (twice != piece_.index.end()) fail("duplicate_index", "index {} occurs twice", *twice);
  }

  const ByteSource& source_;
  std::size_t offset_;
  std::string_view text_;
  std::size_t line_ = 0;
  Piece piece_;
};

/// Cuts a file into runs of whole lines of about `bytes` each.
void cut(const ByteSource& source, std::size_t file, std::size_t bytes, std::vector<Lines>& runs) {
  std::vector<char> window(std::min<std::size_t>(bytes, 1U << 16));
  for (std::size_t begin = 0; begin < source.size();) {
    std::size_t end = std::min(begin + bytes, source.size());
    while (end < source.size()) {
      const auto part = std::span(window).first(std::min(window.size(), source.size() - end));
      source.read(end, part);
      const auto newline = std::find(part.begin(), part.end(), '\n');
      end += static_cast<std::size_t>(newline - part.begin());
      if (newline == part.end()) continue;
      ++end;
      break;
    }
    runs.push_back({file, begin, end});
    begin = end;
  }
}

int find_base(const std::vector<ByteSource>& sources, const std::vector<Lines>& runs, const std::vector<Piece>& pieces,
              int base) {
  const auto lowest = std::ranges::min_element(pieces, {}, &Piece::lowest);
  if (base < 0) return lowest != pieces.end() && lowest->lowest == 0 ? 0 : 1;
  if (lowest != pieces.end() && lowest->lowest < base) {
    const ByteSource& source = sources[runs[at(lowest - pieces.begin())].file];
    data_error("bad_index", "{} line {}: index {}, but indices start at {}", source.name(),
               source.line_at(lowest->lowest_at), lowest->lowest, base);
  }
  return base;
}

SvmlightRows join(std::vector<Piece>& pieces, const std::vector<Lines>& runs, std::size_t files, int base) {
  SvmlightRows rows;
  std::size_t values = 0;
  std::int32_t highest = -1;
  for (const Piece& piece : pieces) {
    rows.x.rows += static_cast<Index>(piece.label.size());
    values += piece.index.size();
    highest = std::max(highest, piece.highest);
  }
  rows.x.cols = highest < base ? 0 : highest + 1 - base;
  rows.file_rows.assign(files, 0);
  rows.label.resize(rows.x.rows);
  rows.x.row_start.reserve(static_cast<std::size_t>(rows.x.rows) + 1);
  rows.x.row_start.push_back(0);
  rows.x.column.reserve(values);
  rows.x.value.reserve(values);
  Index row = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    // Moved out, so that its memory is freed once it is copied.
    const Piece piece = std::move(pieces[k]);
    rows.file_rows[runs[k].file] += static_cast<Index>(piece.label.size());
    for (const std::int32_t index : piece.index) rows.x.column.push_back(index - base);
    rows.x.value.insert(rows.x.value.end(), piece.value.begin(), piece.value.end());
    for (const Index length : piece.length) rows.x.row_start.push_back(rows.x.row_start.back() + length);
    for (const double label : piece.label) rows.label[row++] = label;
  }
  return rows;
}

/// Whether a line reads LABEL INDEX:VALUE ...
bool looks_sparse(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos ||
      line.substr(0, blank).find_first_not_of("+-.0123456789eE") != std::string_view::npos)
    return false;
  const std::string_view pair = line.substr(blank + 1, std::min(line.find(' ', blank + 1), line.size()) - blank - 1);
  const std::size_t colon = pair.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         (pair.starts_with("qid:") || pair.substr(0, colon).find_first_not_of("0123456789") == std::string_view::npos);
}

ArrayRows svmlight_rows(const std::vector<ByteSource>& sources, const ReadOptions& options, const Context& context) {
  SvmlightRows read = read_svmlight(sources, options.base, svmlight_piece_bytes, context);
  return {
      .x = Features::sparse(std::move(read.x)), .label = std::move(read.label), .file_rows = std::move(read.file_rows)};
}

}  // namespace

SvmlightRows read_svmlight(const std::vector<ByteSource>& sources, int base, std::size_t piece_bytes,
                           const Context& context) {
  if (base < -1 || base > 1) option_error("bad_option", "base must be 0 or 1, got {}", base);
  std::vector<Lines> runs;
  for (std::size_t f = 0; f < sources.size(); ++f) {
    // A pair is at least four bytes of text and twelve in memory, and is briefly held twice.
    require_memory(6 * sources[f].size(), sources[f].name(), "the sparse matrix", "use fewer rows");
    cut(sources[f], f, piece_bytes, runs);
  }
  std::vector<Piece> pieces(runs.size());
  BufferPool pool;
  context.parallel(static_cast<Index>(runs.size()), [&](Index k) {
    const Lines& run = runs[at(k)];
    const auto loan = pool.borrow();
    const auto text = room_in(*loan, run.end - run.begin);
    sources[run.file].read(run.begin, text);
    pieces[at(k)] = LineParser(sources[run.file], run.begin, {text.data(), text.size()}).parse();
  });
  return join(pieces, runs, sources.size(), find_base(sources, runs, pieces, base));
}

Format svmlight_format() {
  return {.name = "svmlight",
          .summary = "Sparse rows as text: LABEL INDEX:VALUE ...",
          .endings = {".svmlight", ".svm", ".libsvm"},
          .looks_like = looks_sparse,
          .rows = svmlight_rows};
}

}  // namespace ecotone
