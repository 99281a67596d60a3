#include "ecotone/data/formats/csv/scan.h"

#include <algorithm>
#include <cstring>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// Context of the first byte of a segment.
enum class State : unsigned char {
  plain,        ///< inside an unquoted field
  field_start,  ///< right after a delimiter or a line end
  quoted,       ///< inside quotes
  after_quote,  ///< right after a quote inside quotes: the closing quote, or the first half of a doubled one
};

/// What a segment contains if it starts in a given state.
struct Finding {
  Index rows = 0;                    // records that end here and are not blank
  bool any_end = false;              // whether a record ends here
  std::size_t last_end = 0;          // one past the last line end
  State state = State::field_start;  // state at the start of the next segment
};

struct Counts {
  Index lines = 0;
  Index blanks = 0;
};

/// Counts line ends and blank lines of text[begin, end); two readable bytes precede it.
Counts count_lines(const char* begin, const char* end) {
  Counts counts;
  while (begin < end) {
    // Few enough bytes for a one-byte count: the loop becomes vector code.
    const char* const stop = begin + std::min<std::ptrdiff_t>(end - begin, 255);
    unsigned char lines = 0;
    unsigned char blanks = 0;
    for (const char* p = begin; p < stop; ++p) {
      const auto line = static_cast<unsigned char>(*p == '\n');
      const auto blank = static_cast<unsigned char>((p[-1] == '\n') | ((p[-1] == '\r') & (p[-2] == '\n')));
      lines = static_cast<unsigned char>(lines + line);
      blanks = static_cast<unsigned char>(blanks + (line & blank));
    }
    counts.lines += lines;
    counts.blanks += blanks;
    begin = stop;
  }
  return counts;
}

/// One segment with the two bytes before it.
class Segment {
 public:
  Segment(std::span<const char> bytes, std::size_t offset, char delimiter)
      : begin_(bytes.data() + 2), end_(bytes.data() + bytes.size()), offset_(offset), delimiter_(delimiter) {}

  bool has_quote() const { return std::memchr(begin_, '"', static_cast<std::size_t>(end_ - begin_)) != nullptr; }

  /// The state at the start if it is not inside quotes; after_quote cannot be distinguished from plain without the
  /// preceding text.
  State outside_state() const { return starts_field(begin_) ? State::field_start : State::plain; }

  /// Jumps from quote to quote and counts the line ends outside.
  Finding lex(State state) const {
    Finding finding;
    const char* p = begin_;
    if (state == State::after_quote) {
      if (p < end_ && *p == '"') {
        ++p;
        state = State::quoted;
      } else {
        state = State::plain;
      }
    }
    bool field_start = state == State::field_start;
    bool quoted = state == State::quoted;
    while (p < end_) {
      const auto* quote = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(end_ - p)));
      if (!quoted) {
        // From p on we are outside quotes, up to a quote that opens a field.
        const char* stop = quote ? quote : end_;
        count(p, stop, finding);
        if (!quote) break;
        quoted = quote == begin_ ? field_start : starts_field(quote);
        p = quote + 1;
        continue;
      }
      if (!quote) {
        finding.state = State::quoted;
        return finding;
      }
      p = quote + 1;
      if (p == end_) {
        finding.state = State::after_quote;
        return finding;
      }
      if (*p == '"') {
        ++p;
      } else {
        quoted = false;
      }
    }
    finding.state = quoted ? State::quoted : starts_field(end_) ? State::field_start : State::plain;
    return finding;
  }

 private:
  bool starts_field(const char* p) const { return p[-1] == delimiter_ || p[-1] == '\n'; }

  void count(const char* from, const char* to, Finding& finding) const {
    const Counts counts = count_lines(from, to);
    if (counts.lines == 0) return;
    finding.rows += counts.lines - counts.blanks;
    const char* last = to;
    while (*(last - 1) != '\n') --last;
    finding.any_end = true;
    finding.last_end = offset_ + static_cast<std::size_t>(last - begin_);
  }

  const char* begin_;
  const char* end_;
  std::size_t offset_;
  char delimiter_;
};

