#include "ecotone/base/files/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"

namespace ecotone {

namespace {

constexpr std::string_view journal_heading = "ecotone journal 1\n";
/// Begins every record. Not text, and broken by whatever rewrites line ends.
constexpr std::string_view record_marker =
    "\xE7"
    "eco\r\n\x1A\x7E";

/// What stands between the marker and the content of a record.
struct RecordHead {
  std::array<std::uint64_t, 2> key{};
  std::uint64_t length = 0;
  std::uint32_t content_checksum = 0;
  std::uint32_t own_checksum = 0;  ///< of the fields before it
};
static_assert(sizeof(RecordHead) == 32);
constexpr std::size_t head_size = record_marker.size() + sizeof(RecordHead);

std::uint32_t crc_of(const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(::crc32_z(0, static_cast<const unsigned char*>(bytes), size));
}
std::uint32_t head_checksum(const RecordHead& head) { return crc_of(&head, offsetof(RecordHead, own_checksum)); }

/// The record at `offset`, if a whole one begins there.
std::optional<JournalPlace> record_at(std::string_view bytes, std::size_t offset) {
  bytes.remove_prefix(offset);
  if (bytes.size() < head_size || !bytes.starts_with(record_marker)) return {};
  RecordHead head;
  std::memcpy(&head, bytes.data() + record_marker.size(), sizeof head);
  bytes.remove_prefix(head_size);
  if (head.own_checksum != head_checksum(head) || head.length > bytes.size()) return {};
  if (crc_of(bytes.data(), head.length) != head.content_checksum) return {};
  return JournalPlace{Digest::of_words(head.key), offset + head_size, head.length, head.content_checksum};
}

std::string record_of(const Digest& key, std::string_view content) {
  RecordHead head{key.words(), content.size(), crc_of(content.data(), content.size()), 0};
  head.own_checksum = head_checksum(head);
  std::string bytes(record_marker);
  bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes.append(content);
}

[[noreturn]] void journal_failed(const char* code, std::string_view what, const std::filesystem::path& path,
                                 int error) {
  file_error(code, "cannot {} the journal {}: {}", what, path.string(), std::generic_category().message(error));
}

}  // namespace

JournalScan scan_journal(std::string_view bytes, const std::string& name) {
  if (journal_heading.starts_with(bytes)) return {{}, 0, bytes.size()};
  if (!bytes.starts_with(journal_heading))
    file_error("not_a_journal", "{} is not a journal of this version of ecotone; name another file, or a new one",
               name);
  JournalScan scan{{}, journal_heading.size(), 0};
  for (std::size_t at = journal_heading.size(); at < bytes.size();) {
    if (const std::optional<JournalPlace> record = record_at(bytes, at)) {
      scan.records.push_back(*record);
      scan.end = at = record->offset + record->length;
      continue;
    }
    const std::size_t next = std::min(bytes.find(record_marker, at + 1), bytes.size());
    scan.damaged += next - at;
    at = next;
  }
  return scan;
}

Journal::Journal(std::filesystem::path path) : path_(std::move(path)) {
  try {
    open_locked();
    read_records();
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    throw;
  }
}

Journal::~Journal() { ::close(file_); }

void Journal::open_locked() {
  // O_NONBLOCK: opening a pipe must not hang; regular files ignore the flag.
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) journal_failed("cannot_open", "open", path_, errno);
  struct stat status {};
  if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode))
    file_error("not_a_journal", "{} is not a regular file, so it cannot be a journal", path_.string());
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    file_error("journal_in_use", "the journal {} is in use by another run; wait for it to end, or name another file",
               path_.string());
  journal_failed("cannot_open", "lock", path_, errno);
}

void Journal::read_records() {
  JournalScan scan;
  {
    const MappedFile mapped(path_);
    const auto bytes = mapped.bytes();
    scan = scan_journal({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path_.string());
  }
  found_ = scan.records.size();
  for (const JournalPlace& place : scan.records) places_[place.key] = place;
  end_ = scan.end;
  if (end_ > 0) {
    damaged_ = scan.damaged;
  } else {  // a run was killed before the heading was written: nothing is lost
    write(journal_heading);
  }
  opened_end_ = end_;
  // New records follow the last whole one.
  if (::ftruncate(file_, static_cast<off_t>(end_)) != 0) journal_failed("cannot_write", "write", path_, errno);
}

std::optional<std::string> Journal::find(const Digest& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return {};
  const JournalPlace& place = found->second;
  std::string content(place.length, '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t got =
        ::pread(file_, content.data() + done, content.size() - done, static_cast<off_t>(place.offset + done));
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (got == 0 || errno != EINTR) {
      return {};  // changed by someone who ignores the lock
    }
  }
  if (crc_of(content.data(), content.size()) != place.checksum) return {};
  if (place.offset < opened_end_) ++used_;
  return content;
}

void Journal::add(const Digest& key, std::string_view record) {
  const std::string bytes = record_of(key, record);
  const std::lock_guard lock(mutex_);
  const std::size_t begin = end_;
  write(bytes);
  places_[key] = {key, begin + head_size, record.size(), crc_of(record.data(), record.size())};
  ++added_;
}

void Journal::write(std::string_view bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(end_ + done));
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno != EINTR) {
      const int failed = errno;
      const bool full = failed == ENOSPC || failed == EDQUOT || failed == EFBIG;
      journal_failed(full ? "no_space" : "cannot_write", "write", path_, failed);
    }
  }
  end_ += bytes.size();
}

std::size_t Journal::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}
std::size_t Journal::added() const {
  const std::lock_guard lock(mutex_);
  return added_;
}

}  // namespace ecotone
