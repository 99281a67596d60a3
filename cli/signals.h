#pragma once

#include "ecotone/base/thread_pool.h"

namespace ecotone::cli {

/// Makes the process-wide signal settings: SIGINT and SIGTERM ask the run to stop (a second one stops it at once), a
/// closed pipe and a file-size limit become write errors instead of a death, and a mapped file that is cut short while
/// it is read ends the program with a message and the exit code of file errors.
void install_signals();

/// The flag that SIGINT and SIGTERM set.
const CancelFlag& cancel_flag();

}  // namespace ecotone::cli
