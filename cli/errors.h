#pragma once

#include <string>

#include "ecotone/base/error.h"

namespace ecotone::cli {

/// Reports the error on standard error and, with --json, also as `{"error": {"code", "message"}}` on standard output.
/// Returns the exit code.
int report_error(const Error& error, bool json);

/// The current exception as an Error: library errors unchanged, failed allocations as `not_enough_memory`, file system
/// errors as `file`, anything else as a bug of ours. Must be called inside a catch block.
Error current_error();

}  // namespace ecotone::cli
