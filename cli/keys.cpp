#include "cli/keys.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ecotone::cli {
namespace {

constexpr int look_every_ms = 100;  // at the flag

/// Single keys, not shown, for as long as it lives. Ctrl-C and Ctrl-Z still are signals.
class SingleKeys {
 public:
  explicit SingleKeys(bool wanted) : changed_(wanted && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!changed_) return;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  ~SingleKeys() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  SingleKeys(const SingleKeys&) = delete;
  SingleKeys& operator=(const SingleKeys&) = delete;

 private:
  termios before_{};
  bool changed_;
};

}  // namespace

int output_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

Keys::Keys(Mode mode) : single_(mode == Mode::single && ::isatty(STDIN_FILENO) == 1) {}

bool Keys::read_more(const CancelFlag& end) {
  while (!end.requested() && !ended_) {
    // Made anew after a signal: the shell has changed the settings while the program was stopped.
    const SingleKeys keys(single_);
    for (int ready = 0; ready == 0;) {
      pollfd waiting{STDIN_FILENO, POLLIN, 0};
      ready = ::poll(&waiting, 1, look_every_ms);
      if (end.requested()) return false;
      if (ready < 0 && errno != EINTR) ended_ = true;
      if (ready <= 0) continue;
      char bytes[4096];
      const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) break;
      ended_ = got <= 0;
      if (ended_) return false;
      read_.append(bytes, static_cast<std::size_t>(got));
      return true;
    }
  }
  return false;
}

std::optional<std::string> Keys::next(const CancelFlag& end) {
  for (;;) {
    const std::size_t line_end = read_.find('\n');
    if (single_ ? !read_.empty() : line_end != std::string::npos) {
      std::string given = read_.substr(0, single_ ? 1 : line_end);
      read_.erase(0, given.size() + (single_ ? 0 : 1));
      if (given.ends_with('\r') && !single_) given.pop_back();
      return given;
    }
    if (read_more(end)) continue;
    if (end.requested() || read_.empty() || single_) return std::nullopt;
    return std::exchange(read_, {});  // a last line without an end
  }
}

}  // namespace ecotone::cli
