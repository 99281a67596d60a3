#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ecotone {

/// A file that appears whole or not at all: it is written next to its target under a temporary name (`.NAME.PID.tmp`),
/// then synced and renamed by `commit`. Destroyed without a commit, it leaves nothing behind and the old file stays as
/// it was. Every failure is a `file` error that names the path: `no_space` for a full disk, quota or size limit,
/// otherwise `cannot_write`. Programs ignore SIGXFSZ and SIGPIPE, so that these are errors and do not end the process.
/// A symbolic link stays and its target is replaced; the mode of an existing file is kept. Pipes (once they have a
/// reader), devices and /dev/stdout are written directly. What a killed process left behind is removed by the next
/// process that writes the same target.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  /// Flushes, syncs and renames over the target.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Read-only random access with pread; never maps. Short reads are retried; the end of the file within a request is
/// reported.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;

  const std::filesystem::path& path() const;
  /// Size when opened.
  std::size_t size() const;
  /// Reads up to `into.size()` bytes at `offset`; returns how many there were.
  std::size_t read(std::size_t offset, std::span<char> into) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A read-only mapping of a whole file whose size was checked; only for ecotone's own binary files.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

/// The whole file as text; decompressed if its first bytes are those of gzip.
std::string read_text(const std::filesystem::path& path);
/// Writes text through an AtomicFile.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace ecotone
