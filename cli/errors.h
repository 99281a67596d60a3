#pragma once

#include <string>

#include "ecotone/base/error.h"

namespace ecotone::cli {

/// Tells the user on standard error, with --json also as `{"error": {"code", "message"}}` on standard output. Returns
/// the exit code.
int report_error(const Error& error, bool json);

/// The current exception as an Error: of the library as it is, no memory as `not_enough_memory`, file system as `file`,
/// anything else as our own bug. Must be called inside a catch block.
Error current_error();

}  // namespace ecotone::cli
