#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/thread_pool.h"
#include "ecotone/base/waiting.h"

namespace ecotone {

namespace {

namespace fs = std::filesystem;

std::atomic<const CancelFlag*> stop_waiting = nullptr;  // a setting of the process

/// Waits a moment for the descriptor to take bytes (-1: just waits). Throws when the user asked to stop.
bool wait_a_moment(int fd) {
  constexpr int milliseconds = 50;
  const CancelFlag* stop = stop_waiting.load();
  if (stop && stop->requested()) cancelled_error();
  pollfd state{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&state, 1, milliseconds) > 0;
}

bool is_pipe(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

[[noreturn]] void write_failed(const fs::path& target, int error) {
  const bool full = error == ENOSPC || error == EFBIG || error == EDQUOT;
  file_error(full ? "no_space" : "cannot_write", "cannot write {}: {}", target.string(),
             std::generic_category().message(error));
}

/// The descriptor number named by a path such as /dev/stdout or /dev/fd/3.
std::optional<int> named_descriptor(const fs::path& path) {
  const std::string text = path.string();
  if (text == "/dev/stdout") return STDOUT_FILENO;
  if (text == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!text.starts_with(prefix)) continue;
    int number = -1;
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + prefix.size(), end, number).ptr == end && number >= 0) return number;
  }
  return std::nullopt;
}

/// Where the chain of symbolic links ends (the end need not exist), so that the rename replaces the file and not the
/// link.
fs::path follow_links(const fs::path& target) {
  fs::path path = target;
  for (int steps = 0; steps < 40; ++steps) {
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) return path;  // no link
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  write_failed(target, ELOOP);
}

bool same_file(int fd, const fs::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// The process id in `.NAME.PID.tmp` or `.NAME.PID-N.tmp`.
std::optional<pid_t> temporary_owner(const std::string& file, const std::string& name) {
  const std::string prefix = "." + name + ".";
  const std::string suffix = ".tmp";
  if (file.size() <= prefix.size() + suffix.size() || !file.starts_with(prefix) || !file.ends_with(suffix))
    return std::nullopt;
  const char* begin = file.data() + prefix.size();
  const char* end = file.data() + file.size() - suffix.size();
  unsigned pid = 0, number = 0;
  auto at = std::from_chars(begin, end, pid);
  if (at.ec == std::errc() && at.ptr != end && *at.ptr == '-') at = std::from_chars(at.ptr + 1, end, number);
  if (at.ec != std::errc() || at.ptr != end || pid == 0 || pid > 0x7fffffffU) return std::nullopt;
  return static_cast<pid_t>(pid);
}

/// Removes a temporary file unless a living writer holds it: writers lock their files.
void remove_if_unlocked(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && same_file(fd, path)) ::unlink(path.c_str());
  ::close(fd);
}

/// Removes what killed processes left behind. Files of living processes stay; for our own process id (ids are reused,
/// in containers immediately) the lock decides.
void remove_stale(const fs::path& folder, const std::string& name) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const auto owner = temporary_owner(entry->path().filename().string(), name);
    if (!owner) continue;
    const bool dead = ::kill(*owner, 0) != 0 && errno == ESRCH;
    if (dead || *owner == ::getpid()) remove_if_unlocked(entry->path());
  }
}

/// Creates `.NAME.PID.tmp` (`.NAME.PID-N.tmp` when another thread is writing the same target) and locks it.
int create_temporary(const fs::path& folder, const std::string& name, fs::path& temporary) {
  const std::string stem = "." + name + "." + std::to_string(::getpid());
  for (int number = 0; number < 1000; ++number) {
    temporary = folder / (number == 0 ? stem + ".tmp" : fmt::format("{}-{}.tmp", stem, number));
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return -1;
    // Some file systems have no locks; there the process id alone protects the file.
    if (::flock(fd, LOCK_EX) != 0 || same_file(fd, temporary)) return fd;
    ::close(fd);  // removed by another thread between the two calls
  }
  errno = EEXIST;
  return -1;
}

}  // namespace

struct AtomicFile::State {
  fs::path target;     // as given, for messages
  fs::path final;      // behind symbolic links
  fs::path temporary;  // empty when written straight through
  int fd = -1;
  bool pipe = false;
  std::string buffer;
  static constexpr std::size_t buffer_size = std::size_t{1} << 18;

