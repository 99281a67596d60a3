#include "ecotone/base/error.h"

namespace ecotone {

std::string_view kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::option:
      return "option";
    case ErrorKind::data:
      return "data";
    case ErrorKind::file:
      return "file";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::internal:
      break;
  }
  return "internal";
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::option:
      return 2;
    case ErrorKind::data:
      return 3;
    case ErrorKind::file:
      return 4;
    case ErrorKind::cancelled:
      return 130;
    case ErrorKind::internal:
      break;
  }
  return 70;
}

void cancelled_error() { throw Error(ErrorKind::cancelled, "cancelled", "stopped by the user"); }

}  // namespace ecotone
