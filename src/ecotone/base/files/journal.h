#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/digest.h"

namespace ecotone {

/// Where a record lies in a journal.
struct JournalPlace {
  Digest key;
  std::size_t offset = 0, length = 0;  ///< of its content
  std::uint32_t checksum = 0;
};

/// What the bytes of a journal hold.
struct JournalScan {
  std::vector<JournalPlace> records;  ///< the whole ones
  std::size_t end = 0;                ///< of the last whole record, or of the heading
  std::size_t damaged = 0;            ///< bytes that belong to no whole record
};
/// Finds the whole records among these bytes; after damage it goes on at the next record. A heading that is cut off is
/// that of an empty journal. File error `not_a_journal` for anything else, which names the file.
JournalScan scan_journal(std::string_view bytes, const std::string& name);

/// A file of finished work that survives the process: records under keys, appended one by one and written at once, so
/// that a killed process loses at most the one that it was writing. Each has its length and a checksum, so that damage
/// is recognised; a part that is cut off at the end is removed when the journal is opened. The file is locked as long
/// as this object lives. Thread-safe.
///
/// File errors: `not_a_journal` (the file stays as it is), `journal_in_use`, `cannot_open`, `cannot_write`, `no_space`.
class Journal {
 public:
  /// Opens a journal or begins one.
  explicit Journal(std::filesystem::path path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The record of a key, if there is a whole one.
  std::optional<std::string> find(const Digest& key);
  void add(const Digest& key, std::string_view record);

  const std::filesystem::path& path() const { return path_; }
  std::size_t found() const { return found_; }      ///< whole records when it was opened
  std::size_t damaged() const { return damaged_; }  ///< bytes of no whole record then
  std::size_t used() const;                         ///< of those, how many were asked for, each time
  std::size_t added() const;

 private:
  void open_locked();
  void read_records();
  void write(std::string_view bytes);

  std::filesystem::path path_;
  int file_ = -1;
  std::size_t end_ = 0;         ///< of the last whole record
  std::size_t opened_end_ = 0;  ///< the same when it was opened
  std::size_t found_ = 0, damaged_ = 0, used_ = 0, added_ = 0;
  mutable std::mutex mutex_;
  std::map<Digest, JournalPlace> places_;
};

}  // namespace ecotone
