#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ecotone/base/files/file.h"

namespace ecotone {

/// Whether the file starts with the magic bytes of gzip.
bool is_gzip(const InputFile& file);
/// Whether these bytes start with the magic bytes of gzip.
bool is_gzip(std::string_view bytes);

/// Decompresses a gzip file from front to back; several members in a row read as one stream. A stream that ends early
/// is the `file` error `truncated_gzip`; one that is damaged, or followed by other bytes, is `bad_gzip`. Both name the
/// path.
class GzipReader {
 public:
  explicit GzipReader(const std::filesystem::path& path);
  /// A gzip file whose bytes are in memory; `name` is for messages.
  GzipReader(std::string bytes, std::string name);
  ~GzipReader();
  GzipReader(GzipReader&&) noexcept;
  GzipReader& operator=(GzipReader&&) noexcept;

  /// Fills `into` with the next bytes and returns how many there were: fewer than requested, or 0, only at the end.
  std::size_t read(std::span<char> into);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ecotone
