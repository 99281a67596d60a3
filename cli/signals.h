#pragma once

#include "ecotone/base/thread_pool.h"

namespace ecotone::cli {

/// Installs the process-wide signal handlers: SIGINT and SIGTERM ask the run to stop (a second one stops it at once), a
/// closed pipe and a file-size limit become write errors instead of killing the process, and a mapped file that is
/// truncated while being read ends the program with a message and the exit code of file errors.
void install_signals();

/// The flag that SIGINT and SIGTERM set.
const CancelFlag& cancel_flag();

}  // namespace ecotone::cli