  ~State() {
    if (fd < 0) return;
    if (!temporary.empty()) ::unlink(temporary.c_str());
    ::close(fd);
  }

  void open_directly(std::optional<int> descriptor) {
    fd = descriptor ? ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 3) : ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) write_failed(target, errno);
    pipe = is_pipe(fd);
  }

  /// Waits for a process that reads the named pipe, as `open` does, but the wait can be stopped.
  void open_pipe() {
    pipe = true;
    while ((fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)) < 0) {
      if (errno != ENXIO) write_failed(target, errno);
      wait_a_moment(-1);
    }
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  }

  void open() {
    if (const auto descriptor = named_descriptor(target)) return open_directly(descriptor);
    struct stat old {};
    const bool exists = ::stat(target.c_str(), &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) write_failed(target, EISDIR);
    if (exists && S_ISFIFO(old.st_mode)) return open_pipe();
    if (exists && !S_ISREG(old.st_mode)) return open_directly(std::nullopt);
    // A file that its owner made read-only is not silently replaced.
    if (exists && ::access(target.c_str(), W_OK) != 0) write_failed(target, errno);
    final = follow_links(target);
    const std::string name = final.filename().string();
    if (name.empty() || name == "." || name == "..") write_failed(target, exists ? EISDIR : ENOENT);
    const fs::path folder = final.has_parent_path() ? final.parent_path() : fs::path(".");
    remove_stale(folder, name);
    fs::path created;
    fd = create_temporary(folder, name, created);
    if (fd < 0) write_failed(target, errno);
    temporary = std::move(created);
    if (exists && ::fchmod(fd, old.st_mode & 07777) != 0) write_failed(target, errno);
  }

  void put(const char* data, std::size_t size) {
    while (size > 0) {
      if (pipe && !wait_a_moment(fd)) continue;
      // So much fits into a pipe that takes bytes at all: the write does not wait.
      const ssize_t wrote = ::write(fd, data, pipe ? std::min<std::size_t>(size, PIPE_BUF) : size);
      if (wrote < 0) {
        if (errno == EINTR) continue;
        write_failed(target, errno);
      }
      data += wrote;
      size -= static_cast<std::size_t>(wrote);
    }
  }

  void flush() {
    put(buffer.data(), buffer.size());
    buffer.clear();
  }

  void close() {
    const int closing = std::exchange(fd, -1);
    if (::close(closing) == 0 || errno == EINTR) return;
    const int error = errno;
    if (!temporary.empty()) ::unlink(temporary.c_str());
    write_failed(target, error);
  }

  void sync_folder() const {
    const fs::path folder = final.has_parent_path() ? final.parent_path() : fs::path(".");
    const int folder_fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0) return;  // the folder is writable but not readable: the file itself is safe
    ::fsync(folder_fd);
    ::close(folder_fd);
  }
};

void stop_waiting_when(const CancelFlag* requested) { stop_waiting.store(requested); }

AtomicFile::AtomicFile(fs::path target) : state_(std::make_unique<State>()) {
  state_->target = std::move(target);
  state_->open();
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view text) {
  if (state_->fd < 0) internal_error("{}: written after it was committed", state_->target.string());
  if (state_->buffer.size() + text.size() > State::buffer_size) state_->flush();
  if (text.size() >= State::buffer_size) {
    state_->put(text.data(), text.size());
  } else {
    state_->buffer.append(text);
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::commit() {
  if (state_->fd < 0) internal_error("{}: committed twice", state_->target.string());
  state_->flush();
  if (state_->temporary.empty()) return state_->close();
  // Some file systems cannot sync and return EINVAL; there is nothing better to do there.
  if (::fsync(state_->fd) != 0 && errno != EINVAL && errno != ENOTSUP) write_failed(state_->target, errno);
  // Renamed while still open and locked, so that nobody takes the file for a stale one in between.
  if (::rename(state_->temporary.c_str(), state_->final.c_str()) != 0) write_failed(state_->target, errno);
  state_->temporary.clear();
  state_->close();
  state_->sync_folder();
}

}  // namespace ecotone
