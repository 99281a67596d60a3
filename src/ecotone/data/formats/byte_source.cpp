#include "ecotone/data/formats/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/files/gzip.h"
#include "ecotone/base/memory.h"

namespace ecotone {

namespace {

constexpr std::size_t piece_size = std::size_t{1} << 20;

/// Reads a stream to its end in pieces, checking the memory as it grows.
template <class Read>
std::string read_to_end(const std::string& name, Read&& read_piece) {
  std::string text;
  for (;;) {
    if (text.capacity() - text.size() < piece_size) {
      const std::size_t wanted = std::max(piece_size, 2 * text.capacity());
      require_memory(wanted, name, "the uncompressed text", "uncompress the file, so that it is read in pieces");
      text.reserve(wanted);
    }
    const std::size_t old = text.size();
    text.resize(old + piece_size);
    const std::size_t got = read_piece(std::span(text.data() + old, piece_size));
    text.resize(old + got);
    if (got < piece_size) return text;
  }
}

/// A pipe or device, read from front to back. Waiting for bytes, or for a process to open the other end, stops when the
/// context is cancelled: the file is opened without blocking and polled.
class Stream {
 public:
  Stream(const std::filesystem::path& path, const std::string& name, const Context& context)
      : name_(name), context_(context), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) failed();
  }
  ~Stream() { ::close(fd_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Fills `into`; fewer bytes than requested only at the end.
  std::size_t read(std::span<char> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      wait();
      const ssize_t got = ::read(fd_, into.data() + done, into.size() - done);
      if (got == 0) break;
      if (got > 0) {
        done += static_cast<std::size_t>(got);
      } else if (errno != EINTR && errno != EAGAIN) {
        failed();
      }
    }
    return done;
  }

 private:
  /// Waits until there is something to read or the other end is closed.
  void wait() {
    constexpr int milliseconds = 50;
    pollfd state{.fd = fd_, .events = POLLIN, .revents = 0};
    for (;;) {
      context_.check_cancelled();
      const int ready = ::poll(&state, 1, milliseconds);
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) failed();
    }
  }
  [[noreturn]] void failed() const {
    file_error("cannot_read", "cannot read {}: {}", name_, std::generic_category().message(errno));
  }

  const std::string& name_;
  const Context& context_;
  int fd_;
};

/// Length of the UTF-8 character that starts at s[i], or 0 if there is none.
std::size_t utf8_length(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned lead = byte(i);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : (lead >> 4) == 0xE          ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || i + length > s.size()) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xC0U) != 0x80) return 0;
  // Overlong forms, surrogates and code points beyond U+10FFFF.
  if ((lead == 0xE0 && byte(i + 1) < 0xA0) || (lead == 0xED && byte(i + 1) > 0x9F)) return 0;
  if ((lead == 0xF0 && byte(i + 1) < 0x90) || (lead == 0xF4 && byte(i + 1) > 0x8F)) return 0;
  return length;
}

}  // namespace

struct ByteSource::State {
  std::string name;
  std::filesystem::path path;
  std::optional<InputFile> file;  // absent: the bytes are in memory
  std::filesystem::file_time_type time{};
  std::string bytes;
};

ByteSource ByteSource::open(const std::filesystem::path& path, const Context& context) {
  auto state = std::make_shared<State>();
  state->name = path.string();
  state->path = path;
  std::error_code none;
  const bool plain = std::filesystem::is_regular_file(path, none) || !std::filesystem::exists(path, none);
  if (!plain && !std::filesystem::is_directory(path, none)) {
    Stream stream(path, state->name, context);
    state->bytes = read_to_end(state->name, [&](std::span<char> into) { return stream.read(into); });
    if (is_gzip(state->bytes)) {
      GzipReader reader(std::move(state->bytes), state->name);
      state->bytes = read_to_end(state->name, [&](std::span<char> into) { return reader.read(into); });
    }
    return ByteSource(std::move(state));
  }
  InputFile file(path);
  if (is_gzip(file)) {
    GzipReader reader(path);
    state->bytes = read_to_end(state->name, [&](std::span<char> into) { return reader.read(into); });
    return ByteSource(std::move(state));
  }
  state->time = std::filesystem::last_write_time(path, none);
  state->file.emplace(std::move(file));
  return ByteSource(std::move(state));
}

ByteSource ByteSource::memory(std::string bytes, std::string name) {
  auto state = std::make_shared<State>();
  state->path = name;
  state->name = std::move(name);
  state->bytes = std::move(bytes);
  return ByteSource(std::move(state));
}

const std::string& ByteSource::name() const { return state_->name; }

std::string ByteSource::stem() const {
  std::filesystem::path name = state_->path.filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

std::size_t ByteSource::size() const { return state_->file ? state_->file->size() : state_->bytes.size(); }

bool ByteSource::on_disk() const { return state_->file.has_value(); }

void ByteSource::read(std::size_t offset, std::span<char> into) const {
  if (state_->file) {
    if (state_->file->read(offset, into) != into.size()) changed();
    return;
  }
  if (offset > state_->bytes.size() || into.size() > state_->bytes.size() - offset) changed();
  if (!into.empty()) std::memcpy(into.data(), state_->bytes.data() + offset, into.size());
}

std::string ByteSource::text(std::size_t offset, std::size_t length) const {
  std::string result(length, '\0');
  read(offset, result);
  return result;
}

void ByteSource::check_unchanged() const {
  if (!state_->file) return;
  std::error_code gone;
  const auto size_now = std::filesystem::file_size(state_->path, gone);
  if (gone || size_now != size()) changed();
  const auto time_now = std::filesystem::last_write_time(state_->path, gone);
  if (gone || time_now != state_->time) changed();
}

void ByteSource::changed() const { file_error("file_changed", "{}: the file changed while it was read", name()); }

Index ByteSource::line_at(std::size_t offset) const {
  Index line = 1;
  std::vector<char> piece(piece_size);
  for (std::size_t at = 0; at < offset; at += piece_size) {
    const auto part = std::span(piece).first(std::min(piece_size, offset - at));
    read(at, part);
    line += std::count(part.begin(), part.end(), '\n');
  }
  return line;
}

std::span<char> room_in(std::vector<char>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return std::span(buffer).first(size);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  // Bytes 10xxxxxx continue a character that started before them.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80) --most;
  return std::string(text.substr(0, most));
}

std::string to_utf8(std::string_view bytes, bool& changed) {
  std::string result;
  result.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_length(bytes, i);
    if (length > 0) {
      result.append(bytes.substr(i, length));
      i += length;
      continue;
    }
    // U+0080 .. U+00FF as two bytes.
    const auto byte = static_cast<unsigned char>(bytes[i]);
    result += static_cast<char>(0xC0U | (byte >> 6));
    result += static_cast<char>(0x80U | (byte & 0x3FU));
    changed = true;
    ++i;
  }
  return result;
}

}  // namespace ecotone
