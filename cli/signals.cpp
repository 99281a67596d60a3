#include "cli/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace ecotone::cli {
namespace {

constexpr int interrupted_exit = 130;
constexpr int file_exit = 4;

// A signal handler can reach nothing but statics.
CancelFlag cancel_requested;
std::atomic<int> interrupts = 0;
std::atomic<int> first_signal = 0;
std::atomic<bool> bus_error_told = false;
bool on_terminal = false;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void stop_run(int signal) {
  // The second signal means that the user will not wait; half-written files have temporary names and do no harm.
  if (interrupts.fetch_add(1) > 0) _exit(interrupted_exit);
  first_signal = signal;
  cancel_requested.request();
}

void say(std::string_view text) {
  // There is no one left to report a failure to.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// A page of a mapped file that was truncated cannot be read, and the code reading it cannot continue.
void end_on_bus_error(int signal, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {  // a bug of ours or faulty memory: crash as usual
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  // Several threads may hit the missing page; the first one reports it and ends the process.
  if (bus_error_told.exchange(true))
    for (;;) ::pause();
  if (on_terminal) say("\r\x1b[K");  // the progress bar
  say("error: a mapped file was truncated while it was being read\n");
  _exit(file_exit);
}

}  // namespace

void install_signals() {
  struct sigaction action {};
  action.sa_handler = stop_run;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  on_terminal = ::isatty(STDERR_FILENO) == 1;
  struct sigaction bus_error {};
  bus_error.sa_sigaction = end_on_bus_error;
  sigemptyset(&bus_error.sa_mask);
  bus_error.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &bus_error, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

const CancelFlag& cancel_flag() { return cancel_requested; }

bool asked_to_end() { return first_signal == SIGTERM; }

}  // namespace ecotone::cli
