#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ecotone {

/// Who has to act on an error; decides the exit code of the program.
enum class ErrorKind {
  option,     ///< wrong usage or option value (exit 2)
  data,       ///< bad data, or not enough memory for it (exit 3)
  file,       ///< a file cannot be read or written (exit 4)
  cancelled,  ///< the user stopped the run (exit 130)
  internal,   ///< a bug in ecotone (exit 70)
};

/// The library's only exception type. The message names the subject, the problem and the value ("dica: lam must be > 0,
/// got -1"); the code is stable and meant for programs (`one_class`).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string code, const std::string& message)
      : std::runtime_error(message), kind_(kind), code_(std::move(code)) {}

  ErrorKind kind() const { return kind_; }
  const std::string& code() const { return code_; }

 private:
  ErrorKind kind_;
  std::string code_;
};

/// Name of a kind as shown in JSON: "option", "data", "file", "cancelled", "internal".
std::string_view kind_name(ErrorKind kind);

/// Exit code of the program for an error of this kind.
int exit_code(ErrorKind kind);

template <class... Args>
[[noreturn]] void option_error(std::string code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorKind::option, std::move(code), fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void data_error(std::string code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorKind::data, std::move(code), fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void file_error(std::string code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorKind::file, std::move(code), fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void internal_error(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorKind::internal, "internal", fmt::format(text, std::forward<Args>(args)...));
}
[[noreturn]] void cancelled_error();

}  // namespace ecotone
