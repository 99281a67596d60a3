#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "ecotone/base/file.h"

namespace ecotone {

/// Whether the first bytes of the file are gzip's.
bool is_gzip(const InputFile& file);

/// Decompresses a gzip file from front to back; several members in a row read as one stream. A stream that stops early
/// is the `file` error `truncated_gzip`, one that is damaged (or followed by other bytes) `bad_gzip`; both name the
/// path.
class GzipReader {
 public:
  explicit GzipReader(const std::filesystem::path& path);
  ~GzipReader();
  GzipReader(GzipReader&&) noexcept;
  GzipReader& operator=(GzipReader&&) noexcept;

  /// Fills `into` with the next bytes and returns how many there were: fewer than asked, or 0, only at the end.
  std::size_t read(std::span<char> into);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ecotone
