#include "cli/errors.h"

#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "cli/output.h"
#include "cli/terminal.h"
#include "ecotone/base/json.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {

int report_error(const Error& error, bool json) {
  std::string text = "error: " + printable(error.what()) + "\n";
  if (error.kind() == ErrorKind::internal)
    text += "This is a bug in ecotone; please report it with the command and the output of `ecotone --version`.\n";
  write_standard_error(text);
  if (json) {
    try {
      write_standard_output(json_text({{"error", {{"code", error.code()}, {"message", error.what()}}}}));
    } catch (...) {
      // The error is already on standard error; its exit code matters more than a second failure.
    }
  }
  return exit_code(error.kind());
}

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::data, "not_enough_memory", "not enough memory; fewer rows or columns, or --threads 1, may help"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ErrorKind::file, "file", error.what()};
  } catch (const std::system_error& error) {
    return {ErrorKind::internal, "internal", std::string("system call failed: ") + error.what()};
  } catch (const std::exception& error) {
    return {ErrorKind::internal, "internal", error.what()};
  } catch (...) {
    return {ErrorKind::internal, "internal", "unknown exception"};
  }
}

}  // namespace ecotone::cli
