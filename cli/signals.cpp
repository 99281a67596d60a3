#include "cli/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace ecotone::cli {
namespace {

constexpr int interrupted_exit = 130;

// A signal handler can reach nothing but statics.
CancelFlag cancel_requested;
static_assert(std::atomic<bool>::is_always_lock_free);

void stop_run(int) {
  // The second time the user does not want to wait: what is half-written has a temporary name and harms nobody.
  if (cancel_requested.requested()) _exit(interrupted_exit);
  cancel_requested.request();
}

}  // namespace

void install_signals() {
  struct sigaction action {};
  action.sa_handler = stop_run;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

const CancelFlag& cancel_flag() { return cancel_requested; }

}  // namespace ecotone::cli
