#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/complete.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/waiting.h"

namespace ecotone::cli {
namespace {

/// OpenBLAS starts a thread per processor when it is loaded, and each waits forever for 128 MB if an address space
/// limit does not leave them. Products run on our own threads, so under such a limit the program starts again with a
/// single BLAS thread. This comes before all other initialisers, because the first of them waits for the threads to
/// end.
[[gnu::constructor(101)]] void start_with_one_blas_thread(int, char** argv) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (std::getenv("OPENBLAS_NUM_THREADS") != nullptr) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
}

/// The exit status.
int run(int argc, char** argv) {
  CommandLine line(all_verbs());
  if (argc > 2 && argv[1] == completion_request) {
    write_standard_output(completions_text(line, argv[2], argc > 3 ? argv[3] : last_word(argv[2])));
    return 0;
  }
  const Verb* verb = line.parse(argc, argv);
  if (!verb) return 0;
  refuse_ranks(verb->name);
  Session session(line.common());
  verb->run(session);
  session.finish();
  leave_ranks();
  return session.status();
}

}  // namespace
}  // namespace ecotone::cli

int main(int argc, char** argv) {
  using namespace ecotone::cli;
  ecotone::keep_freed_memory();
  const bool json = wants_json(argc, argv);
  try {
    install_signals();
    ecotone::stop_waiting_when(&cancel_flag());
    ranks_of_run();
    return run(argc, argv);
  } catch (const ClosedPipe&) {
    // The others wait for this rank.
    end_ranks(0);
    return 0;
  } catch (...) {
    ecotone::Error error = current_error();
    if (error.kind() == ecotone::ErrorKind::cancelled && asked_to_end())
      error = {error.kind(), error.code(),
               ranks_of_run() ? "stopped by SIGTERM: the launcher or another rank ended the run"
                              : "stopped by SIGTERM: another program asked ecotone to end"};
    error = error_of_rank(error);
    const int status = report_error(error, json);
    end_ranks(status);
    // Out of memory, even a normal exit is unsafe: the BLAS would join its threads, which still wait for memory.
    if (error.code() == "not_enough_memory") _exit(status);
    return status;
  }
}
