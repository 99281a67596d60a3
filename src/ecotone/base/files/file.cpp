#include "ecotone/base/files/file.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/files/gzip.h"
#include "ecotone/base/memory.h"

namespace ecotone {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// Opens a regular file for reading; anything else is refused, with its kind in the message.
int open_regular(const std::filesystem::path& path, std::size_t& size) {
  // O_NONBLOCK: opening a pipe without a writer must not hang; regular files ignore the flag.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) file_error("cannot_open", "cannot open {}: {}", path.string(), reason(errno));
  struct stat status {};
  const int failed = ::fstat(fd, &status) != 0 ? errno : 0;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size = static_cast<std::size_t>(status.st_size);
    return fd;
  }
  ::close(fd);
  if (failed != 0) file_error("cannot_open", "cannot open {}: {}", path.string(), reason(failed));
  if (S_ISDIR(status.st_mode)) file_error("cannot_open", "cannot open {}: it is a folder, not a file", path.string());
  file_error(
      "cannot_open",
      "cannot open {}: it is a pipe or a device, and the data are read more than once; save them as a file first",
      path.string());
}

}  // namespace

struct InputFile::State {
  std::filesystem::path path;
  std::size_t size = 0;
  int fd = -1;

  explicit State(std::filesystem::path name) : path(std::move(name)), fd(open_regular(path, size)) {}
  ~State() { ::close(fd); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

InputFile::InputFile(std::filesystem::path path) : state_(std::make_unique<State>(std::move(path))) {}
InputFile::~InputFile() = default;
InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;

const std::filesystem::path& InputFile::path() const { return state_->path; }
std::size_t InputFile::size() const { return state_->size; }

std::size_t InputFile::read(std::size_t offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(state_->fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      file_error("cannot_read", "cannot read {}: {}", state_->path.string(), reason(errno));
    }
  }
  return done;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  std::size_t size = 0;
  const int fd = open_regular(path, size);
  if (size == 0) {  // nothing to map
    ::close(fd);
    return;
  }
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  const int failed = memory == MAP_FAILED ? errno : 0;
  ::close(fd);
  if (failed != 0) file_error("cannot_open", "cannot map {}: {}", path.string(), reason(failed));
  bytes_ = {static_cast<const std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string read_text(const std::filesystem::path& path) {
  const InputFile file(path);
  std::string text;
  const auto append = [&](auto&& read, std::size_t expected) {
    for (std::size_t done = 0;;) {
      // The size is only a guess: files in /proc report 0, and a file may grow while it is read.
      text.resize(std::max(expected + 1, done + done / 2 + 4096));
      const std::size_t asked = text.size() - done;
      const std::size_t got = read(done, std::span<char>(text).subspan(done));
      done += got;
      if (got == asked) continue;
      text.resize(done);
      return;
    }
  };
  if (is_gzip(file)) {
    GzipReader reader(path);
    append([&](std::size_t, std::span<char> into) { return reader.read(into); }, file.size());
  } else {
    append([&](std::size_t offset, std::span<char> into) { return file.read(offset, into); }, file.size());
  }
  return text;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void prefer_large_pages(void* begin, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(begin) + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)begin, (void)bytes;
#endif
}

void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

}  // namespace ecotone
