#pragma once

#include "ecotone/base/thread_pool.h"

namespace ecotone::cli {

/// Installs the process-wide signal handlers: SIGINT and SIGTERM ask the run to stop (a second one stops it at once), a
/// closed pipe and a file-size limit become write errors instead of killing the process, and a mapped file that is
/// truncated while being read ends the program with a message and the exit code of file errors.
void install_signals();

/// The flag that SIGINT and SIGTERM set.
const CancelFlag& cancel_flag();
/// Whether what stopped the run was SIGTERM, which other programs send (a scheduler, a system that shuts down).
bool asked_to_end();

}  // namespace ecotone::cli
