#include "ecotone/base/files/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {

bool is_gzip(const InputFile& file) {
  std::array<char, 2> magic{};
  return file.read(0, magic) == 2 && is_gzip(std::string_view(magic.data(), magic.size()));
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

struct GzipReader::State {
  std::optional<InputFile> file;  // absent: the bytes are in memory
  std::string bytes;
  std::string label;
  std::size_t offset = 0;  // position of the next compressed byte to read
  std::vector<char> chunk = std::vector<char>(std::size_t{1} << 17);
  z_stream stream{};
  bool between = true;  // no member is open: at the start, or after the end of one
  bool any = false;     // at least one member was read

  explicit State(const std::filesystem::path& path) : file(path), label(path.string()) { begin(); }
  State(std::string content, std::string name) : bytes(std::move(content)), label(std::move(name)) { begin(); }
  void begin() {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const std::string& name() const { return label; }

  /// Reads the next compressed bytes into the chunk; returns how many there were.
  std::size_t next_bytes() {
    if (file) return file->read(offset, chunk);
    return bytes.copy(chunk.data(), chunk.size(), offset);
  }

  /// Ensures that there is compressed input; false at the end of the file.
  bool fill() {
    if (stream.avail_in > 0) return true;
    const std::size_t got = next_bytes();
    offset += got;
    stream.next_in = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  /// Between members: opens the next one; false at the end of the file. Zero bytes between members are padding, as in
  /// gzip itself.
  bool next_member() {
    while (any && fill() && *stream.next_in == 0) {
      ++stream.next_in;
      --stream.avail_in;
    }
    if (!fill()) {
      if (!any) file_error("truncated_gzip", "{}: the gzip file is empty", name());
      return false;
    }
    if (any && *stream.next_in != 0x1f) file_error("bad_gzip", "{}: other bytes follow the gzip data", name());
    if (inflateReset(&stream) != Z_OK) internal_error("gzip: reset of {}", name());
    between = false;
    return true;
  }

  void step() {
    if (!fill()) file_error("truncated_gzip", "{}: the gzip data end early; the file is truncated", name());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      between = true;
      any = true;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      file_error("bad_gzip", "{}: the gzip data are damaged ({})", name(), stream.msg ? stream.msg : "no reason given");
    }
  }
};

GzipReader::GzipReader(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {}
GzipReader::GzipReader(std::string bytes, std::string name)
    : state_(std::make_unique<State>(std::move(bytes), std::move(name))) {}
GzipReader::~GzipReader() = default;
GzipReader::GzipReader(GzipReader&&) noexcept = default;
GzipReader& GzipReader::operator=(GzipReader&&) noexcept = default;

std::size_t GzipReader::read(std::span<char> into) {
  z_stream& stream = state_->stream;
  std::size_t done = 0;
  while (done < into.size()) {
    if (state_->between && !state_->next_member()) break;
    const std::size_t room = std::min(into.size() - done, std::size_t{1} << 30);
    stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
    stream.avail_out = static_cast<uInt>(room);
    state_->step();
    done += room - stream.avail_out;
  }
  return done;
}

}  // namespace ecotone