/// Findings of a segment for the two states in which it most likely starts.
struct Guesses {
  State outside = State::plain;
  Finding from_outside;
  Finding from_quoted;
};

class Scanner {
 public:
  Scanner(const ByteSource& source, std::size_t begin, char delimiter, std::size_t segment_bytes)
      : source_(source), begin_(begin), delimiter_(delimiter), bytes_(segment_bytes) {}

  CsvLayout scan(const Context& context) {
    const std::size_t size = source_.size() - begin_;
    std::vector<Guesses> guesses((size + bytes_ - 1) / bytes_);
    context.parallel(static_cast<Index>(guesses.size()), [&](Index s) {
      const auto loan = pool_.borrow();
      const Segment segment = load(s, loan);
      Guesses& guess = guesses[at(s)];
      guess.outside = segment.outside_state();
      guess.from_outside = segment.lex(guess.outside);
      // Without a quote, text that starts inside quotes stays there.
      guess.from_quoted.state = State::quoted;
      if (segment.has_quote()) guess.from_quoted = segment.lex(State::quoted);
    });
    return join(guesses);
  }

 private:
  Segment load(Index s, const BufferPool::Lease& loan) {
    const std::size_t first = begin_ + static_cast<std::size_t>(s) * bytes_;
    const std::size_t length = std::min(bytes_, source_.size() - first);
    const auto buffer = room_in(*loan, length + 2);
    // The first segment starts after a line end (that of the header).
    buffer[0] = buffer[1] = '\n';
    if (s == 0) {
      source_.read(first, buffer.subspan(2));
    } else {
      const std::size_t before = std::min<std::size_t>(2, first);
      source_.read(first - before, buffer.subspan(2 - before));
      if (first - begin_ == 1) buffer[0] = '\n';
    }
    return Segment(buffer, first, delimiter_);
  }

  /// Goes through the segments with the state known.
  CsvLayout join(const std::vector<Guesses>& guesses) {
    CsvLayout layout;
    State state = State::field_start;
    std::size_t record = begin_;  // start of the record that is still open
    for (std::size_t s = 0; s < guesses.size(); ++s) {
      const Guesses& guess = guesses[s];
      Finding finding;
      if (state == guess.outside) {
        finding = guess.from_outside;
      } else if (state == State::quoted) {
        finding = guess.from_quoted;
      } else {
        const auto loan = pool_.borrow();
        finding = load(static_cast<Index>(s), loan).lex(state);
      }
      state = finding.state;
      if (!finding.any_end) continue;
      add(layout, record, finding.last_end, finding.rows);
      record = finding.last_end;
    }
    if (state == State::quoted)
      data_error("open_quote", "{} line {}: a quoted field is never closed", source_.name(), source_.line_at(record));
    close(layout, record);
    return layout;
  }

  static void add(CsvLayout& layout, std::size_t begin, std::size_t end, Index rows) {
    if (rows == 0) return;
    layout.chunks.push_back({begin, end, layout.rows, rows});
    layout.rows += rows;
  }

  /// A last record without a line end.
  void close(CsvLayout& layout, std::size_t record) const {
    const std::size_t left = source_.size() - record;
    if (left == 0 || (left == 1 && source_.text(record, 1) == "\r")) return;
    add(layout, record, source_.size(), 1);
  }

  const ByteSource& source_;
  std::size_t begin_;
  char delimiter_;
  std::size_t bytes_;
  BufferPool pool_;
};

}  // namespace

CsvLayout scan_csv(const ByteSource& source, std::size_t begin, char delimiter, std::size_t segment_bytes,
                   const Context& context) {
  return Scanner(source, begin, delimiter, segment_bytes).scan(context);
}

}  // namespace ecotone
