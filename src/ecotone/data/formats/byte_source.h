#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/index.h"
#include "ecotone/base/pool.h"

namespace ecotone {

/// The bytes of one data file at random offsets: a plain file read with pread, or memory (gzipped files, pipes, tests).
/// A value; copies share the file.
class ByteSource {
 public:
  /// Opens a file; a gzip file, or anything but a plain file, is read whole into memory, checked against the available
  /// memory. Waiting for a pipe stops when the context is cancelled.
  static ByteSource open(const std::filesystem::path& path, const Context& context);
  /// Bytes in memory; `name` is for messages.
  static ByteSource memory(std::string bytes, std::string name);

  /// The path as given, for messages.
  const std::string& name() const;
  /// The name of the file without folder, `.gz` and extension.
  std::string stem() const;
  std::size_t size() const;
  /// Whether blocks can be read again later without holding the bytes in memory.
  bool on_disk() const;
  /// Fills `into` from `offset`. File error `file_changed` if the file has become shorter.
  void read(std::size_t offset, std::span<char> into) const;
  /// `length` bytes as text.
  std::string text(std::size_t offset, std::size_t length) const;
  /// Throws `file_changed` if the size or time of the file is not that at opening.
  void check_unchanged() const;
  [[noreturn]] void changed() const;
  /// The line (from 1) of the byte at `offset`. Reads the file from its start: for messages.
  Index line_at(std::size_t offset) const;

 private:
  struct State;
  explicit ByteSource(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Buffers that tasks borrow one after the other, so that memory is touched once per thread and not once per task.
using BufferPool = Pool<std::vector<char>>;
/// Room for `size` bytes in a buffer that grows where it is smaller.
std::span<char> room_in(std::vector<char>& buffer, std::size_t size);

/// The first bytes of UTF-8 text, at most `most`, without splitting a character.
std::string shortened(std::string_view text, std::size_t most);

/// Valid UTF-8 for any bytes: bytes that are not UTF-8 are read as Latin-1. `changed` is set if there were any.
std::string to_utf8(std::string_view bytes, bool& changed);

}  // namespace ecotone
