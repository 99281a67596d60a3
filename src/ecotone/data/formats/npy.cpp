#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/arrays.h"
#include "ecotone/data/formats/number_array.h"

namespace ecotone {

namespace {

/// The header of an NPY file: a Python dictionary with exactly three entries.
class NpyHeader {
 public:
  NpyHeader(std::string_view text, const std::string& name) : text_(text), name_(name) { parse(); }

  std::string descr;
  bool column_major = false;
  std::vector<std::size_t> shape;

 private:
  [[noreturn]] void fail(std::string_view what) const { data_error("bad_npy", "{}: bad NPY header: {}", name_, what); }

  void skip_blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\0'))
      ++at_;
  }

  bool accept(char c) {
    skip_blank();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}' at byte {}", c, at_));
  }

  std::string quoted() {
    skip_blank();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("expected a quoted word");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a quote is never closed");
    std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }

  bool boolean() {
    skip_blank();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::string_view(word).size();
      return value;
    }
    fail("expected True or False");
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      skip_blank();
      std::size_t size = 0;
      const auto [stop, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (status != std::errc()) fail("expected a size");
      at_ = static_cast<std::size_t>(stop - text_.data());
      sizes.push_back(size);
      if (sizes.size() > 32) fail("too many dimensions");
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return sizes;
  }

  void parse() {
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        skip_blank();
        if (at_ < text_.size() && text_[at_] == '[') fail("arrays of records are not supported");
        descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order") {
        column_major = boolean();
        has_order = true;
      } else if (key == "shape") {
        shape = tuple();
        has_shape = true;
      } else {
        fail("unknown entry '" + key + "'");
      }
      accept(',');
    }
    if (!has_descr || !has_order || !has_shape) fail("descr, fortran_order and shape are needed");
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::optional<Element> element_of(std::string_view type) {
  static constexpr std::pair<std::string_view, Element> types[] = {
      {"f8", Element::f64}, {"f4", Element::f32}, {"i8", Element::i64},    {"i4", Element::i32},
      {"i2", Element::i16}, {"i1", Element::i8},  {"u8", Element::u64},    {"u4", Element::u32},
      {"u2", Element::u16}, {"u1", Element::u8},  {"b1", Element::boolean}};
  for (const auto& [name, element] : types)
    if (name == type) return element;
  return std::nullopt;
}

/// Position of the header text, after magic, version and its own length.
struct HeaderPlace {
  std::size_t begin = 0;
  std::size_t length = 0;
};

HeaderPlace header_place(const ByteSource& source) {
  const std::string& name = source.name();
  if (source.size() < 10) data_error("bad_npy", "{}: too short for an NPY file", name);
  const std::string start = source.text(0, std::min<std::size_t>(12, source.size()));
  if (!is_npy(start)) data_error("bad_npy", "{}: not an NPY file", name);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(start[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) data_error("bad_npy", "{}: unknown NPY version {}", name, version);
  if (version > 1 && source.size() < 12) data_error("bad_npy", "{}: too short for an NPY file", name);
  HeaderPlace place{version == 1 ? 10U : 12U, byte(8) | byte(9) << 8};
  if (version > 1) place.length |= byte(10) << 16 | byte(11) << 24;
  if (place.length > source.size() - place.begin) data_error("bad_npy", "{}: the header is longer than the file", name);
  return place;
}

ArrayRows npy_rows(const std::vector<ByteSource>& sources, const ReadOptions&, const Context& context) {
  ArrayRows rows;
  std::vector<NumberArray> arrays;
  for (const ByteSource& source : sources) {
    arrays.push_back(open_npy(source));
    rows.file_rows.push_back(arrays.back().rows);
  }
  rows.x = Features::dense(stack_arrays(arrays, context));
  return rows;
}

}  // namespace

bool is_npy(std::string_view start) { return start.starts_with("\x93NUMPY"); }

NumberArray open_npy(const ByteSource& source) {
  const HeaderPlace place = header_place(source);
  const std::string text = source.text(place.begin, place.length);
  const NpyHeader header(text, source.name());
  if (header.descr.size() < 2) data_error("bad_npy", "{}: unknown type '{}'", source.name(), header.descr);
  const auto element = element_of(std::string_view(header.descr).substr(1));
  const char order = header.descr[0];
  if (!element || (order != '<' && order != '|'))
    data_error("bad_npy",
               "{}: type '{}' is not supported; use float64, float32, an integer or bool in little-endian order",
               source.name(), header.descr);
  if (header.shape.empty() || header.shape.size() > 2)
    data_error("bad_npy", "{}: the array has {} dimensions; 1 or 2 are supported", source.name(), header.shape.size());
  const std::size_t rows = header.shape[0];
  const std::size_t cols = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::size_t offset = place.begin + place.length;
  const std::size_t bytes = array_bytes(source, rows, cols, size_of(*element));
  if (bytes != source.size() - offset)
    data_error("bad_npy", "{}: {} x {} values need {} bytes, but the file has {}", source.name(), rows, cols, bytes,
               source.size() - offset);
  if (rows > 0 && cols == 0) data_error("empty_data", "{}: an array without columns", source.name());
  return {source,
          *element,
          false,
          header.column_major,
          offset,
          cols * size_of(*element),
          static_cast<Index>(rows),
          static_cast<Index>(cols)};
}

Format npy_format() {
  return {.name = "npy",
          .summary = "A NumPy array of one or two dimensions: numbers, little-endian, in C or Fortran order.",
          .endings = {".npy"},
          .looks_like = is_npy,
          .rows = npy_rows};
}

}  // namespace ecotone
